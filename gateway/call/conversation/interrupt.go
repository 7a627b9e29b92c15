package conversation

import (
	"time"

	"hovor/signaling/realtime"
)

// interrupt silences the assistant now. What follows from it waits for what had been heard: wasCut.
func (st *step) interrupt(why cause, onset time.Duration) {
	if st.cut.under {
		return
	}
	st.cut = interruption{under: true, why: why, onset: onset, turn: st.answer}
	st.answer = exchange{}
	st.do(Cut{})
}

// wasCut tells the provider, the client and the thread what an interruption means.
func (st *step) wasCut(heard Heard) {
	c, p := st.cut, st.play
	if !c.under {
		return
	}
	st.cut = interruption{}
	st.play, st.later = playback{}, nil
	if p.audible {
		st.do(AssistantAudible{On: false})
		st.word()
		if c.why == byVoice {
			st.count(Yielded{Took: st.since(c.onset)})
		}
	}
	stops := c.why != byClient || c.trunc == nil && st.cfg.Socket // over WebRTC a client cancels and clears by two events
	if st.gen.stage != idle && !st.gen.cancelled && c.why != byProvider && stops {
		st.gen.cancelled, st.gen.cancelAt = true, st.now
		st.up(&realtime.ResponseCancel{EventID: st.own("cancel"), ResponseID: st.gen.id}, "")
	}
	if st.gen.stage != idle && c.why != byClient {
		st.gen.why = c.why
	}
	after := 0
	if p.live {
		after = st.cutPlayback(c, p, heard)
	}
	st.release("", c.reason())
	next := st.answer // a turn may have taken its place already
	st.answer = c.turn
	st.settle(interrupted, after)
	st.answer = next
}

// cutPlayback clears the provider's output and cuts the item down to what was heard; it gives the heard milliseconds.
func (st *step) cutPlayback(c interruption, p playback, heard Heard) int {
	if c.why != byProvider {
		clear := c.clear
		if clear == "" {
			clear = st.own("output")
		}
		st.up(&realtime.OutputAudioBufferClear{EventID: clear}, "")
	}
	if p.item == "" {
		return 0
	}
	if heard.ItemID != p.item {
		heard = Heard{ItemID: p.item} // nothing of it had been written
	}
	after := ms(min(heard.Heard, heard.Sent))
	if st.cfg.Socket {
		st.cutSocket(c, p, heard)
		return after
	}
	if c.why != byProvider {
		if after > 0 {
			st.up(&realtime.ConversationItemTruncate{EventID: st.own("truncate"), ItemID: p.item, ContentIndex: p.content, AudioEndMS: after}, "")
		} else {
			st.up(&realtime.ConversationItemDelete{EventID: st.own("delete"), ItemID: p.item}, "")
		}
	}
	st.heardAssistant(p, heard.Sent, msDuration(after), false)
	return after
}
