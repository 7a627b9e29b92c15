package realtime

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The rules in this file are those of the schemas in @openai/agents-realtime 0.20.0: a known event that breaks one of
// them is dropped by that client without a word, or makes it throw.

// wire is an event as a client sees it.
func wire(t *testing.T, e Event) map[string]any {
	t.Helper()
	raw, err := Encode(e)
	if err != nil {
		t.Fatalf("%s: %v", e.EventType(), err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// at follows keys and indexes; missing is a value of its own so that null and absence differ.
type missing struct{}

func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return missing{}
			}
			if v, ok = m[p]; !ok {
				return missing{}
			}
		case int:
			l, ok := v.([]any)
			if !ok || p >= len(l) {
				return missing{}
			}
			v = l[p]
		}
	}
	return v
}

func TestEveryServerEventHasAnEventID(t *testing.T) {
	for _, typ := range EventTypes(FromServer) {
		e := New(FromServer, typ)
		fillRequired(e)
		id, ok := at(wire(t, e), "event_id").(string)
		if !ok || !strings.HasPrefix(id, "event_") {
			t.Errorf("%s: event_id is %v", typ, id)
		}
	}
}

// fillRequired gives an event the least that Encode wants.
func fillRequired(e Event) {
	for _, x := range examples(FromServer) {
		if x.EventType() != e.EventType() {
			continue
		}
		raw, _ := Encode(x)
		_ = json.Unmarshal(raw, e)
	}
	reflect.ValueOf(e).Elem().FieldByName("EventID").SetString("")
}

func TestEncodeDoesNotChangeTheEventItIsGiven(t *testing.T) {
	e := &ResponseOutputItemAdded{ResponseID: "r", Item: Item{ID: "i", Type: ItemFunctionCall, Name: "n", CallID: "c", Status: StatusCompleted}}
	wire(t, e)
	if e.EventID != "" || e.Item.Status != StatusCompleted || e.Item.Object != "" {
		t.Errorf("changed to %+v", e)
	}
}

func TestAVoiceInAResponseIsAString(t *testing.T) {
	ev, err := Decode(FromServer, []byte(`{"type":"response.created","event_id":"e","response":{"id":"r","audio":{"output":{"voice":{"id":"voice_1"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if v := at(wire(t, ev), "response", "audio", "output", "voice"); v != "voice_1" {
		t.Errorf("voice is %v", v)
	}
}

func TestAResponseStatusOutsideTheClosedSetIsNotSent(t *testing.T) {
	for _, status := range []string{"queued", "COMPLETED"} {
		if _, err := Encode(&ResponseDone{Response: Response{ID: "r", Status: status}}); err == nil {
			t.Errorf("%q was sent", status)
		}
	}
	for _, status := range []string{"", StatusCompleted, StatusIncomplete, StatusFailed, StatusCancelled, StatusInProgress} {
		wire(t, &ResponseDone{Response: Response{ID: "r", Status: status}})
	}
}

func TestUsageNumbersAreNeverNull(t *testing.T) {
	m := wire(t, &ResponseDone{Response: Response{ID: "r", Status: StatusCancelled, Usage: &Usage{}}})
	for _, path := range [][]any{{"total_tokens"}, {"input_tokens"}, {"output_tokens"}, {"input_token_details", "text_tokens"}, {"output_token_details", "audio_tokens"}} {
		if n := at(m, append([]any{"response", "usage"}, path...)...); n != 0.0 {
			t.Errorf("%v is %v", path, n)
		}
	}
	m = wire(t, &ResponseDone{Response: Response{ID: "r"}})
	if u := at(m, "response", "usage"); u != (missing{}) {
		t.Errorf("usage that is not known is %v, want it left out", u)
	}
	if out, ok := at(m, "response", "output").([]any); !ok || len(out) != 0 {
		t.Errorf("output is %v, want []", at(m, "response", "output"))
	}
}

func TestAnItemStatusOutsideTheClosedSetIsNotSent(t *testing.T) {
	for _, status := range []string{"cancelled", "failed", "done"} {
		if _, err := Encode(&ConversationItemDone{Item: Item{ID: "i", Type: ItemMessage, Role: RoleAssistant, Status: status}}); err == nil {
			t.Errorf("%q was sent", status)
		}
	}
}

func TestContentTypesThatClientsDoNotKnowAreNotSent(t *testing.T) {
	for _, typ := range []string{"text", "audio", "video", "refusal"} {
		it := Item{ID: "i", Type: ItemMessage, Role: RoleAssistant, Content: []Content{{Type: typ}}}
		if _, err := Encode(&ConversationItemAdded{Item: it}); err == nil {
			t.Errorf("%q was sent", typ)
		}
	}
}

func TestMessageContentHasWhatClientsRead(t *testing.T) {
	said := ""
	m := wire(t, &ConversationItemAdded{Item: Item{ID: "i", Type: ItemMessage, Role: RoleUser, Content: []Content{
		{Type: ContentInputText}, {Type: ContentInputAudio}, {Type: ContentInputAudio, Transcript: &said},
	}}})
	content := []any{"item", "content"}
	if v := at(m, append(content, 0, "text")...); v != "" {
		t.Errorf("empty text is %v", v)
	}
	if v := at(m, append(content, 1, "transcript")...); v != nil {
		t.Errorf("a transcript that is not there yet is %v, want null", v)
	}
	if v := at(m, append(content, 2, "transcript")...); v != "" {
		t.Errorf("an empty transcript is %v", v)
	}
	m = wire(t, &ConversationItemAdded{Item: Item{ID: "i", Type: ItemMessage, Role: RoleAssistant}})
	if v, ok := at(m, content...).([]any); !ok || len(v) != 0 {
		t.Errorf("content of an item in progress is %v, want []", at(m, content...))
	}
	m = wire(t, &ConversationItemAdded{Item: assistantText("i", "")})
	if v := at(m, append(content, 0, "text")...); v != "" {
		t.Errorf("empty output_text is %v", v)
	}
}

func assistantText(id, text string) Item {
	it := AssistantText(text)
	it.ID = id
	return it
}

func TestAClientsEventDoesNotCarryANullTranscript(t *testing.T) {
	m := wire(t, &ConversationItemCreate{Item: Item{Type: ItemMessage, Role: RoleUser, Content: []Content{{Type: ContentInputAudio, Audio: "AAAA"}}}})
	if v := at(m, "item", "content", 0, "transcript"); v != (missing{}) {
		t.Errorf("transcript is %v", v)
	}
}

func TestAnItemWithoutAnIDIsNotSent(t *testing.T) {
	if _, err := Encode(&ConversationItemDone{Item: Item{Type: ItemMessage, Role: RoleUser}}); err == nil {
		t.Error("it was sent")
	}
}

func TestPartsAreTextOrAudioAndNeverNull(t *testing.T) {
	for part, key := range map[Part]string{{Type: PartText}: "text", {Type: PartAudio}: "transcript"} {
		m := wire(t, &ResponseContentPartAdded{ResponseID: "r", ItemID: "i", Part: part})
		if v := at(m, "part", key); v != "" {
			t.Errorf("%s of %s is %v", key, part.Type, v)
		}
	}
	if _, err := Encode(&ResponseContentPartDone{ResponseID: "r", ItemID: "i", Part: Part{Type: ContentOutputAudio}}); err == nil {
		t.Error("a part of type output_audio was sent")
	}
}

func TestTranscriptionUsageByTokensHasItsDetails(t *testing.T) {
	m := wire(t, &ConversationItemInputAudioTranscriptionCompleted{ItemID: "i", Usage: &TranscriptionUsage{Type: "tokens", TotalTokens: 5}})
	for _, key := range []string{"text_tokens", "audio_tokens"} {
		if v := at(m, "usage", "input_token_details", key); v != 0.0 {
			t.Errorf("%s is %v", key, v)
		}
	}
	m = wire(t, &ConversationItemInputAudioTranscriptionCompleted{ItemID: "i", Usage: &TranscriptionUsage{Type: "duration", Seconds: 1.5}})
	if v := at(m, "usage", "seconds"); v != 1.5 {
		t.Errorf("seconds is %v", v)
	}
	m = wire(t, &ConversationItemInputAudioTranscriptionCompleted{ItemID: "i"})
	if v := at(m, "usage"); v != (missing{}) {
		t.Errorf("usage that is not known is %v", v)
	}
	if v := at(m, "transcript"); v != "" {
		t.Errorf("an empty transcript is %v", v)
	}
}

func TestEveryMcpToolHasADescription(t *testing.T) {
	ev, err := Decode(FromServer, []byte(`{"type":"conversation.item.done","event_id":"e","item":{"id":"i","type":"mcp_list_tools","server_label":"s","tools":[{"name":"a","description":null,"input_schema":{}},{"name":"b","input_schema":{}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	m := wire(t, ev)
	for i := range 2 {
		if v := at(m, "item", "tools", i, "description"); v != "" {
			t.Errorf("description is %v", v)
		}
	}
}

func TestMcpArgumentsDeltaCarriesObfuscation(t *testing.T) {
	m := wire(t, &ResponseMcpCallArgumentsDelta{ResponseID: "r", ItemID: "i"})
	if v := at(m, "obfuscation"); v != "" {
		t.Errorf("obfuscation is %v", v)
	}
}

func TestAnMcpCallInProgressHasNullOutput(t *testing.T) {
	m := wire(t, &ResponseOutputItemAdded{ResponseID: "r", Item: Item{ID: "i", Type: ItemMcpCall, ServerLabel: "s", Name: "n"}})
	if v := at(m, "item", "output"); v != nil {
		t.Errorf("output is %v", v)
	}
	if v := at(m, "item", "arguments"); v != "" {
		t.Errorf("arguments is %v", v)
	}
}

func TestAToolCallIsNotAnnouncedAsCompleted(t *testing.T) {
	call := Item{ID: "i", Type: ItemFunctionCall, Name: "n", CallID: "c", Status: StatusCompleted}
	if s := at(wire(t, &ResponseOutputItemAdded{ResponseID: "r", Item: call}), "item", "status"); s != StatusInProgress {
		t.Errorf("added: status is %v", s)
	}
	m := wire(t, &ResponseOutputItemDone{ResponseID: "r", Item: call})
	if s := at(m, "item", "status"); s != StatusCompleted {
		t.Errorf("done: status is %v", s)
	}
	if a := at(m, "item", "arguments"); a != "" {
		t.Errorf("done: arguments is %v", a)
	}
	if _, err := Encode(&ResponseOutputItemDone{Item: call}); err == nil {
		t.Error("done without response_id was sent")
	}
}

func TestNoPreviousItemIsNull(t *testing.T) {
	if v := at(wire(t, &InputAudioBufferCommitted{ItemID: "i"}), "previous_item_id"); v != nil {
		t.Errorf("previous_item_id is %v, want null", v)
	}
}

func TestAnErrorEventHasAllFieldsOfThePublishedForm(t *testing.T) {
	m := wire(t, Invalid(CodeInvalidValue, "", "m").Event())
	for key, want := range map[string]any{"type": TypeInvalidRequest, "code": CodeInvalidValue, "message": "m", "param": nil} {
		if v := at(m, "error", key); v != want {
			t.Errorf("%s is %v, want %v", key, v, want)
		}
	}
}
