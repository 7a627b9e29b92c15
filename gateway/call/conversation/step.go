package conversation

import (
	"time"

	"hovor/signaling/realtime"
)

// step is one transition in the making: the new state and its effects.
type step struct {
	State
	out  []Effect
	from Party // whose event this step is about
}

// Step is the transition: what happened gives the next state and what to do, in order. It does not change s.
func Step(s State, in Input) (State, []Effect) {
	st := &step{State: s}
	if in.At > st.now {
		st.now = in.At
	}
	st.media = in.Media
	if st.ended {
		return st.State, nil
	}
	st.dispatch(in.What)
	if !st.ended {
		st.watch()
		st.pump()
		st.tellPhase()
	}
	return st.State, st.out
}

func (st *step) dispatch(what Happening) {
	switch h := what.(type) {
	case ChannelOpened:
		st.channelOpened()
	case ProviderReady:
		st.providerReady()
	case ClientEvent:
		st.clientEvent(h)
	case ClientRefused:
		st.from = h.From
		st.refuse(h.Err)
	case ClientFlooded:
		st.flooded(h.Dropped)
	case ProviderEvent:
		st.providerEvent(h)
	case ProviderNoticed:
		st.noticed(h)
	case RenewReady:
		st.renewed()
	case RenewFailed:
		st.renewFailed()
	case EarEvent:
		st.earEvent(h)
	case FirstAudio:
		st.firstAudio(h)
	case Flushed:
		st.flushed(h.Barrier)
	case WasCut:
		st.wasCut(h.Heard)
	case ScreenAsked:
		st.screen(h.Request)
	case ToolMoved:
		p := h.Progress
		st.tell(&p)
	case ClientLeft:
		st.clientLeft(h.Failed)
	case ProviderGone:
		st.providerGone(h)
	case EndAsked:
		st.end(h.Reason, h.Message)
	case Tick:
	}
}

func (st *step) do(e Effect)            { st.out = append(st.out, e) }
func (st *step) count(o Observation)    { st.do(Count{o}) }
func (st *step) tell(ev realtime.Event) { st.do(ToClient{Event: ev}) }
func (st *step) word()                  { st.active = st.now }
func (st *step) since(t time.Duration) time.Duration {
	if t > st.now {
		return 0
	}
	return st.now - t
}

// up sends an event upstream, or keeps it until there is an upstream. eventID is the client's that caused it, for the error.
func (st *step) up(ev realtime.Event, eventID string) bool {
	if st.from != Everybody && eventID != "" {
		st.asked = addBounded(st.asked, sender{eventID: eventID, from: st.from}, maxAsked)
	}
	if _, clear := ev.(*realtime.InputAudioBufferClear); !clear {
		st.renewWord = never // a second leg that is being opened does not know of it
	}
	if st.ready {
		st.do(ToProvider{ev})
		return true
	}
	if len(st.waiting) >= maxWaiting {
		st.refuse(&realtime.Error{Type: realtime.TypeServer, Code: realtime.CodeUnavailable, EventID: eventID,
			Message: "The voice service is not connected yet and too much is waiting for it. Send this again later."})
		return false
	}
	st.waiting = add(st.waiting, ev)
	return true
}

// own is an event id for something that we ask for ourselves.
func (st *step) own(purpose string) string {
	return st.mint(ours + purpose)
}

// phaseNow is what the page should show.
func (s *State) phaseNow() (phase, turn string) {
	switch {
	case s.ended:
		return "ended", ""
	case !s.channel || !s.ready:
		return "connecting", ""
	case s.renewing:
		return "reconnecting", ""
	case s.floor != free && (s.turn.told || s.floor == holding):
		return "hearing", s.turn.id
	case s.play.audible:
		return "speaking", s.answer.id
	case s.gen.stage != idle, s.queued.waiting, len(s.calls) > 0, s.barrier.n != 0:
		return "thinking", s.answer.id
	}
	return "listening", ""
}

func (st *step) tellPhase() {
	phase, turn := st.phaseNow()
	if phase == st.phase && turn == st.phaseTurn {
		return
	}
	st.phase, st.phaseTurn = phase, turn
	if phase != "connecting" {
		st.tell(&realtime.HovorState{State: phase, TurnID: turn})
	}
}

// Snapshot is where the call stands.
func (s State) Snapshot() Snapshot {
	phase, _ := s.phaseNow()
	mode := modeOpen
	if s.manual() {
		mode = modePTT
	}
	return Snapshot{CallID: s.cfg.CallID, ThreadID: s.cfg.ThreadID, Phase: phase, Ready: s.ready, Channel: s.channel,
		Mode: mode, Turns: s.turns, Ended: s.ended, Reason: s.reason, SinceTurn: s.now - s.active}
}
