package conversation

import (
	"slices"
	"time"

	"hovor/signaling/realtime"
)

// clientTruncates is how long a client that plays the audio itself may take to say where it stopped. Stock clients say so
// within a round trip of speech_started; one that never does would leave the model believing that all of it was heard.
const clientTruncates = time.Second

// formats is how the client's audio travels.
func (s *State) formats() Formats {
	a := s.session.Audio // WithDefaults has filled it
	return Formats{Input: a.Input.Format, Output: a.Output.Format}
}

// relay passes an event of the provider on to the client. Over a WebSocket the events that end a spoken answer follow its
// audio, which is given out in real time.
func (st *step) relay(ev realtime.Event, raw []byte) {
	what := ev.EventType()
	if !st.cfg.Socket {
		st.do(ToClientRaw{Type: what, Raw: raw})
		return
	}
	switch ev := ev.(type) {
	case *realtime.OutputAudioBufferStarted, *realtime.OutputAudioBufferStopped, *realtime.OutputAudioBufferCleared, *realtime.ResponseOutputAudioDelta:
		return
	case *realtime.ResponseCreated:
		st.release("", "")
	default:
		if of := st.closes(ev); of != "" && len(st.behind) < maxBehind {
			st.behind = add(st.behind, told{response: of, what: what, raw: raw})
			return
		}
	}
	st.do(ToClientRaw{Type: what, Raw: raw})
}

// closes names the response of which the event ends something, while its audio is still to come.
func (s *State) closes(ev realtime.Event) (response string) {
	switch ev := ev.(type) {
	case *realtime.ResponseOutputAudioDone:
		return s.toSound(ev.ResponseID, ev.ItemID)
	case *realtime.ResponseContentPartDone:
		if ev.Part.Type == realtime.PartAudio {
			return s.toSound(ev.ResponseID, ev.ItemID)
		}
	case *realtime.ResponseOutputItemDone:
		if ev.Item.Type == realtime.ItemMessage {
			return s.toSound(ev.ResponseID, ev.Item.ID)
		}
	case *realtime.ConversationItemDone:
		if ev.Item.Role == realtime.RoleAssistant {
			return s.toSound("", ev.Item.ID)
		}
	case *realtime.ResponseDone:
		return s.toSound(ev.Response.ID, "")
	}
	return ""
}

// toSound names the response that has audio to come and is the one asked for, or holds the item asked for.
func (s *State) toSound(response, item string) string {
	of := func(p playback) bool {
		return p.sounding && (response == "" || p.response == response) && (item == "" || p.item == item)
	}
	if s.play.live && of(s.play) {
		return s.play.response
	}
	if i := slices.IndexFunc(s.later, of); i >= 0 {
		return s.later[i].response
	}
	return ""
}

// release lets the events go that waited behind the audio of a response, "" for any. With a reason the audio was cut, and
// so was, for this client, the response.
func (st *step) release(response, reason string) {
	var kept []told
	for _, t := range st.behind {
		switch {
		case response != "" && t.response != response:
			kept = append(kept, t)
			continue
		case reason != "" && t.what == "response.done":
			t.raw = cancelled(t.raw, reason)
		}
		st.do(ToClientRaw{Type: t.what, Raw: t.raw})
	}
	st.behind = kept
}

// reason of a response that was cut short.
func (c *interruption) reason() string {
	switch c.why {
	case byVoice, byProvider:
		return realtime.ReasonTurnDetected
	case byNobody, byButton, byText, byClient:
	}
	return realtime.ReasonClientCancelled
}

// cutSocket notes that an item was cut in a client that plays by itself: where, it will say.
func (st *step) cutSocket(c interruption, p playback, heard Heard) {
	st.played = addBounded(st.played, playOut{playback: p, sent: heard.Sent, heard: min(heard.Heard, heard.Sent), open: true, at: st.now}, maxPlayed)
	if c.trunc != nil {
		st.resolve(len(st.played)-1, c.trunc)
	}
}

// playedOut notes an item that was given out to its end.
func (st *step) playedOut(p playback, sent time.Duration) {
	if st.cfg.Socket {
		st.played = addBounded(st.played, playOut{playback: p, sent: sent, heard: sent}, maxPlayed)
	}
}

// unheard is the first item that was cut and of which the client has not said what was heard; -1 for none.
func (s *State) unheard() int {
	return slices.IndexFunc(s.played, func(p playOut) bool { return p.open })
}

// socketTruncate is the client's own account of what was heard of an item. It says false for an item that was not spoken here.
func (st *step) socketTruncate(ev *realtime.ConversationItemTruncate) bool {
	if st.play.live && st.play.item == ev.ItemID && st.play.sounding {
		st.interrupt(byClient, st.now)
		st.cut.trunc = ev
		return true
	}
	for i := len(st.played) - 1; i >= 0; i-- {
		if st.played[i].item == ev.ItemID {
			st.resolve(i, ev)
			return true
		}
	}
	return false
}

// resolve closes the account of a cut item: by the client's word, never with more than it was given; without one by ours.
func (st *step) resolve(i int, ev *realtime.ConversationItemTruncate) {
	p := st.played[i]
	heard, id := p.heard, ""
	if ev != nil {
		heard, id = min(msDuration(ev.AudioEndMS), p.sent), ev.EventID
	}
	st.played = slices.Clone(st.played)
	st.played[i].open, st.played[i].heard, st.played[i].sent = false, heard, heard
	if id == "" {
		id = st.own("truncate")
	}
	if after := ms(heard); after > 0 || ev != nil {
		st.up(&realtime.ConversationItemTruncate{EventID: id, ItemID: p.item, ContentIndex: p.content, AudioEndMS: after}, id)
	} else {
		st.up(&realtime.ConversationItemDelete{EventID: id, ItemID: p.item}, id)
	}
	sent := p.sent
	if !p.open {
		sent, heard = 0, heard-p.sent // it was counted as heard to its end
	}
	st.count(Spoke{Response: p.response, Sent: sent, Heard: heard})
	st.account(p.playback, st.played[i].heard, false)
}
