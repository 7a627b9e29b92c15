package conversation

import (
	"time"

	"hovor/signaling/realtime"
)

func (st *step) clientLeft(failed bool) {
	switch {
	case !st.channel && failed:
		st.end(SetupFailed, "")
	case failed:
		st.end(ClientFailed, "")
	default:
		st.end(ClientGone, "")
	}
}

// providerGone: without a provider there is no conversation. The thread stays; a new call continues it.
func (st *step) providerGone(h ProviderGone) {
	reason := ProviderLost
	if !st.ready {
		reason = ProviderUnavailable
	}
	st.count(ProviderFault{Class: h.Class})
	st.ready = false
	message := h.Sentence
	if message == "" {
		message = reason.Sentence()
	}
	st.doom = doom{near: true, at: st.now, reason: reason, class: h.Class, words: message}
	if st.channel {
		st.fall()
	}
}

// lastWords is how long a call without a provider waits for a client that is about to connect.
const lastWords = 5 * time.Second

// fall ends a call that has lost its provider, now that the client can be told.
func (st *step) fall() {
	d := st.doom
	st.tell(&realtime.HovorProvider{State: "lost", Reason: d.class, Message: d.words})
	st.end(d.reason, d.words)
}

// end closes the conversation: what was heard of the last item is kept, the client is told why, both legs are closed.
func (st *step) end(reason EndReason, message string) {
	if st.ended {
		return
	}
	if p := st.play; p.live && p.item != "" && p.sounding {
		heard := st.media.Heard
		if heard.ItemID != p.item {
			heard = Heard{}
		}
		st.heardAssistant(p, min(heard.Heard, heard.Sent), false)
		st.settle(interrupted, ms(min(heard.Heard, heard.Sent)))
	}
	st.settle(unanswered, 0)
	st.play, st.later, st.gen, st.queued = playback{}, nil, generation{}, request{}
	st.floor, st.turn, st.barrier, st.cut = free, exchange{}, barrier{}, interruption{}
	st.ended, st.reason = true, reason
	if message == "" {
		message = reason.Sentence()
	}
	st.tellPhase()
	st.tell(&realtime.HovorEnded{Reason: string(reason), Message: message})
	st.do(Close{reason})
}

// alarm is one deadline and what to do when it has passed. Its due time may move with the media: what then is not due yet
// is looked at again later.
type alarm struct {
	due time.Duration
	do  func(*step)
}

// alarms are the deadlines that stand. They are few, so they are made anew at each step rather than kept.
func (s *State) alarms() []alarm {
	if s.ended {
		return nil
	}
	var as []alarm
	set := func(limit, from time.Duration, do func(*step)) {
		if limit > 0 {
			as = append(as, alarm{from + limit, do})
		}
	}
	l := s.cfg.Limits
	if s.doom.near {
		set(lastWords, s.doom.at, (*step).fall)
	}
	set(l.Duration, 0, func(st *step) { st.end(MaxDuration, "") })
	if !s.channel {
		set(l.Setup, 0, func(st *step) { st.end(SetupTimeout, "") })
	} else if s.floor == free && s.gen.stage == idle && !s.play.live {
		set(l.Idle, s.active, func(st *step) { st.end(Idle, "") })
	}
	switch {
	case s.gen.stage == idle:
	case s.gen.cancelled:
		set(l.Cancel, s.gen.cancelAt, func(st *step) { st.giveUp(realtime.StatusCancelled, cancelReason(st.gen.why)) })
	case s.gen.stage == requested && s.ready:
		set(l.Response, s.gen.since, func(st *step) { st.giveUp(realtime.StatusFailed, "") })
	case s.gen.stage == running:
		set(l.Stall, max(s.gen.heardFrom, s.media.ProviderPacket), (*step).stalled)
	}
	if s.play.live && s.gen.stage == idle {
		set(silence, max(s.gen.heardFrom, s.media.ProviderPacket, s.active), (*step).fellSilent)
	}
	if s.barrier.n != 0 {
		set(l.Barrier, s.barrier.at, func(st *step) { st.flushed(st.barrier.n) })
	}
	if s.floor == holding {
		set(maxHold, s.active, func(st *step) { st.floor, st.turn = free, exchange{} })
	}
	if len(s.calls) > 0 {
		set(l.ToolResult, s.calls[0].at, (*step).toolLost)
	}
	if at := s.hygieneAt(); at > 0 {
		as = append(as, alarm{at, func(st *step) { st.clearInput(st.own("clear"), true) }})
	}
	return as
}

// silence is how long a response that is done may give no audio before its playback counts as over although the provider
// does not say so.
const silence = 3 * time.Second

func cancelReason(why cause) string {
	if why == byVoice {
		return realtime.ReasonTurnDetected
	}
	return realtime.ReasonClientCancelled
}

// stalled: a response runs and nothing comes of it.
func (st *step) stalled() {
	st.up(&realtime.ResponseCancel{EventID: st.own("cancel"), ResponseID: st.gen.id}, "")
	st.giveUp(realtime.StatusFailed, "")
}

// fellSilent: the audio of a finished response dried up without output_audio_buffer.stopped; the client is told in its place.
func (st *step) fellSilent() {
	if st.play.audible {
		st.tell(&realtime.OutputAudioBufferStopped{ResponseID: st.play.response})
	}
	st.finish(st.play.audible)
}

// toolLost: nobody answered a function call; the provider is told that its outcome is not known, so that it does not wait for ever.
func (st *step) toolLost() {
	c := st.calls[0]
	item := replaceOutput(realtime.Item{Type: realtime.ItemFunctionCallOutput, CallID: c.id}, "pending", "Nobody reported what became of this call.")
	st.answerCall(c.id)
	st.up(&realtime.ConversationItemCreate{EventID: st.own("item"), Item: item}, "")
	if len(st.calls) == 0 {
		st.ask(request{waiting: true, own: true, event: &realtime.ResponseCreate{EventID: st.own("create")}})
	}
}

// watch acts on the deadlines that have passed.
func (st *step) watch() {
	for _, a := range st.alarms() {
		if a.due <= st.now && !st.ended {
			a.do(st)
			return // what stands now may be different; Deadline asks for another look at once if need be
		}
	}
}

// Deadline is when Step wants a Tick, in call time.
func (s State) Deadline() (time.Duration, bool) {
	var first time.Duration
	as := s.alarms()
	for i, a := range as {
		if i == 0 || a.due < first {
			first = a.due
		}
	}
	return first, len(as) > 0
}
