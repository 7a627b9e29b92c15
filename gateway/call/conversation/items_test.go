package conversation

import (
	"strings"
	"testing"
	"time"

	"hovor/signaling/realtime"
	"hovor/vad/turn"
)

// retrieved asks for an item and gives what came back.
func (d *drive) retrieved(id string) realtime.Item {
	d.t.Helper()
	d.take()
	d.client(&realtime.ConversationItemRetrieve{EventID: "get", ItemID: id})
	return toClient[*realtime.ConversationItemRetrieved](d).Item
}

func (d *drive) gone(id string) {
	d.t.Helper()
	d.take()
	d.client(&realtime.ConversationItemRetrieve{EventID: "get", ItemID: id})
	if e := toClient[*realtime.ErrorEvent](d).Error; e.Code != "item_not_found" || e.EventID != "get" {
		d.t.Fatalf("error %s", jsonOf(e))
	}
}

func TestEveryItemCanBeRetrievedWithoutTheProvider(t *testing.T) {
	d := ready(t, nil)
	d.client(&realtime.ConversationItemCreate{Item: realtime.UserText("Show me the plan.")})
	typed := toProvider[*realtime.ConversationItemCreate](d).Item.ID
	if got := d.retrieved(typed); got.TextOf() != "Show me the plan." || got.Role != "user" {
		t.Fatalf("typed %s", jsonOf(got))
	}
	d.speak()
	d.answer("resp_1", "item_a")
	if got := d.retrieved("item_a"); got.TextOf() != "One two three four five six seven eight nine ten eleven twelve." {
		t.Fatalf("while it is spoken %s", jsonOf(got))
	}
	call := realtime.Item{ID: "fc", Type: "function_call", Status: "completed", CallID: "call_1", Name: "open_document", Arguments: `{"id":"welcome"}`}
	d.provider(&realtime.ResponseOutputItemDone{ResponseID: "resp_1", Item: call})
	if got := d.retrieved("fc"); got.Arguments != call.Arguments || got.CallID != "call_1" {
		t.Fatalf("call %s", jsonOf(got))
	}
	d.never("p:conversation.item.retrieve")
	d.heard = 1200 * time.Millisecond
	d.at += 1500 * time.Millisecond
	d.ear(turn.SpeechStarted, true)
	d.ear(turn.Yield, true)
	heard := toClient[*realtime.HovorHeard](d).Text
	d.provider(&realtime.ResponseOutputAudioTranscriptDone{ResponseID: "resp_2", ItemID: "item_b", Transcript: "of another item"})
	d.provider(&realtime.ConversationItemDone{Item: realtime.Item{ID: "item_a", Type: "message", Role: "assistant", Status: "completed",
		Content: []realtime.Content{{Type: "output_audio", Transcript: new(string)}}}})
	got := d.retrieved("item_a")
	if got.TextOf() != heard || got.Status != "incomplete" || heard == "" || !strings.HasPrefix("One two three four five", heard) {
		t.Fatalf("after the cut %s, heard %q", jsonOf(got), heard)
	}
	d.provider(&realtime.ConversationItemDeleted{ItemID: "fc"})
	d.gone("fc")
}

func TestAnUnknownItemIsAskedOfTheProvider(t *testing.T) {
	d := ready(t, nil)
	d.client(&realtime.ConversationItemRetrieve{ItemID: "item_old"})
	d.want("p:conversation.item.retrieve")
	d = newDrive(t, nil)
	d.do(ChannelOpened{})
	d.gone("item_old") // nobody to ask yet
}

func TestRow6_24_IDsAreNeverUsedTwice(t *testing.T) {
	d := ready(t, nil)
	item := realtime.UserText("one")
	item.ID = "item_mine"
	d.client(&realtime.ConversationItemCreate{Item: item})
	d.take()
	refused := func() {
		t.Helper()
		d.client(&realtime.ConversationItemCreate{EventID: "again", Item: item})
		if e := toClient[*realtime.ErrorEvent](d).Error; e.Param != "item.id" || e.EventID != "again" {
			t.Fatalf("error %s", jsonOf(e))
		}
		d.never("p:conversation.item.create")
		d.take()
	}
	refused()
	d.provider(&realtime.ConversationItemDeleted{ItemID: "item_mine"})
	d.take()
	refused()
	seen := map[string]bool{}
	for range 40 {
		d.speak()
		ours := toProvider[*realtime.ResponseCreate](d).EventID
		if seen[ours] {
			t.Fatalf("event id %s twice", ours)
		}
		seen[ours] = true
		d.answer("resp_"+ours, "item_"+ours)
		id := toClient[*realtime.InputAudioBufferSpeechStarted](d).ItemID
		if seen[id] {
			t.Fatalf("item %s twice", id)
		}
		seen[id] = true
		d.ear(turn.SpeechStarted, true)
		d.ear(turn.Yield, true)
		d.ear(turn.Dismissed, true)
		d.done("resp_"+ours, "cancelled")
		d.take()
	}
}

func TestRow6_19_OrderIsByItemAndNotByArrival(t *testing.T) {
	d := ready(t, nil)
	d.speak()
	d.provider(&realtime.InputAudioBufferCommitted{ItemID: "theirs_1"})
	ours := toClient[*realtime.InputAudioBufferCommitted](d).ItemID
	d.answer("resp_1", "item_a")
	d.done("resp_1", "completed")
	d.media.Heard = Heard{ItemID: "item_a", Sent: 4 * time.Second, Heard: 4 * time.Second}
	d.provider(&realtime.OutputAudioBufferStopped{ResponseID: "resp_1"})
	d.provider(&realtime.ConversationItemInputAudioTranscriptionCompleted{ItemID: "theirs_1", Transcript: "what did I say"}) // late
	seq := map[string]float64{}
	for _, e := range d.all {
		if k, ok := e.(Keep); ok {
			seq[k.Item.ID] = k.Item.Seq
		}
	}
	if len(seq) != 2 || seq[ours] >= seq["item_a"] {
		t.Fatalf("the thread's order: %v", seq)
	}
}
