package local

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hovor/signaling/realtime"
)

// compare fails with the first difference of two orders.
func compare(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("events differ at %d\n got: %s\nwant: %s", i, strings.Join(got[min(i, len(got)):], "\n      "), strings.Join(want[min(i, len(want)):], "\n      "))
		}
	}
}

const oneAnswer = "responses: [[{say: One two three. Four five six.}]]"

// spokenAnswer is the order of one spoken response (protocol research 1.8), the transcript running ahead of the sound.
var spokenAnswer = []string{
	"response.created", "rate_limits.updated",
	"response.output_item.added", "conversation.item.added", "response.content_part.added",
	"output_audio_buffer.started", "response.output_audio_transcript.delta",
	"response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done",
	"response.output_item.done", "conversation.item.done",
	"response.done", "output_audio_buffer.stopped",
}

func TestAServerVADTurnHasItsEventsInThePublishedOrder(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
		p := h.call(serverVAD())
		until[*realtime.SessionUpdated](p)
		p.talk(900*time.Millisecond, 3*time.Second)
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
		compare(t, p.order(), append([]string{
			"session.created", "session.updated",
			"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
			"conversation.item.added", "conversation.item.done",
			"conversation.item.input_audio_transcription.completed",
		}, spokenAnswer...))
		started, stopped := all[*realtime.InputAudioBufferSpeechStarted](p)[0], all[*realtime.InputAudioBufferSpeechStopped](p)[0]
		committed := all[*realtime.InputAudioBufferCommitted](p)[0]
		if started.ItemID != committed.ItemID || stopped.ItemID != committed.ItemID {
			t.Error("the turn's events name different items")
		}
		if d := stopped.AudioEndMS - started.AudioStartMS; d < 1300 || d > 1800 {
			t.Errorf("900 ms of speech, 300 ms of padding and 500 ms of silence lasted %d ms", d)
		}
		if got := all[*realtime.ConversationItemInputAudioTranscriptionCompleted](p)[0]; got.Transcript != "hello" || got.ItemID != committed.ItemID {
			t.Errorf("transcript %q of item %s", got.Transcript, got.ItemID)
		}
	})
}

func TestAManualTurnWaitsForTheCommit(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
		p := h.call(manual())
		until[*realtime.SessionUpdated](p)
		p.talk(900*time.Millisecond, 2*time.Second)
		if got := p.order(); len(got) != 2 {
			t.Fatalf("events without a commit: %v", got)
		}
		p.send(&realtime.InputAudioBufferCommit{}, &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
		compare(t, p.order(), append([]string{
			"session.created", "session.updated", "input_audio_buffer.committed", "conversation.item.added", "conversation.item.done",
			"conversation.item.input_audio_transcription.completed",
		}, spokenAnswer...))
	})
}

func TestATypedTurnIsAnsweredAloud(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		p.send(typedText("hello"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
		compare(t, p.order(), append([]string{"session.created", "session.updated", "conversation.item.added", "conversation.item.done"}, spokenAnswer...))
		done := all[*realtime.ResponseDone](p)[0].Response
		if done.Status != realtime.StatusCompleted || len(done.Output) != 1 || done.Output[0].TextOf() != "One two three. Four five six." {
			t.Errorf("response.done holds %+v", done.Output)
		}
		if u := done.Usage; u == nil || u.OutputTokenDetails.AudioTokens == 0 || u.TotalTokens != u.InputTokens+u.OutputTokens {
			t.Errorf("usage %+v", u)
		}
	})
}

func TestATextSessionIsAnsweredInWriting(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		s := manual()
		s.OutputModalities = []string{"text"}
		p := h.call(s)
		p.send(typedText("hello"), &realtime.ResponseCreate{})
		until[*realtime.ResponseDone](p)
		time.Sleep(time.Second)
		p.hang()
		compare(t, p.order(), []string{
			"session.created", "session.updated", "conversation.item.added", "conversation.item.done",
			"response.created", "rate_limits.updated", "response.output_item.added", "conversation.item.added", "response.content_part.added",
			"response.output_text.delta", "response.output_text.done", "response.content_part.done", "response.output_item.done",
			"conversation.item.done", "response.done",
		})
		if n := len(p.audio()); n != 0 {
			t.Errorf("%d audio packets in a text session", n)
		}
	})
}

func TestAFunctionCallStandsInAllThreePlaces(t *testing.T) {
	const story = "responses: [[{call: {name: get_document, arguments: {id: welcome}}}], [{when: outputs}, {say: Done.}]]"
	inHouse(t, scriptedBrain(t, story), nil, func(t *testing.T, h *house) {
		p := h.call(tools(manual(), "get_document"))
		p.send(typedText("read it"), &realtime.ResponseCreate{})
		done := until[*realtime.ResponseDone](p)
		call := done.Response.Output[0]
		p.send(&realtime.ConversationItemCreate{Item: realtime.FunctionCallOutput(call.CallID, `{"status":"ok"}`)}, &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
		compare(t, p.order(), append([]string{
			"session.created", "session.updated", "conversation.item.added", "conversation.item.done",
			"response.created", "rate_limits.updated", "response.output_item.added", "conversation.item.added",
			"response.function_call_arguments.delta", "response.function_call_arguments.done",
			"response.output_item.done", "conversation.item.done", "response.done",
			"conversation.item.added", "conversation.item.done",
		}, spokenAnswer...))
		if added := all[*realtime.ResponseOutputItemAdded](p)[0].Item; added.Status != realtime.StatusInProgress {
			t.Errorf("the call is announced as %s", added.Status)
		}
		arguments := all[*realtime.ResponseFunctionCallArgumentsDone](p)[0]
		item := all[*realtime.ResponseOutputItemDone](p)[0].Item
		for place, got := range map[string][3]string{
			"arguments":     {arguments.CallID, arguments.Name, arguments.Arguments},
			"item":          {item.CallID, item.Name, item.Arguments},
			"response.done": {call.CallID, call.Name, call.Arguments},
		} {
			if want := [3]string{call.CallID, "get_document", `{"id":"welcome"}`}; got != want {
				t.Errorf("%s: got %v, want %v", place, got, want)
			}
		}
	})
}
