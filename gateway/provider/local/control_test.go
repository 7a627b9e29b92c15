package local

import (
	"strings"
	"testing"
	"time"

	"hovor/signaling/realtime"
)

func TestWhatCannotBeDoneIsSaidWithTheEventAtFault(t *testing.T) {
	inHouse(t, scriptedBrain(t, "responses: [[{say: One two.}, {wait: 30s}]]"), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		until[*realtime.SessionUpdated](p)
		p.send(typedText("go"), &realtime.ResponseCreate{})
		answer := until[*realtime.ResponseOutputItemAdded](p).Item
		until[*realtime.ResponseOutputAudioTranscriptDelta](p)
		user := all[*realtime.ConversationItemAdded](p)[0].Item
		for _, step := range []struct {
			name        string
			ev          realtime.Event
			code, param string
		}{
			{"second response", &realtime.ResponseCreate{EventID: "e1"}, codeActiveResponse, ""},
			{"cancel of another", &realtime.ResponseCancel{EventID: "e2", ResponseID: "resp_none"}, codeNotActive, "response_id"},
			{"commit of nothing", &realtime.InputAudioBufferCommit{EventID: "e3"}, codeCommitEmpty, ""},
			{"audio by event", &realtime.InputAudioBufferAppend{EventID: "e4", Audio: "AAAA"}, codeInvalidTransport, "type"},
			{"unknown item deleted", &realtime.ConversationItemDelete{EventID: "e5", ItemID: "item_none"}, realtime.CodeNotFound, "item_id"},
			{"unknown item retrieved", &realtime.ConversationItemRetrieve{EventID: "e6", ItemID: "item_none"}, realtime.CodeNotFound, "item_id"},
			{"unknown item truncated", &realtime.ConversationItemTruncate{EventID: "e7", ItemID: "item_none"}, realtime.CodeNotFound, "item_id"},
			{"user item truncated", &realtime.ConversationItemTruncate{EventID: "e8", ItemID: user.ID}, codeUnsupported, "item_id"},
			{"truncated beyond its end", &realtime.ConversationItemTruncate{EventID: "e9", ItemID: answer.ID, AudioEndMS: 9000}, realtime.CodeInvalidValue, "audio_end_ms"},
			{"output without a call", &realtime.ConversationItemCreate{EventID: "e10", Item: realtime.FunctionCallOutput("call_none", "{}")}, codeInvalidCall, "item.call_id"},
			{"item twice", &realtime.ConversationItemCreate{EventID: "e11", Item: realtime.Item{ID: user.ID, Type: "message", Role: "user",
				Content: []realtime.Content{{Type: "input_text", Text: "x"}}}}, realtime.CodeInvalidValue, "item.id"},
			{"voice after speech", &realtime.SessionUpdate{EventID: "e12", Session: realtime.Session{Type: "realtime",
				Audio: &realtime.Audio{Output: &realtime.AudioOutput{Voice: "cs"}}}}, codeCannotVoice, "session.audio.output.voice"},
		} {
			if _, ok := step.ev.(*realtime.InputAudioBufferCommit); ok {
				p.send(&realtime.InputAudioBufferClear{})
			}
			p.send(step.ev)
			got := until[*realtime.ErrorEvent](p).Error
			if got.Code != step.code || got.Param != step.param || got.EventID != eventID(step.ev) || got.Message == "" {
				t.Errorf("%s: got %+v", step.name, got)
			}
		}
		p.hang()
	})
}

func TestAnEventThatIsNoneIsAnsweredAndTheCallGoesOn(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		until[*realtime.SessionUpdated](p)
		for raw, code := range map[string]string{
			`{"type":"session.explode","event_id":"mine"}`: realtime.CodeUnknownEvent,
			`{`:                          realtime.CodeInvalidJSON,
			`{"event_id":"mine"}`:        realtime.CodeMissingParameter,
			`{"type":"session.created"}`: realtime.CodeUnknownEvent,
		} {
			if err := p.conn.SendRaw([]byte(raw)); err != nil {
				t.Fatal(err)
			}
			got := until[*realtime.ErrorEvent](p).Error
			if got.Code != code || strings.Contains(raw, "mine") && got.EventID != "mine" {
				t.Errorf("%s: got %+v", raw, got)
			}
		}
		p.send(typedText("hello"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
	})
}

func TestSessionUpdatedCarriesEveryDefault(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(&realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{
			TurnDetection: realtime.Some(realtime.TurnDetection{Type: realtime.SemanticVAD})}}})
		created, updated := until[*realtime.SessionCreated](p).Session, until[*realtime.SessionUpdated](p).Session
		p.hang()
		if created.ID == "" || created.ID != updated.ID {
			t.Errorf("session %q becomes %q", created.ID, updated.ID)
		}
		turn := updated.TurnDetection()
		if turn == nil || turn.Type != realtime.SemanticVAD || turn.InterruptResponse == nil || !*turn.InterruptResponse || turn.Eagerness == "" {
			t.Errorf("turn detection %+v", turn)
		}
		if updated.Voice() == "" || updated.OutputModalities == nil || updated.ToolChoice == nil {
			t.Errorf("defaults are missing: %+v", updated)
		}
	})
}

func TestHistoryIsKeptInItsOrder(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		item := func(id, text string) realtime.Item {
			it := realtime.UserText(text)
			it.ID = id
			return it
		}
		root, first := "root", "item_b"
		p.send(
			&realtime.ConversationItemCreate{Item: item("item_b", "b")},
			&realtime.ConversationItemCreate{Item: item("item_d", "d")},
			&realtime.ConversationItemCreate{Item: item("item_a", "a"), PreviousItemID: &root},
			&realtime.ConversationItemCreate{Item: item("item_c", "c"), PreviousItemID: &first},
			&realtime.ConversationItemDelete{ItemID: "item_d"},
			&realtime.ConversationItemCreate{Item: realtime.AssistantText("e")},
		)
		until[*realtime.ConversationItemDeleted](p)
		until[*realtime.ConversationItemDone](p)
		p.hang()
		want := []string{"-", "item_b", "-", "item_b", "item_c"}
		for i, e := range all[*realtime.ConversationItemAdded](p) {
			got := "-"
			if e.PreviousItemID != nil {
				got = *e.PreviousItemID
			}
			if got != want[i] {
				t.Errorf("item %d comes after %s, want %s", i, got, want[i])
			}
		}
	})
}

func TestAClearDropsWhatWasSaidBefore(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
		p := h.call(manual())
		until[*realtime.SessionUpdated](p)
		p.talk(500*time.Millisecond, 0)
		p.send(&realtime.InputAudioBufferClear{}, &realtime.InputAudioBufferCommit{EventID: "now"})
		until[*realtime.InputAudioBufferCleared](p)
		if got := until[*realtime.ErrorEvent](p).Error; got.Code != codeCommitEmpty || got.EventID != "now" {
			t.Errorf("got %+v", got)
		}
		p.hang()
	})
}

// A commit and a response.create that overtake the last words on the track still see them: the provider drains first.
func TestACommitWaitsForWhatHasArrived(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
		p := h.call(manual())
		until[*realtime.SessionUpdated](p)
		p.talk(120*time.Millisecond, 0)
		p.send(&realtime.InputAudioBufferCommit{}, &realtime.ResponseCreate{})
		until[*realtime.InputAudioBufferCommitted](p)
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
		if got := all[*realtime.ConversationItemInputAudioTranscriptionCompleted](p); len(got) != 1 || got[0].Transcript != "hello" {
			t.Errorf("transcripts %+v", got)
		}
	})
}

func TestFaultsOfAScript(t *testing.T) {
	const story = `
responses:
  - [{drop: response.done}, {say: One.}]
  - [{malformed: "{not json"}, {error: {code: odd, message: Odd.}}, {fail: {code: broken, message: Broken.}}]
  - [{close: true}]
`
	inHouse(t, scriptedBrain(t, story), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		p.send(typedText("go"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStopped](p)
		if len(all[*realtime.ResponseDone](p)) != 0 {
			t.Error("response.done was sent although it was to be dropped")
		}
		p.send(&realtime.ResponseCreate{})
		if got := until[*realtime.ErrorEvent](p).Error; got.Code != "odd" {
			t.Errorf("error %+v", got)
		}
		if done := until[*realtime.ResponseDone](p).Response; done.Status != realtime.StatusFailed || done.StatusDetails.Error.Code != "broken" {
			t.Errorf("ended %+v", done)
		}
		p.mu.Lock()
		malformed := strings.Contains(strings.Join(p.raw, "\n"), "{not json")
		p.mu.Unlock()
		if !malformed {
			t.Error("the malformed frame did not come")
		}
		p.send(&realtime.ResponseCreate{})
		<-p.ended // the call is closed from the far side
		p.cancel()
	})
}

func TestAnOutOfBandResponseStaysOutOfTheConversation(t *testing.T) {
	inHouse(t, scriptedBrain(t, "responses: [[{say: One.}]]"), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		p.send(&realtime.ResponseCreate{Response: &realtime.ResponseParams{Conversation: "none", OutputModalities: []string{"text"}, Input: []realtime.Item{realtime.UserText("hi")}, Metadata: []byte(`{"topic":"x"}`)}})
		done := until[*realtime.ResponseDone](p).Response
		p.hang()
		if done.ConversationID != "" || string(done.Metadata) != `{"topic":"x"}` || len(all[*realtime.ConversationItemAdded](p)) != 0 {
			t.Errorf("got %+v", done)
		}
	})
}
