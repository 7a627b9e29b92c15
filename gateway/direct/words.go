package direct

import (
	"time"

	"hovor/gateway/thread"
	"hovor/signaling/realtime"
)

// maxUnplayed bounds the answers that were written and whose playing was not confirmed.
const maxUnplayed = 8

// words keeps what was said, as far as it is certain from beside the call: the person's words, and answers that the provider
// says were played to their end. What was heard of an answer that was cut nobody here knows, so nothing is kept of it.
type words struct {
	thread   *thread.Handle
	call     string
	seq      float64
	places   map[string]float64
	unplayed []answer
}

type answer struct{ response, item, text string }

func (w *words) init(h *thread.Handle, call string) {
	w.thread, w.call, w.places = h, call, make(map[string]float64)
	if h != nil {
		w.seq = h.Base()
	}
}

func (w *words) take(ev realtime.Event) {
	if w.thread == nil {
		return
	}
	switch ev := ev.(type) {
	case *realtime.InputAudioBufferCommitted:
		w.place(ev.ItemID)
	case *realtime.ConversationItemAdded:
		w.place(ev.Item.ID)
	case *realtime.ConversationItemDone:
		if ev.Item.Role == realtime.RoleUser && len(ev.Item.Content) > 0 && ev.Item.Content[0].Type == realtime.ContentInputText {
			w.keep(ev.Item.ID, thread.User, thread.Typed, ev.Item.TextOf())
		}
	case *realtime.ConversationItemInputAudioTranscriptionCompleted:
		w.keep(ev.ItemID, thread.User, thread.Spoken, ev.Transcript)
	case *realtime.ResponseOutputTextDone:
		w.keep(ev.ItemID, thread.Assistant, thread.Typed, ev.Text)
	case *realtime.ResponseOutputAudioTranscriptDone:
		if len(w.unplayed) == maxUnplayed {
			w.unplayed = w.unplayed[1:]
		}
		w.unplayed = append(w.unplayed, answer{ev.ResponseID, ev.ItemID, ev.Transcript})
	case *realtime.OutputAudioBufferStopped:
		var rest []answer
		for _, a := range w.unplayed {
			if a.response == ev.ResponseID {
				w.keep(a.item, thread.Assistant, thread.Spoken, a.text)
			} else {
				rest = append(rest, a)
			}
		}
		w.unplayed = rest
	}
}

// maxPlaces bounds the items whose order is remembered.
const maxPlaces = 4096

func (w *words) place(item string) float64 {
	if at, ok := w.places[item]; ok {
		return at
	}
	w.seq++
	if len(w.places) < maxPlaces {
		w.places[item] = w.seq
	}
	return w.seq
}

func (w *words) keep(item string, role thread.Role, kind thread.Kind, text string) {
	if text == "" || len(text) > thread.MaxText {
		return
	}
	_ = w.thread.Put(thread.Item{ID: item, Seq: w.place(item), Role: role, Kind: kind, Text: thread.Words(text), Complete: true, CallID: w.call,
		At: time.Now()}) // counted by the store
}
