package realtime

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestABadClientEventGetsOneClearError(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80)
	for _, c := range []struct{ name, raw, code, param, says string }{
		{"nothing", ``, CodeInvalidJSON, "", "nothing"},
		{"not JSON", `{"type":`, CodeInvalidJSON, "", "byte 8"},
		{"NaN", `{"type":"conversation.item.truncate","audio_end_ms":NaN}`, CodeInvalidJSON, "", "not JSON"},
		{"an array", `[]`, CodeInvalidJSON, "", "object"},
		{"a bare word", `hello`, CodeInvalidJSON, "", "object"},
		{"not UTF-8", "{\"type\":\"\xff\"}", CodeInvalidJSON, "", "UTF-8"},
		{"two texts", `{"type":"response.cancel"}{}`, CodeInvalidJSON, "", "not JSON"},
		{"no type", `{"event_id":"e1"}`, CodeMissingParameter, "type", "needs a type"},
		{"type is a number", `{"type":7}`, CodeMissingParameter, "type", "needs a type"},
		{"unknown event", `{"type":"session.destroy","event_id":"e1"}`, CodeUnknownEvent, "type", `"session.destroy"`},
		{"unknown event with odd name", `{"type":"a\u0000b` + strings.Repeat("x", 100) + `"}`, CodeUnknownEvent, "type", "a?bxxx"},
		{"a server's event", `{"type":"response.done","response":{}}`, CodeUnknownEvent, "type", "may send"},
		{"type twice", `{"type":"response.cancel","type":"response.create"}`, CodeDuplicateParameter, "type", "twice"},
		{"a key twice", `{"type":"response.cancel","response_id":"a","response_id":"b"}`, CodeDuplicateParameter, "response_id", "twice"},
		{"a key twice, escaped", `{"type":"response.cancel","response_id":"a","response\u005fid":"b"}`, CodeDuplicateParameter, "response_id", "twice"},
		{"a key twice in what is not read", `{"type":"response.create","response":{"metadata":{"a":{"b":1,"b":2}}}}`, CodeDuplicateParameter, "response.metadata.a.b", "twice"},
		{"a key in other case", `{"type":"response.cancel","Response_ID":"a"}`, CodeUnknownParameter, "Response_ID", "response_id"},
		{"a nested key in other case", `{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":"x","Output":"y"}}`, CodeUnknownParameter, "item.Output", "output"},
		{"wrong type", `{"type":"conversation.item.delete","item_id":5}`, CodeInvalidType, "item_id", "expected a string, got a number"},
		{"wrong type deep inside", `{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","threshold":"0.5"}}}}}`, CodeInvalidType, "session.audio.input.turn_detection.threshold", "a number"},
		{"wrong type in a list", `{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"a"},"b"]}}`, CodeInvalidType, "session.tools[1]", "an object"},
		{"null where it means nothing", `{"type":"conversation.item.delete","item_id":null}`, CodeInvalidType, "item_id", "null"},
		{"missing", `{"type":"conversation.item.delete"}`, CodeMissingParameter, "item_id", "required"},
		{"empty id", `{"type":"conversation.item.delete","item_id":""}`, CodeMissingParameter, "item_id", "empty"},
		{"fraction of a millisecond", `{"type":"conversation.item.truncate","item_id":"i","content_index":0,"audio_end_ms":12.5}`, CodeInvalidType, "audio_end_ms", "integer"},
		{"integer beyond 2^53", `{"type":"conversation.item.truncate","item_id":"i","content_index":0,"audio_end_ms":9007199254740993}`, CodeInvalidValue, "audio_end_ms", "2^53"},
		{"number beyond float64", `{"type":"session.update","session":{"type":"realtime","audio":{"output":{"speed":1e999}}}}`, CodeInvalidValue, "session.audio.output.speed", "too large"},
		{"negative", `{"type":"conversation.item.truncate","item_id":"i","content_index":0,"audio_end_ms":-1}`, CodeInvalidValue, "audio_end_ms", "below 0"},
		{"out of range", `{"type":"session.update","session":{"type":"realtime","audio":{"output":{"speed":2}}}}`, CodeInvalidValue, "session.audio.output.speed", "above 1.5"},
		{"outside a closed set", `{"type":"session.update","session":{"type":"realtime","output_modalities":["video"]}}`, CodeInvalidValue, "session.output_modalities[0]", "audio, text"},
		{"neither number nor inf", `{"type":"session.update","session":{"type":"realtime","max_output_tokens":"lots"}}`, CodeInvalidValue, "session.max_output_tokens", "inf"},
		{"session without type", `{"type":"session.update","event_id":"e7","session":{}}`, CodeMissingParameter, "session.type", "realtime"},
		{"too deep", `{"type":"response.create","response":{"metadata":` + deep + `}}`, CodeInvalidEvent, "", "64"},
		{"deeper than any parser goes", `{"type":"response.create","response":` + strings.Repeat("[", 20_000), CodeInvalidEvent, "", "64"},
		{"tool without a name", `{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function"}]}}`, CodeMissingParameter, "session.tools[0].name", "function"},
		{"output without call_id", `{"type":"conversation.item.create","item":{"type":"function_call_output","output":"x"}}`, CodeMissingParameter, "item.call_id", "function_call_output"},
		{"message without role", `{"type":"conversation.item.create","item":{"type":"message","content":[]}}`, CodeMissingParameter, "item.role", "message"},
		{"content of the wrong side", `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"output_text","text":"x"}]}}`, CodeInvalidValue, "item.content[0].type", "input_text"},
		{"assistant audio", `{"type":"conversation.item.create","item":{"type":"message","role":"assistant","content":[{"type":"output_audio"}]}}`, CodeInvalidValue, "item.content[0].type", "assistant audio"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(FromClient, []byte(c.raw))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error is %v", err)
			}
			if e.Code != c.code || c.param != "" && e.Param != c.param || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %s %q %q, want %s %q …%q…", e.Code, e.Param, e.Message, c.code, c.param, c.says)
			}
			if strings.Contains(c.raw, `"event_id":"e`) && !strings.HasPrefix(e.EventID, "e") {
				t.Errorf("event_id is %q", e.EventID)
			}
		})
	}
}

func TestAnErrorNeverRepeatsAValue(t *testing.T) {
	const canary = "canary-word"
	for _, raw := range []string{
		`{"type":"session.update","session":{"type":"` + canary + `"}}`,
		`{"type":"session.update","session":{"type":"realtime","output_modalities":["` + canary + `"]}}`,
		`{"type":"session.update","session":"` + canary + `"}`,
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"` + canary + `"}]}}`,
		`{"type":"response.create","response":{"max_output_tokens":"` + canary + `"}}`,
	} {
		_, err := Decode(FromClient, []byte(raw))
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestSizeIsBounded(t *testing.T) {
	big := `{"type":"conversation.item.create","event_id":"e","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"` +
		strings.Repeat("a", MaxClientEvent) + `"}]}}`
	_, err := Decode(FromClient, []byte(big))
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeMessageTooLarge || e.EventID != "e" {
		t.Errorf("error is %v", err)
	}
	audio := `{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("A", 2*MaxClientEvent) + `"}`
	if _, err := Decode(FromClient, []byte(audio)); err != nil {
		t.Errorf("2 MiB of audio: %v", err)
	}
}

func TestUnknownFieldsOfAClientAreIgnored(t *testing.T) {
	ev, err := Decode(FromClient, []byte(`{"type":"session.update","session":{"type":"realtime","providerData":{"x":1},"instructions":"hi"},"extra":[1,{"a":null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := ev.(*SessionUpdate).Session; s.Instructions == nil || *s.Instructions != "hi" {
		t.Errorf("session is %+v", s)
	}
}

func TestAProviderMayBeImprecise(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want Event
	}{
		"unknown fields": {`{"type":"response.output_audio.done","event_id":"e","response_id":"r","item_id":"i","new":{"a":1}}`,
			&ResponseOutputAudioDone{EventID: "e", ResponseID: "r", ItemID: "i"}},
		"a fraction": {`{"type":"input_audio_buffer.speech_started","event_id":"e","audio_start_ms":12.6,"item_id":"i"}`,
			&InputAudioBufferSpeechStarted{EventID: "e", AudioStartMS: 13, ItemID: "i"}},
		"a new status": {`{"type":"response.done","event_id":"e","response":{"id":"r","status":"paused"}}`,
			&ResponseDone{EventID: "e", Response: Response{ID: "r", Status: "paused"}}},
		"nulls": {`{"type":"response.done","event_id":null,"response":{"id":"r","status":"completed","usage":null,"output":null,"metadata":null,"conversation_id":null}}`,
			&ResponseDone{Response: Response{ID: "r", Status: "completed", Metadata: nil}}},
		"a key in other case besides the right one": {`{"type":"input_audio_buffer.cleared","event_id":"e","Event_ID":"x"}`,
			&InputAudioBufferCleared{EventID: "e"}},
		"a numeric error code": {`{"type":"error","event_id":"e","error":{"type":"t","code":4001,"message":"m"}}`,
			&ErrorEvent{EventID: "e", Error: &Error{Type: "t", Code: "4001", Message: "m"}}},
		"no event_id": {`{"type":"input_audio_buffer.dtmf_event_received","event":"9","received_at":1}`,
			&InputAudioBufferDtmfEventReceived{Event: "9", ReceivedAt: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(FromServer, []byte(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := got.(*ResponseDone); ok && string(r.Response.Metadata) == "null" {
				r.Response.Metadata = nil
			}
			if !reflect.DeepEqual(got, c.want) {
				a, _ := json.Marshal(got)
				t.Errorf("got %s", a)
			}
		})
	}
}

func TestAProvidersBrokenEventNamesTheField(t *testing.T) {
	for raw, param := range map[string]string{
		`{"type":"response.output_item.done","event_id":"e","item":{"type":"message"}}`:                   "response_id",
		`{"type":"response.done","event_id":"e","response":[]}`:                                           "response",
		`{"type":"response.output_audio.done","event_id":"e","response_id":"r","item_id":{"a":"secret"}}`: "item_id",
	} {
		_, err := Decode(FromServer, []byte(raw))
		var e *Error
		if !errors.As(err, &e) || e.Param != param {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestPeekReadsTypeAndID(t *testing.T) {
	typ, id, err := Peek([]byte(` {"a":{"type":"no"},"event_id":"e1","type":"x.y"} `))
	if typ != "x.y" || id != "e1" || err != nil {
		t.Errorf("%q %q %v", typ, id, err)
	}
}

func TestRequestBodies(t *testing.T) {
	var req ClientSecretRequest
	if err := DecodeBody([]byte(`{"session":{"type":"realtime","model":"m"},"hovor":{"thread_id":"t"}}`), &req); err != nil {
		t.Fatal(err)
	}
	if req.Session.Model != "m" || req.Hovor.ThreadID != "t" {
		t.Errorf("%+v", req)
	}
	for raw, param := range map[string]string{
		`{"expires_after":{"anchor":"created_at","seconds":9}}`: "expires_after.seconds",
		`{"expires_after":{"anchor":"now"}}`:                    "expires_after.anchor",
		`{"session":{"type":"live"}}`:                           "session.type",
		`{"Session":{}}`:                                        "Session",
	} {
		var e *Error
		if err := DecodeBody([]byte(raw), &req); !errors.As(err, &e) || e.Param != param || e.Status != 400 {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestIDsAreShortAndDifferent(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID("call")
		if len(id) > MaxIDLen || !strings.HasPrefix(id, "call_") || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
	if id := NewID("a_very_long_prefix"); len(id) > MaxIDLen {
		t.Errorf("id %q has %d characters", id, len(id))
	}
}
