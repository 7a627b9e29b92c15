package dialect

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"hovor/signaling/realtime"
)

// same compares JSON texts by value.
func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("got %s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("want %s: %v", want, err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestRow1_15_WhatABetaClientSendsBecomesGA(t *testing.T) {
	for _, c := range []struct{ name, beta, ga string }{
		{"session.update without type", `{"type":"session.update","event_id":"e","session":{"instructions":"x"}}`,
			`{"type":"session.update","event_id":"e","session":{"type":"realtime","instructions":"x"}}`},
		{"the whole flat session", `{"type":"session.update","session":{"model":"m","voice":"v","modalities":["text","audio"],"input_audio_format":"pcm16","output_audio_format":"g711_ulaw",
			"input_audio_transcription":{"model":"whisper-1"},"input_audio_noise_reduction":{"type":"near_field"},"turn_detection":{"type":"server_vad","threshold":0.9},"speed":1.2,
			"temperature":0.8,"max_response_output_tokens":100,"tools":[{"type":"function","name":"f"}],"tool_choice":"auto","tracing":"auto"}}`,
			`{"type":"session.update","session":{"type":"realtime","model":"m","output_modalities":["audio"],"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"transcription":{"model":"whisper-1"},
			"noise_reduction":{"type":"near_field"},"turn_detection":{"type":"server_vad","threshold":0.9}},"output":{"voice":"v","speed":1.2,"format":{"type":"audio/pcmu"}}},
			"max_output_tokens":100,"tools":[{"type":"function","name":"f"}],"tool_choice":"auto","tracing":"auto"}}`},
		{"push-to-talk", `{"type":"session.update","session":{"turn_detection":null}}`, `{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":null}}}}`},
		{"turn detection none", `{"type":"session.update","session":{"turn_detection":{"type":"none"}}}`, `{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":null}}}}`},
		{"g711_alaw", `{"type":"session.update","session":{"input_audio_format":"g711_alaw"}}`, `{"type":"session.update","session":{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcma"}}}}}`},
		{"text only", `{"type":"session.update","session":{"modalities":["text"]}}`, `{"type":"session.update","session":{"type":"realtime","output_modalities":["text"]}}`},
		{"a client between the times", `{"type":"session.update","session":{"type":"realtime","voice":"old","audio":{"output":{"voice":"new"}}}}`, `{"type":"session.update","session":{"type":"realtime","audio":{"output":{"voice":"new"}}}}`},
		{"response.create", `{"type":"response.create","response":{"modalities":["audio","text"],"voice":"v","output_audio_format":"pcm16","temperature":1,"max_response_output_tokens":"inf","instructions":"i",
			"input":[{"type":"message","role":"assistant","content":[{"type":"text","text":"a"}]},{"type":"item_reference","id":"i"}]}}`,
			`{"type":"response.create","response":{"output_modalities":["audio"],"audio":{"output":{"voice":"v","format":{"type":"audio/pcm","rate":24000}}},"max_output_tokens":"inf","instructions":"i",
			"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"type":"item_reference","id":"i"}]}}`},
		{"response.create with nothing", `{"type":"response.create"}`, `{"type":"response.create"}`},
		{"an assistant's item", `{"type":"conversation.item.create","previous_item_id":"root","item":{"type":"message","role":"assistant","content":[{"type":"text","text":"a"}]}}`,
			`{"type":"conversation.item.create","previous_item_id":"root","item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}}`},
		{"a person's item", `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"text","text":"b"}]}}`,
			`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}}`},
		{"transcription", `{"type":"transcription_session.update","session":{"input_audio_format":"pcm16","input_audio_transcription":{"model":"m"}}}`,
			`{"type":"session.update","session":{"type":"transcription","audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"transcription":{"model":"m"}}}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ToGA([]byte(c.beta))
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, c.ga)
			if _, err := realtime.Decode(realtime.FromClient, got); err != nil {
				t.Errorf("the GA form is refused: %v", err)
			}
		})
	}
}

func TestRow1_15_WhatTheServerSendsBecomesBeta(t *testing.T) {
	for _, c := range []struct{ name, ga, beta string }{
		{"audio delta", `{"type":"response.output_audio.delta","event_id":"e","response_id":"r","delta":"AAAA"}`, `{"type":"response.audio.delta","event_id":"e","response_id":"r","delta":"AAAA"}`},
		{"audio done", `{"type":"response.output_audio.done","event_id":"e"}`, `{"type":"response.audio.done","event_id":"e"}`},
		{"transcript delta", `{"type":"response.output_audio_transcript.delta","delta":"a"}`, `{"type":"response.audio_transcript.delta","delta":"a"}`},
		{"transcript done", `{"type":"response.output_audio_transcript.done","transcript":"a"}`, `{"type":"response.audio_transcript.done","transcript":"a"}`},
		{"text delta", `{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.text.delta","delta":"a"}`},
		{"text done", `{"type":"response.output_text.done","text":"a"}`, `{"type":"response.text.done","text":"a"}`},
		{"item added", `{"type":"conversation.item.added","previous_item_id":"p","item":{"id":"i","type":"message","role":"assistant","content":[{"type":"output_audio","transcript":"t"}]}}`,
			`{"type":"conversation.item.created","previous_item_id":"p","item":{"id":"i","type":"message","role":"assistant","content":[{"type":"audio","transcript":"t"}]}}`},
		{"item done", `{"type":"conversation.item.done","item":{"id":"i"}}`, ``},
		{"item retrieved", `{"type":"conversation.item.retrieved","item":{"content":[{"type":"output_text","text":"x"},{"type":"input_text","text":"y"}]}}`,
			`{"type":"conversation.item.retrieved","item":{"content":[{"type":"text","text":"x"},{"type":"input_text","text":"y"}]}}`},
		{"output item", `{"type":"response.output_item.done","item":{"content":[{"type":"output_text","text":"x"}]}}`, `{"type":"response.output_item.done","item":{"content":[{"type":"text","text":"x"}]}}`},
		{"response done", `{"type":"response.done","response":{"id":"r","output_modalities":["audio"],"audio":{"output":{"voice":"v","format":{"type":"audio/pcm","rate":24000}}},"max_output_tokens":"inf",
			"output":[{"type":"message","content":[{"type":"output_audio"}]},{"type":"function_call","name":"f"}]}}`,
			`{"type":"response.done","response":{"id":"r","modalities":["text","audio"],"voice":"v","output_audio_format":"pcm16","max_output_tokens":"inf",
			"output":[{"type":"message","content":[{"type":"audio"}]},{"type":"function_call","name":"f"}]}}`},
		{"content parts keep their names", `{"type":"response.content_part.added","part":{"type":"audio","transcript":""}}`, `{"type":"response.content_part.added","part":{"type":"audio","transcript":""}}`},
		{"session", `{"type":"session.updated","session":{"type":"realtime","object":"realtime.session","id":"s","model":"m","output_modalities":["audio"],"max_output_tokens":"inf","tools":[],
			"audio":{"input":{"format":{"type":"audio/pcmu"},"noise_reduction":null,"transcription":null,"turn_detection":{"type":"server_vad"}},"output":{"format":{"type":"audio/pcma"},"voice":{"id":"voice_1"},"speed":1}}}}`,
			`{"type":"session.updated","session":{"object":"realtime.session","id":"s","model":"m","modalities":["text","audio"],"max_response_output_tokens":"inf","tools":[],"input_audio_format":"g711_ulaw",
			"input_audio_noise_reduction":null,"input_audio_transcription":null,"turn_detection":{"type":"server_vad"},"output_audio_format":"g711_alaw","voice":"voice_1","speed":1}}`},
		{"a session that transcribes", `{"type":"session.updated","session":{"type":"transcription","audio":{"input":{"turn_detection":null}}}}`, `{"type":"transcription_session.updated","session":{"turn_detection":null}}`},
		{"an error names the field as the client does", `{"type":"error","error":{"code":"c","param":"session.audio.input.turn_detection.threshold"}}`, `{"type":"error","error":{"code":"c","param":"session.turn_detection.threshold"}}`},
		{"a failed transcription has no null", `{"type":"conversation.item.input_audio_transcription.failed","error":{"message":"m","param":null}}`, `{"type":"conversation.item.input_audio_transcription.failed","error":{"message":"m"}}`},
		{"what is ours", `{"type":"hovor.state","state":"listening"}`, `{"type":"hovor.state","state":"listening"}`},
		{"what nobody knows", `{"type":"some.new.event","audio":{"output":1}}`, `{"type":"some.new.event","audio":{"output":1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := FromGA([]byte(c.ga))
			if err != nil {
				t.Fatal(err)
			}
			if c.beta == "" {
				if len(got) != 0 {
					t.Errorf("got %s", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("%d events", len(got))
			}
			same(t, got[0], c.beta)
		})
	}
}

func TestWhatIsTheSameInBothFormsPassesByteForByte(t *testing.T) {
	for _, raw := range []string{`{ "type" : "input_audio_buffer.append", "audio":"AAAA" }`, `{"type":"response.cancel"}`, `not JSON`, ``, `[]`, `{"type":1}`, `{"type":"session.update"`, `null`} {
		if got, err := ToGA([]byte(raw)); err != nil || string(got) != raw {
			t.Errorf("to GA: %q became %q, %v", raw, got, err)
		}
		if got, err := FromGA([]byte(raw)); err != nil || len(got) != 1 || string(got[0]) != raw {
			t.Errorf("from GA: %q became %q, %v", raw, got, err)
		}
	}
}

func TestAKeyThatStandsTwiceIsStillRefused(t *testing.T) {
	got, err := ToGA([]byte(`{"type":"session.update","session":{"instructions":"a","instructions":"b"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := realtime.Decode(realtime.FromClient, got); err == nil || !strings.Contains(err.Error(), realtime.CodeDuplicateParameter) {
		t.Errorf("%s: %v", got, err)
	}
}

func TestABetaErrorSpeaksTheClientsWords(t *testing.T) {
	for raw, param := range map[string]string{
		`{"type":"session.update","event_id":"mine","session":{"input_audio_format":"mp3"}}`: "session.input_audio_format",
		`{"type":"session.update","event_id":"mine","session":{"modalities":["smell"]}}`:     "session.modalities",
		`{"type":"session.update","event_id":"mine","session":{"modalities":"audio"}}`:       "session.modalities",
		`{"type":"response.create","event_id":"mine","response":{"output_audio_format":1}}`:  "response.output_audio_format",
	} {
		_, err := ToGA([]byte(raw))
		e, ok := err.(*realtime.Error)
		if !ok || e.Param != param || e.EventID != "mine" {
			t.Errorf("%s: %+v", raw, err)
		}
	}
	for ga, want := range map[string]string{
		"session.audio.output.voice": "session.voice", "session.max_output_tokens": "session.max_response_output_tokens", "session.tools[0].name": "session.tools[0].name",
		"response.audio.output.format": "response.output_audio_format", "session.output_modalities[0]": "session.modalities[0]", "": "", "item.type": "item.type", "session.audio": "session.audio",
	} {
		if got := Param(ga); got != want {
			t.Errorf("%q is %q, want %q", ga, got, want)
		}
	}
}

func TestASessionSurvivesBothWays(t *testing.T) {
	full, err := json.Marshal(realtime.Session{Model: "m", ID: "sess_1"}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	back, err := SessionToGA(SessionFromGA(full))
	if err != nil {
		t.Fatal(err)
	}
	same(t, back, string(full))
}

func TestRow1_15_TheLegacySecret(t *testing.T) {
	got, err := SecretRequestToGA([]byte(`{"model":"m","voice":"v","modalities":["audio","text"],"client_secret":{"expires_after":{"anchor":"created_at","seconds":30}},"hovor":{"one_use":true}}`), realtime.SessionRealtime)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, `{"expires_after":{"anchor":"created_at","seconds":30},"hovor":{"one_use":true},"session":{"type":"realtime","model":"m","output_modalities":["audio"],"audio":{"output":{"voice":"v"}}}}`)
	got, err = SecretRequestToGA([]byte(`{}`), realtime.SessionTranscription)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, `{"expires_after":{"anchor":"created_at","seconds":60},"session":{"type":"transcription"}}`)

	reply, err := SecretFromGA(&realtime.ClientSecret{Value: "ek_1", ExpiresAt: 7, Session: realtime.Session{Type: "realtime", ID: "sess_1", Audio: &realtime.Audio{Output: &realtime.AudioOutput{Voice: "v"}}}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, reply, `{"id":"sess_1","voice":"v","client_secret":{"value":"ek_1","expires_at":7}}`)
}

func TestRow3_7_TheFirstSessionUpdateDecidesTheDialect(t *testing.T) {
	const flat, ga = `{"type":"session.update","session":{"voice":"v"}}`, `{"type":"session.update","session":{"type":"realtime"}}`
	const added = `{"type":"conversation.item.added","item":{"id":"i"}}`
	for _, c := range []struct {
		name  string
		start realtime.Dialect
		in    []string
		want  realtime.Dialect
	}{
		{"GA says its type", realtime.GA, []string{ga}, realtime.GA},
		{"beta does not", realtime.GA, []string{`{"type":"input_audio_buffer.clear"}`, flat}, realtime.Beta},
		{"only the first counts", realtime.GA, []string{ga, flat}, realtime.GA},
		{"once beta, always beta", realtime.GA, []string{flat, ga}, realtime.Beta},
		{"beta from the start", realtime.Beta, []string{ga}, realtime.Beta},
		{"a GA session that forgot its type is told so", realtime.GA, []string{`{"type":"session.update","session":{"audio":{}}}`}, realtime.GA},
		{"a transcription update is beta", realtime.GA, []string{`{"type":"transcription_session.update","session":{}}`}, realtime.Beta},
		{"nonsense decides nothing", realtime.GA, []string{`{"type":"session.update","session":7}`, `{"type":"session.update"}`, flat}, realtime.Beta},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := NewEdge(c.start)
			for _, raw := range c.in {
				if _, err := e.In([]byte(raw)); err != nil {
					t.Fatal(err)
				}
			}
			if e.Dialect() != c.want {
				t.Errorf("speaks %s", e.Dialect())
			}
			out, _ := e.Out([]byte(added))
			if got := strings.Contains(string(out[0]), "item.created"); got != (c.want == realtime.Beta) {
				t.Errorf("sends %s", out)
			}
		})
	}
}

// Every event that the server can send has a beta form that is JSON and keeps its event id.
func FuzzFromGA(f *testing.F) {
	for _, typ := range realtime.EventTypes(realtime.FromServer) {
		f.Add([]byte(`{"type":"` + typ + `","event_id":"e","item":{"content":[{"type":"output_text","text":"x"}]},"response":{"output":[{"content":[]}],"audio":{"output":{"voice":"v"}}},"session":{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcm"}}}},"error":{"param":"session.audio.output.voice"}}`))
	}
	f.Add([]byte(`{"type":"session.updated","session":{"audio":null}}`))
	f.Add([]byte(`{"type":"response.done","response":{"output":null,"audio":[]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := FromGA(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out {
			if json.Valid(raw) && !json.Valid(o) {
				t.Fatalf("in  %s\nout %s", raw, o)
			}
		}
	})
}

// Whatever a client sends, the translation is JSON when it was JSON, and an error is one that the client can read.
func FuzzToGA(f *testing.F) {
	for _, s := range []string{`{"type":"session.update","session":{"voice":"v","modalities":["text","audio"],"turn_detection":{"type":"none"},"audio":{"input":null}}}`,
		`{"type":"session.update","session":{"voice":"v","voice":"w","audio":7}}`, `{"type":"response.create","response":{"input":[1,{"content":[{}]}],"modalities":[]}}`,
		`{"type":"conversation.item.create","item":{"role":"assistant","content":[{"type":"text"}]}}`, `{"type":"transcription_session.update","session":{"input_audio_format":"pcm16"}}`,
		`{"type":"session.update","session":{"input_audio_format":"x"}}`, "{\"type\":\"session.update\",\"session\":{\"\\u0076oice\":\"v\"}}", `{"type":"session.update","session":`, `{"a":{"type":"session.update"},"type":"response.cancel"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e := NewEdge(realtime.GA)
		for range 2 {
			out, err := e.In(raw)
			if err != nil {
				if _, ok := err.(*realtime.Error); !ok {
					t.Fatalf("error of type %T", err)
				}
				return
			}
			if json.Valid(raw) && !json.Valid(out) {
				t.Fatalf("in  %s\nout %s", raw, out)
			}
			_, _ = realtime.Decode(realtime.FromClient, out)
		}
		_, _ = SecretRequestToGA(raw, realtime.SessionRealtime)
	})
}
