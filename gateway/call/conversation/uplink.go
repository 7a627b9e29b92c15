package conversation

import (
	"time"

	"hovor/signaling/realtime"
	"hovor/vad/turn"
)

// minCommit is the least audio that a client may commit (Realtime protocol: input_audio_buffer_commit_empty).
const minCommit = 100 * time.Millisecond

// maxHold is when a push-to-talk button counts as forgotten.
const maxHold = 2 * time.Minute

// lateSpeech is how much of a turn that began before both sides were there must come after to be answered.
const lateSpeech = 300 * time.Millisecond

// quiet is how long nothing may have sounded like speech before the provider's input buffer is emptied.
const quiet = 500 * time.Millisecond

func ms(d time.Duration) int { return int(d / time.Millisecond) }

// openTurn begins a turn of the person.
func (st *step) openTurn(mode string) {
	st.turns++
	st.turn = exchange{open: true, id: st.mint("turn"), mode: mode}
	if mode != modeText {
		st.turn.item = st.mint("item")
	}
	st.word()
}

// earEvent is what our ear noticed; it counts only while the ear finds the turns and there is somebody to tell.
func (st *step) earEvent(h EarEvent) {
	e := h.Event
	if !st.hears() || !st.ready || !st.channel {
		st.early = e.Kind == turn.SpeechStarted || st.early && e.Kind != turn.EndOfTurn && e.Kind != turn.Dismissed
		return
	}
	switch e.Kind {
	case turn.SpeechStarted:
		st.speechStarted(h)
	case turn.SpeechStopped:
		if st.floor == speaking {
			st.floor = paused
		}
	case turn.Resumed:
		if st.floor == paused {
			st.floor = speaking
		}
	case turn.Yield:
		st.yield(h)
	case turn.EndOfTurn:
		st.endOfTurn(h)
	case turn.Dismissed:
		st.dismissed(h)
	}
}

// busy: the assistant is making an answer, or can still be heard.
func (s *State) busy() bool { return s.gen.stage != idle || s.play.live }

func (st *step) speechStarted(h EarEvent) {
	if st.floor != free {
		return
	}
	st.early = false
	st.openTurn(modeOpen)
	st.turn.start = h.Event.Start
	st.floor = speaking
	switch {
	case !st.interrupts() || !st.busy():
		st.tellSpeech()
	case st.play.audible || h.Event.Overlap:
		// A sound over the assistant. Whether it is an interruption the ear will say: Yield, or Dismissed.
	default:
		st.interrupt(byVoice, h.Onset) // nothing is heard yet: the person goes on, the answer is moot
		st.tellSpeech()
	}
}

// tellSpeech tells the client that the person speaks.
func (st *step) tellSpeech() {
	if st.turn.told {
		return
	}
	st.turn.told = true
	st.tell(&realtime.InputAudioBufferSpeechStarted{AudioStartMS: ms(st.turn.start), ItemID: st.turn.item})
}

func (st *step) yield(h EarEvent) {
	if st.floor == free {
		st.openTurn(modeOpen)
		st.turn.start = h.Event.Start
		st.floor = speaking
	}
	if !st.interrupts() {
		return
	}
	st.word()
	if st.busy() {
		st.interrupt(byVoice, h.Onset)
	}
	st.tellSpeech()
}

// endOfTurn hands the turn to the provider and asks for an answer.
func (st *step) endOfTurn(h EarEvent) {
	if st.floor == free {
		early := st.early
		st.early = false
		if !early || h.SpeechEnd < st.openAt+lateSpeech {
			return // it was committed by the client, or the provider heard none of it
		}
		st.openTurn(modeOpen) // began before both sides were there and went on after
		st.turn.start = h.Event.Start
	}
	st.floor = free
	st.turn.speechEnd = h.SpeechEnd
	if st.busy() && st.interrupts() {
		st.interrupt(byVoice, h.Onset)
	}
	st.tellSpeech()
	st.tell(&realtime.InputAudioBufferSpeechStopped{AudioEndMS: ms(h.Event.End), ItemID: st.turn.item})
	st.commit(&realtime.InputAudioBufferCommit{EventID: st.own("commit")})
	if st.creates() {
		st.typed = false
		st.ask(request{waiting: true, own: true, event: &realtime.ResponseCreate{EventID: st.own("create")}})
	}
}

// commit hands what was said to the provider; the turn waits for its answer now.
func (st *step) commit(ev *realtime.InputAudioBufferCommit) {
	st.up(ev, ev.EventID)
	st.commits = addBounded(st.commits, pending{eventID: ev.EventID, item: st.turn.item}, maxWaiting)
	st.cleared, st.clearedAt, st.early = st.media.Received, st.now, false
	st.turn.committed = st.now
	st.stage("endpointing", st.turn.mode, st.since(st.turn.speechEnd))
	st.take(st.turn)
	st.word()
}

// take makes x the turn that is being answered; one that was waiting for its answer has none.
func (st *step) take(x exchange) {
	st.settle(unanswered, 0) // unless it was reported as answered
	st.answer = x
	st.turn = exchange{}
}

func (st *step) stage(name, mode string, d time.Duration) {
	st.count(TurnStage{Stage: name, Mode: mode, Took: max(d, 0)})
}

// dismissed: it was nothing to answer. The provider forgets the sound.
func (st *step) dismissed(h EarEvent) {
	st.early = false
	if st.floor == free {
		return
	}
	if st.turn.told {
		st.tell(&realtime.InputAudioBufferSpeechStopped{AudioEndMS: ms(h.Event.End), ItemID: st.turn.item})
	}
	st.floor, st.turn = free, exchange{}
	st.clearInput(st.own("clear"), true)
}

// clearInput empties the provider's input buffer.
func (st *step) clearInput(eventID string, own bool) {
	if !st.up(&realtime.InputAudioBufferClear{EventID: eventID}, eventID) {
		return
	}
	st.clears = addBounded(st.clears, pending{eventID: eventID, own: own}, maxWaiting)
	st.cleared, st.clearedAt = st.media.Received, st.now
}

// hygieneAt is when the silence in the provider's input buffer should go; 0 = not to be thought of now.
func (s *State) hygieneAt() time.Duration {
	if !s.hears() || !s.ready || s.floor != free || s.cfg.Limits.BufferClear < 0 {
		return 0
	}
	return max(s.clearedAt+s.cfg.Limits.BufferClear, s.media.PossibleSpeech+quiet)
}

// clientClear is the client's input_audio_buffer.clear; in manual mode it is the press of the button.
func (st *step) clientClear(ev *realtime.InputAudioBufferClear) {
	if st.manual() {
		if st.busy() {
			st.interrupt(byButton, st.now)
		}
		st.floor = free
		st.openTurn(modePTT)
		st.floor = holding
	}
	st.clearInput(ev.EventID, false)
}

// clientCommit is the client's input_audio_buffer.commit; in manual mode it is the release of the button. What had arrived
// by now is heard first: audio and events travel on different streams.
func (st *step) clientCommit(ev *realtime.InputAudioBufferCommit) {
	if !st.ready {
		st.refuse(&realtime.Error{Type: realtime.TypeServer, Code: realtime.CodeUnavailable, EventID: ev.EventID,
			Message: "The voice service is not connected yet and has heard nothing. Try again in a moment."})
		return
	}
	if st.media.Received-st.cleared < minCommit {
		if st.manual() {
			st.floor, st.turn = free, exchange{}
		}
		st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: "input_audio_buffer_commit_empty", EventID: ev.EventID,
			Message: "There is too little audio to commit: at least 100 ms are needed. Hold the button longer."})
		return
	}
	if !st.turn.open {
		mode := modeOpen
		if st.manual() {
			mode = modePTT
		}
		st.openTurn(mode)
	}
	st.turn.speechEnd = st.now
	st.minted++
	st.barrier = barrier{n: st.minted, at: st.now, eventID: ev.EventID, turn: st.turn, backlog: st.media.Backlog}
	st.floor, st.turn = free, exchange{}
	if !st.cfg.Ear && !st.cfg.Socket {
		st.flushed(st.barrier.n)
		return
	}
	st.do(Flush{Barrier: st.barrier.n})
}

// flushed lets a push-to-talk commit go, and what the client sent behind it.
func (st *step) flushed(n uint64) {
	if n == 0 || n != st.barrier.n {
		return
	}
	b := st.barrier
	st.barrier = barrier{}
	next := st.turn // the person may be making another already
	st.turn = b.turn
	st.commit(&realtime.InputAudioBufferCommit{EventID: b.eventID})
	st.turn = next
	for i, ev := range b.held {
		if st.barrier.n != 0 { // another commit among them
			st.barrier.held = append(st.barrier.held, b.held[i:]...)
			return
		}
		st.clientEvent(ev)
		if st.ended {
			return
		}
	}
}
