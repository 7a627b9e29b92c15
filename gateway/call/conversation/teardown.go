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
		st.heardAssistant(p, heard.Sent, min(heard.Heard, heard.Sent), false)
		st.settle(interrupted, ms(min(heard.Heard, heard.Sent)))
	}
	st.settle(unanswered, 0)
	st.release("", "")
	for i := st.unheard(); i >= 0; i = st.unheard() {
		st.resolve(i, nil)
	}
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
	due  time.Duration
	ring func(*step)
}

// alarms are the deadlines that stand. They are few, so they are made anew at each step rather than kept.
type alarms struct {
	list [12]alarm
	n    int
}

// set adds a deadline; a limit of zero or less is off.
func (as *alarms) set(limit, from time.Duration, ring func(*step)) {
	if limit > 0 {
		as.list[as.n] = alarm{from + limit, ring}
		as.n++
	}
}

// How long before its end a call says that it will end.
const (
	warnDuration = time.Minute
	warnIdle     = 30 * time.Second
)

func (s *State) alarms() (as alarms) {
	if s.ended {
		return as
	}
	l := &s.cfg.Limits
	if s.doom.near {
		as.set(lastWords, s.doom.at, (*step).fall)
	}
	as.set(l.Duration, 0, func(st *step) { st.end(MaxDuration, "") })
	if s.channel && !s.warned && l.Duration > 2*warnDuration {
		as.set(l.Duration-warnDuration, 0, func(st *step) {
			st.warned = true
			st.tell(&realtime.HovorEnding{Reason: string(MaxDuration), Message: "This call will have reached the longest time a call may take. A new call continues it.",
				InMS: ms(l.Duration - st.now)})
		})
	}
	if !s.channel {
		as.set(l.Setup, 0, func(st *step) { st.end(SetupTimeout, "") })
	} else if s.floor == free && s.gen.stage == idle && !s.play.live {
		as.set(l.Idle, s.active, func(st *step) { st.end(Idle, "") })
		if s.warnedAt < s.active && l.Idle > 2*warnIdle {
			as.set(l.Idle-warnIdle, s.active, func(st *step) {
				st.warnedAt = st.active
				st.tell(&realtime.HovorEnding{Reason: string(Idle), Message: "Nobody has said anything for a while. Say or type something to go on.",
					InMS: ms(l.Idle - st.since(st.active))})
			})
		}
	}
	switch {
	case s.gen.stage == idle:
		if s.play.live {
			as.set(silence, max(s.gen.heardFrom, s.media.ProviderPacket, s.active), (*step).fellSilent)
		}
	case s.gen.cancelled:
		as.set(l.Cancel, s.gen.cancelAt, func(st *step) { st.giveUp(realtime.StatusCancelled, cancelReason(st.gen.why)) })
	case s.gen.stage == requested && s.ready:
		as.set(l.Response, s.gen.since, func(st *step) { st.giveUp(realtime.StatusFailed, "") })
	case s.gen.stage == running:
		as.set(l.Stall, max(s.gen.heardFrom, s.media.ProviderPacket), (*step).stalled)
	}
	if s.renewAt > 0 && !s.renewOn && s.ready {
		if s.quiet() {
			as.set(max(s.renewAt, s.active+renewQuiet), 0, (*step).renew)
		} else if !s.renewTold {
			as.set(s.renewAt, 0, (*step).renewLate)
		}
	}
	if s.barrier.n != 0 {
		as.set(l.Barrier, s.barrier.at+s.barrier.backlog, func(st *step) { st.flushed(st.barrier.n) })
	}
	if i := s.unheard(); i >= 0 {
		as.set(clientTruncates, s.played[i].at, func(st *step) { st.resolve(i, nil) })
	}
	if s.floor == holding {
		as.set(maxHold, s.active, func(st *step) { st.floor, st.turn = free, exchange{} })
	}
	if len(s.calls) > 0 {
		as.set(l.ToolResult, s.calls[0].at, (*step).toolLost)
	}
	as.set(s.hygieneAt(), 0, func(st *step) { st.clearInput(st.own("clear"), true) })
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
	if c.name != "" {
		st.tell(&realtime.HovorTool{CallID: c.id, Name: c.name, Status: "pending"})
	}
	st.up(&realtime.ConversationItemCreate{EventID: st.own("item"), Item: item}, "")
	if len(st.calls) == 0 {
		st.ask(request{waiting: true, own: true, event: &realtime.ResponseCreate{EventID: st.own("create")}})
	}
}

// watch acts on the first deadline that has passed. What stands then may be different; Deadline asks for another look at
// once if need be.
func (st *step) watch() {
	as := st.alarms()
	for i := range as.n {
		if as.list[i].due <= st.now {
			as.list[i].ring(st)
			return
		}
	}
}

// Deadline is when Step wants a Tick, in call time.
func (s State) Deadline() (first time.Duration, ok bool) {
	as := s.alarms()
	for i := range as.n {
		if i == 0 || as.list[i].due < first {
			first = as.list[i].due
		}
	}
	return first, as.n > 0
}
