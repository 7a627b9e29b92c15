package signaling

import (
	"encoding/json"
	"strings"
	"testing"

	"hovor/signaling/realtime"
)

func TestRow3_7_TheConsoleOpensACallAsItDid(t *testing.T) {
	f := newFake()
	h := NewHandler(f, HandlerConfig{})
	r := ask(h, "POST", "/v1/realtime/sessions", `{"model":"gpt-4o-realtime-preview","voice":"verse"}`, "Content-Type", "application/json")
	var session struct {
		ClientSecret struct {
			Value     string `json:"value"`
			ExpiresAt int64  `json:"expires_at"`
		} `json:"client_secret"`
		Voice             string   `json:"voice"`
		Modalities        []string `json:"modalities"`
		InputAudioFormat  string   `json:"input_audio_format"`
		TurnDetection     any      `json:"turn_detection"`
		Type, Audio, None any
	}
	raw := text(t, r)
	if err := json.Unmarshal([]byte(raw), &session); err != nil || r.StatusCode != 200 {
		t.Fatalf("%d %s", r.StatusCode, raw)
	}
	if !strings.HasPrefix(session.ClientSecret.Value, "ek_") || session.ClientSecret.ExpiresAt == 0 || session.Type != nil || session.Audio != nil {
		t.Errorf("reply %s", raw)
	}
	if len(session.Modalities) != 2 || session.InputAudioFormat != "pcm16" || session.TurnDetection == nil {
		t.Errorf("the flat session is not whole: %s", raw)
	}
	if f.minted.Session.Voice() != "verse" || f.minted.Session.Model != "gpt-4o-realtime-preview" || f.minted.ExpiresAfter.Seconds != 60 {
		t.Errorf("minted for %+v", f.minted)
	}

	r = ask(h, "POST", "/v1/realtime?model=gpt-4o-realtime-preview", goodOffer, "Authorization", "Bearer "+session.ClientSecret.Value)
	if r.StatusCode != 201 || text(t, r) != goodAnswer || r.Header.Get("Location") != "/v1/realtime/calls/call_1" {
		t.Errorf("call: %d", r.StatusCode)
	}
	if f.offer.Dialect != realtime.Beta || f.offer.Model != "gpt-4o-realtime-preview" {
		t.Errorf("offer %+v", f.offer)
	}
}

func TestRow3_7_TheAgentsDemoOpensACallAsItDid(t *testing.T) {
	// agents-realtime 0.0.5: two plain parts, and a flat session with everything in it.
	body, ct := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"instructions":"hi","model":"gpt-4o-realtime-preview-2025-06-03","voice":"sage","modalities":["text","audio"],
		"input_audio_format":"pcm16","output_audio_format":"pcm16","input_audio_transcription":{"model":"gpt-4o-mini-transcribe"},"turn_detection":{"type":"semantic_vad"},
		"tool_choice":"auto","tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{}}}]}`})
	for _, target := range []string{"/v1/realtime", "/v1/realtime/", "/v1/realtime/calls"} {
		f := newFake()
		if r := ask(NewHandler(f, HandlerConfig{}), "POST", target, body, "Content-Type", ct, "X-Openai-Agents-Sdk", "x"); r.StatusCode != 201 {
			t.Fatalf("%s: %d %s", target, r.StatusCode, text(t, r))
		}
		s := f.offer.Session
		if f.offer.Dialect != realtime.Beta || s.Type != "realtime" || s.Voice() != "sage" || s.TurnDetection().Type != "semantic_vad" || s.OutputModalities[0] != "audio" || len(s.Tools) != 1 {
			t.Errorf("%s: %s %+v", target, f.offer.Dialect, s)
		}
	}
}

func TestRow6_12_TheDialectIsChosenByWhatTheClientDidFirst(t *testing.T) {
	flat, flatCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"voice":"v"}`})
	typed, typedCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", gaSession})
	for _, c := range []struct {
		name, target, body, ct, header string
		want                           realtime.Dialect
	}{
		{"calls", "/v1/realtime/calls", goodOffer, "application/sdp", "", realtime.GA},
		{"the old path", "/v1/realtime?model=m", goodOffer, "application/sdp", "", realtime.Beta},
		{"the header", "/v1/realtime/calls", goodOffer, "application/sdp", "realtime=v1", realtime.Beta},
		{"the header among others", "/v1/realtime/calls", goodOffer, "application/sdp", "assistants=v2, realtime=v1", realtime.Beta},
		{"another header", "/v1/realtime/calls", goodOffer, "application/sdp", "assistants=v2", realtime.GA},
		{"a flat session", "/v1/realtime/calls", flat, flatCT, "", realtime.Beta},
		{"a typed session", "/v1/realtime/calls", typed, typedCT, "", realtime.GA},
		{"a model name decides nothing", "/v1/realtime/calls?model=gpt-4o-realtime-preview", goodOffer, "application/sdp", "", realtime.GA},
	} {
		f := newFake()
		r := ask(NewHandler(f, HandlerConfig{}), "POST", c.target, c.body, "Content-Type", c.ct, "Openai-Beta", c.header)
		if r.StatusCode != 201 || f.offer.Dialect != c.want {
			t.Errorf("%s: %d, %s", c.name, r.StatusCode, f.offer.Dialect)
		}
	}
}

func TestABetaMistakeIsToldInBetaWords(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{})
	for _, c := range []struct{ path, body, code, param string }{
		{"sessions", `{"output_audio_format":"mp3"}`, "invalid_value", "session.output_audio_format"},
		{"sessions", `{"speed":9}`, "invalid_value", "session.speed"},
		{"sessions", `{"client_secret":{"expires_after":{"anchor":"created_at","seconds":1}}}`, "invalid_value", "expires_after.seconds"},
		{"sessions", `{`, "invalid_json", ""},
		{"sessions", `[]`, "invalid_json", ""},
		{"transcription_sessions", `{"input_audio_format":"mp3"}`, "invalid_value", "session.input_audio_format"},
	} {
		r := ask(h, "POST", "/v1/realtime/"+c.path, c.body, "Content-Type", "application/json")
		var got struct {
			Error struct{ Code, Param string }
		}
		raw := text(t, r)
		if err := json.Unmarshal([]byte(raw), &got); err != nil || r.StatusCode != 400 || got.Error.Code != c.code || got.Error.Param != c.param {
			t.Errorf("%s: %d %s", c.body, r.StatusCode, raw)
		}
	}
	for _, path := range []string{"sessions", "transcription_sessions"} {
		if r := ask(h, "POST", "/v1/realtime/"+path, "", "Content-Type", ""); r.StatusCode != 200 {
			t.Errorf("%s without a body: %d", path, r.StatusCode)
		}
	}
}

func TestRow3_7_TelephoneVerbsAreRefusedOnce(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{})
	for _, verb := range []string{"accept", "reject", "refer"} {
		r := ask(h, "POST", "/v1/realtime/calls/call_1/"+verb, "{}", "Content-Type", "application/json")
		if body := text(t, r); r.StatusCode != 422 || !strings.Contains(body, "not_supported") {
			t.Errorf("%s: %d %s", verb, r.StatusCode, body)
		}
	}
}
