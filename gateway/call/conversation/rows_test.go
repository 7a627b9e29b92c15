package conversation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hovor/signaling/realtime"
	"hovor/vad/turn"
)

// The rows of what clients need (3.2), of what people complained about (6) and of what must be there (7.1) that are the
// conversation's. The number is the row's.

func TestRow3_2_11_AnUpdateBeforeTheProviderIsThereIsAnsweredAndKept(t *testing.T) {
	d := newDrive(t, nil)
	d.do(ChannelOpened{})
	d.want("c:session.created")
	text := "you are a pirate"
	d.client(&realtime.SessionUpdate{EventID: "e1", Session: realtime.Session{Type: "realtime", Instructions: &text}})
	d.want("c:session.updated")
	d.at += 9 * time.Second // a slow provider
	d.do(ProviderReady{})
	if got := toProvider[*realtime.SessionUpdate](d); *got.Session.Instructions != text || got.EventID != "e1" {
		t.Errorf("upstream %s", jsonOf(got))
	}
}

func TestRow3_2_12_And7_1_4_EveryDefaultIsFilledIn(t *testing.T) {
	d := ready(t, nil)
	d.client(&realtime.SessionUpdate{Session: realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{
		TurnDetection: realtime.Some(realtime.TurnDetection{Type: realtime.SemanticVAD})}}}})
	got := jsonOf(toClient[*realtime.SessionUpdated](d).Session)
	for _, want := range []string{`"interrupt_response":true`, `"create_response":true`, `"eagerness":"auto"`, `"voice":"marin"`, `"rate":24000`,
		`"output_modalities":["audio"]`, `"tool_choice":"auto"`, `"max_output_tokens":"inf"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestRow3_2_13_TracingIsTakenBySecondUpdate(t *testing.T) {
	d := ready(t, func(c *Config) { c.Assistant.Policy = Locked })
	d.client(&realtime.SessionUpdate{EventID: "e1", Session: realtime.Session{Type: "realtime", Tracing: realtime.Some(realtime.Tracing{Auto: true})}})
	d.never("c:error")
	if got := toClient[*realtime.SessionUpdated](d).Session.Tracing; got.Value == nil || !got.Value.Auto {
		t.Errorf("tracing %s", jsonOf(got))
	}
}

func TestRow3_2_15_And6_8_TwoCreatesAreOneAfterTheOther(t *testing.T) {
	d := ready(t, nil)
	d.client(&realtime.ResponseCreate{EventID: "agents_js_response_create_1"})
	if got := toProvider[*realtime.ResponseCreate](d).EventID; got != "agents_js_response_create_1" {
		t.Errorf("event id %q", got)
	}
	d.take()
	d.client(&realtime.ResponseCreate{EventID: "agents_js_response_create_2"}) // a tool's output races the ear
	d.client(&realtime.ResponseCreate{EventID: "agents_js_response_create_3"})
	d.never("p:response.create")
	if e := toClient[*realtime.ErrorEvent](d).Error; e.Code != "conversation_already_has_active_response" || e.EventID != "agents_js_response_create_3" {
		t.Errorf("error %s", jsonOf(e))
	}
	d.provider(&realtime.ResponseCreated{Response: realtime.Response{ID: "r1"}})
	d.done("r1", "failed") // whatever the status
	d.want("c:response.done", "p:response.create")
	d.provider((&realtime.Error{Type: "server_error", Code: "x", Message: "no", EventID: "agents_js_response_create_2"}).Event())
	if e := toClient[*realtime.ErrorEvent](d).Error; e.EventID != "agents_js_response_create_2" {
		t.Errorf("the error lost its event id: %s", jsonOf(e))
	}
}

func TestRow3_2_16_AFunctionCallIsToldByAllThreeEvents(t *testing.T) {
	d := ready(t, nil)
	d.provider(&realtime.ResponseCreated{Response: realtime.Response{ID: "r1"}})
	item := realtime.Item{ID: "fc", Type: "function_call", Status: "in_progress", CallID: "call_1", Name: "open_document"}
	d.provider(&realtime.ResponseOutputItemAdded{ResponseID: "r1", Item: item})
	if got := toClient[*realtime.ResponseOutputItemAdded](d).Item.Status; got == "completed" {
		t.Error("added as completed: it would be run twice")
	}
	item.Status, item.Arguments = "completed", `{}`
	d.provider(&realtime.ResponseFunctionCallArgumentsDone{ResponseID: "r1", ItemID: "fc", CallID: "call_1", Name: "open_document", Arguments: `{}`})
	d.provider(&realtime.ResponseOutputItemDone{ResponseID: "r1", Item: item})
	d.provider(&realtime.ResponseDone{Response: realtime.Response{ID: "r1", Status: "completed", Output: []realtime.Item{item}}})
	d.want("c:response.function_call_arguments.done", "c:response.output_item.done", "c:response.done")
}

func TestRow3_2_19_AnInterruptionWithNothingPlayingIsNoError(t *testing.T) {
	d := ready(t, nil)
	d.client(&realtime.OutputAudioBufferClear{EventID: "e1"})
	d.never("c:error", "p:output_audio_buffer.clear")
	d.speak()
	d.answer("r1", "item_a")
	d.done("r1", "completed") // it is still heard
	d.take()
	d.client(&realtime.OutputAudioBufferClear{EventID: "e2"})
	d.want("cut", "p:output_audio_buffer.clear")
	d.never("c:error", "p:response.cancel")
}

func TestRow6_7_AShortTapIsToldAndChangesNothing(t *testing.T) {
	d := ready(t, func(c *Config) {
		c.Assistant.Session = realtime.Session{Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}}
	})
	d.client(&realtime.InputAudioBufferClear{})
	d.media.Received += 80 * time.Millisecond
	d.take()
	d.client(&realtime.InputAudioBufferCommit{EventID: "tap"})
	if e := toClient[*realtime.ErrorEvent](d).Error; e.Code != "input_audio_buffer_commit_empty" || e.EventID != "tap" {
		t.Errorf("error %s", jsonOf(e))
	}
	d.never("p:input_audio_buffer.commit", "flush", "close:internal")
	if p := d.s.Snapshot().Phase; p != "listening" {
		t.Errorf("phase %s", p)
	}
}

func TestRow6_9_ATruncationIsWithinWhatWasSentAndOnlyWhenSomethingWasCut(t *testing.T) {
	d := ready(t, nil)
	d.speak()
	d.answer("r1", "item_a")
	d.take()
	d.heard = 1234567 * time.Microsecond
	d.at += 9 * time.Second // the wall clock says more
	d.ear(turn.SpeechStarted, true)
	d.ear(turn.Yield, true)
	if cut := toProvider[*realtime.ConversationItemTruncate](d); cut.AudioEndMS != 1234 || cut.ItemID != "item_a" {
		t.Errorf("truncated at %d ms of %s", cut.AudioEndMS, cut.ItemID)
	}
	d = ready(t, nil)
	d.speak()
	d.answer("r1", "item_a")
	d.done("r1", "completed")
	d.provider(&realtime.OutputAudioBufferStopped{ResponseID: "r1"})
	d.take()
	d.speak() // after the end, over nothing
	d.never("p:conversation.item.truncate", "p:conversation.item.delete", "p:output_audio_buffer.clear")
}

func TestRow6_10_NothingOfAnAnswerThatWasCutComesAfterwards(t *testing.T) {
	d := ready(t, nil)
	d.speak()
	d.answer("r1", "item_a")
	epoch := d.s.epoch
	d.heard = time.Second
	d.ear(turn.SpeechStarted, true)
	d.ear(turn.Yield, true)
	d.take()
	// What still comes of it opens no gate.
	d.provider(&realtime.ResponseContentPartAdded{ResponseID: "r1", ItemID: "item_a", Part: realtime.Part{Type: "audio"}})
	d.provider(&realtime.OutputAudioBufferStarted{ResponseID: "r1"})
	d.do(FirstAudio{Epoch: epoch, Came: d.at, Sent: d.at})
	if slices.ContainsFunc(d.all, func(e Effect) bool { _, begin := e.(Begin); return begin }) || d.s.play.audible {
		t.Error("the gate was opened for an answer that was cut")
	}
}

func TestRow6_18_AToolThatNobodyAnswersIsAnsweredAndSaid(t *testing.T) {
	d := ready(t, nil)
	d.provider(&realtime.ResponseCreated{Response: realtime.Response{ID: "r1"}})
	d.provider(&realtime.ResponseOutputItemDone{ResponseID: "r1", Item: realtime.Item{ID: "fc", Type: "function_call", Status: "completed", CallID: "call_1", Name: "open_document"}})
	d.done("r1", "completed")
	d.take()
	d.wait(89 * time.Second) // a person may think about an approval (row 3.2.17)
	d.never("p:conversation.item.create")
	d.wait(2 * time.Second)
	if m := toClient[*realtime.HovorTool](d); m.CallID != "call_1" || m.Status != "pending" {
		t.Errorf("the page was told %s", jsonOf(m))
	}
	d.want("p:conversation.item.create", "p:response.create")
}
