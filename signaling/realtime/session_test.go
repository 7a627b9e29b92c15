package realtime

import (
	"encoding/json"
	"reflect"
	"testing"
)

func session(t *testing.T, raw string) Session {
	t.Helper()
	ev, err := Decode(FromServer, []byte(`{"type":"session.updated","event_id":"e","session":`+raw+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return ev.(*SessionUpdated).Session
}

func TestSessionUpdateIsAMerge(t *testing.T) {
	base := `{"type":"realtime","model":"m","id":"sess_1","instructions":"be kind","output_modalities":["audio"],
		"tools":[{"type":"function","name":"a"}],"tool_choice":"auto","max_output_tokens":100,"prompt":{"id":"p"},"tracing":"auto",
		"audio":{"input":{"noise_reduction":{"type":"near_field"},"transcription":{"model":"w","language":"cs"},
			"turn_detection":{"type":"server_vad","threshold":0.4,"create_response":false}},
			"output":{"voice":"marin","speed":1.2}}}`
	for name, c := range map[string]struct{ update, path, want string }{
		"absent stays":                          {`{}`, "instructions", `"be kind"`},
		"a value replaces":                      {`{"instructions":"be brief"}`, "instructions", `"be brief"`},
		"an empty string clears":                {`{"instructions":""}`, "instructions", `""`},
		"null clears a string":                  {`{"instructions":null}`, "instructions", `""`},
		"an empty list clears":                  {`{"tools":[]}`, "tools", `[]`},
		"null clears a list":                    {`{"tools":null}`, "tools", `[]`},
		"null clears an object":                 {`{"prompt":null}`, "prompt", `null`},
		"null stops tracing":                    {`{"tracing":null}`, "tracing", `null`},
		"tools are replaced as a whole":         {`{"tools":[{"type":"function","name":"b"}]}`, "tools", `[{"type":"function","name":"b"}]`},
		"null tokens are without limit":         {`{"max_output_tokens":null}`, "max_output_tokens", `"inf"`},
		"a named tool":                          {`{"tool_choice":{"type":"function","name":"a"}}`, "tool_choice", `{"type":"function","name":"a"}`},
		"the model cannot change":               {`{"model":"other"}`, "model", `"m"`},
		"the type cannot change":                {`{"type":"transcription"}`, "type", `"realtime"`},
		"the id cannot change":                  {`{"id":"x"}`, "id", `"sess_1"`},
		"null is manual turns":                  {`{"audio":{"input":{"turn_detection":null}}}`, "audio.input.turn_detection", `null`},
		"absent turn detection stays":           {`{"audio":{"input":{"noise_reduction":null}}}`, "audio.input.turn_detection.threshold", `0.4`},
		"the same detector is merged":           {`{"audio":{"input":{"turn_detection":{"type":"server_vad","silence_duration_ms":700}}}}`, "audio.input.turn_detection.threshold", `0.4`},
		"another detector replaces":             {`{"audio":{"input":{"turn_detection":{"type":"semantic_vad"}}}}`, "audio.input.turn_detection", `{"type":"semantic_vad"}`},
		"noise reduction off":                   {`{"audio":{"input":{"noise_reduction":null}}}`, "audio.input.noise_reduction", `null`},
		"transcription keeps its language":      {`{"audio":{"input":{"transcription":{"model":"x"}}}}`, "audio.input.transcription", `{"model":"x","language":"cs"}`},
		"transcription off":                     {`{"audio":{"input":{"transcription":null}}}`, "audio.input.transcription", `null`},
		"a voice leaves the speed":              {`{"audio":{"output":{"voice":"cedar"}}}`, "audio.output.speed", `1.2`},
		"an update of output leaves input":      {`{"audio":{"output":{"voice":"cedar"}}}`, "audio.input.turn_detection.type", `"server_vad"`},
		"modalities":                            {`{"output_modalities":["text"]}`, "output_modalities", `["text"]`},
		"a flag of the detector can be flipped": {`{"audio":{"input":{"turn_detection":{"type":"server_vad","create_response":true}}}}`, "audio.input.turn_detection.create_response", `true`},
	} {
		t.Run(name, func(t *testing.T) {
			s, u := session(t, base), session(t, c.update)
			before, _ := json.Marshal(s)
			got := s.Merge(u)
			if p := pick(t, got, c.path); p != c.want {
				t.Errorf("%s is %s, want %s", c.path, p, c.want)
			}
			if after, _ := json.Marshal(s); string(after) != string(before) {
				t.Errorf("the old session changed to %s", after)
			}
		})
	}
}

func pick(t *testing.T, s Session, path string) string {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	keys := []any{}
	for _, k := range splitDots(path) {
		keys = append(keys, k)
	}
	v := at(doc, keys...)
	if v == (missing{}) {
		return "missing"
	}
	// Once more through the struct's own order: compare by meaning, print as the test writes it.
	out, _ := json.Marshal(v)
	return reorder(string(out))
}

// reorder puts the keys that the tests above look at into the order they are written in.
func reorder(s string) string {
	switch s {
	case `{"language":"cs","model":"x"}`:
		return `{"model":"x","language":"cs"}`
	case `[{"name":"b","type":"function"}]`:
		return `[{"type":"function","name":"b"}]`
	case `{"name":"a","type":"function"}`:
		return `{"type":"function","name":"a"}`
	}
	return s
}

func splitDots(s string) (out []string) {
	for start, i := 0, 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '.' {
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return out
}

func TestTheEffectiveSessionHasEveryDefault(t *testing.T) {
	s := Session{Model: "gpt-realtime"}.WithDefaults()
	for path, want := range map[string]string{
		"type": `"realtime"`, "object": `"realtime.session"`, "instructions": `""`, "output_modalities": `["audio"]`, "tools": `[]`,
		"tool_choice": `"auto"`, "max_output_tokens": `"inf"`, "truncation": `"auto"`, "prompt": `null`, "tracing": `null`,
		"parallel_tool_calls": `true`, "include": `[]`,
		"audio.input.format.rate": `24000`, "audio.input.noise_reduction": `null`, "audio.input.transcription": `null`,
		"audio.input.turn_detection.type": `"server_vad"`, "audio.input.turn_detection.threshold": `0.5`,
		"audio.input.turn_detection.prefix_padding_ms": `300`, "audio.input.turn_detection.silence_duration_ms": `500`,
		"audio.input.turn_detection.idle_timeout_ms": `null`, "audio.input.turn_detection.create_response": `true`,
		"audio.input.turn_detection.interrupt_response": `true`, "audio.output.speed": `1`, "audio.output.voice": `"marin"`,
		"audio.output.format.type": `"audio/pcm"`,
	} {
		if got := pick(t, s, path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestSemanticDetectionGetsItsFlagsFilledIn(t *testing.T) {
	s := session(t, `{"type":"realtime","audio":{"input":{"turn_detection":{"type":"semantic_vad"}}}}`).WithDefaults()
	for path, want := range map[string]string{
		"audio.input.turn_detection.eagerness": `"auto"`, "audio.input.turn_detection.create_response": `true`,
		"audio.input.turn_detection.interrupt_response": `true`, "audio.input.turn_detection.threshold": "missing",
		"audio.input.turn_detection.idle_timeout_ms": "missing",
	} {
		if got := pick(t, s, path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestManualTurnsStayManual(t *testing.T) {
	s := session(t, `{"audio":{"input":{"turn_detection":null}}}`).WithDefaults()
	if got := pick(t, s, "audio.input.turn_detection"); got != "null" || s.TurnDetection() != nil {
		t.Errorf("turn_detection is %s", got)
	}
}

func TestAnUpdateDoesNotCarryWhatOnlyAServerSays(t *testing.T) {
	s := Session{ID: "sess_1", Model: "m", ExpiresAt: 7}.WithDefaults().ForUpdate()
	for _, path := range []string{"id", "object", "expires_at"} {
		if got := pick(t, s, path); got != "missing" {
			t.Errorf("%s is %s", path, got)
		}
	}
	raw, err := Encode(&SessionUpdate{Session: s})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(FromClient, raw); err != nil {
		t.Error(err)
	}
}

func TestACloneSharesNothing(t *testing.T) {
	s := Session{Tools: []Tool{{Name: "a", Headers: map[string]Secret{"h": "v"}}}}.WithDefaults()
	c := s.Clone()
	if !reflect.DeepEqual(s, c) {
		t.Fatal("the clone differs")
	}
	c.Tools[0].Headers["h"] = "w"
	c.Tools[0].Name = "b"
	*c.Instructions = "x"
	*c.Audio.Input.TurnDetection.Value.Threshold = 0.9
	c.Audio.Output.Speed = 1.5
	if s.Tools[0].Headers["h"] != "v" || s.Tools[0].Name != "a" || *s.Instructions != "" || *s.TurnDetection().Threshold != 0.5 || s.Audio.Output.Speed != 1 {
		t.Errorf("the original changed: %+v", s)
	}
}
