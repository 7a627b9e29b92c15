package turn

import "time"

// holdEvidence is the probability from which one window within a hold counts as somebody having spoken. It is low: a
// whisper into a held button is meant, and a wrong answer to silence costs less than none to a whisper.
const holdEvidence = 0.2

// SetMode changes the mode. An open turn is closed as if a button had been released.
func (e *Ear) SetMode(m Mode) []Event {
	e.out = e.out[:0]
	t := &e.turn
	if t.mode == m {
		return nil
	}
	e.end(Released)
	t.mode = m
	t.closed, t.loud = e.Pos(), 0
	return e.out
}

// Press begins a hold: the assistant must yield, and until Release no pause ends the turn. A turn that is open
// already goes on as a held one. In OpenMic mode a press works just the same.
func (e *Ear) Press() []Event {
	e.out = e.out[:0]
	t, now := &e.turn, e.Pos()
	if t.held {
		return nil
	}
	switch t.phase {
	case idle:
		e.open(now, e.config.PreRoll)
		e.emit(Event{Kind: SpeechStarted, At: now, Start: now, From: t.from, Overlap: t.overlap, Held: true})
	case userPaused:
		e.resume(now)
		e.emit(Event{Kind: Resumed, At: now, Start: now, From: t.from, Overlap: t.overlap, Held: true})
	}
	t.held, t.press = true, now
	if t.assistant && !t.yielded {
		e.yield(now)
	}
	return e.out
}

// Release ends a hold. Call it when everything that had arrived by the release was written. The turn ends here and
// now, or is dismissed when nothing in it sounded like speech. Without a hold it does nothing.
func (e *Ear) Release() []Event {
	e.out = e.out[:0]
	if e.turn.held {
		e.end(Released)
	}
	return e.out
}

// Drop dismisses the open turn, if any, and ends a hold: somebody else took the audio, as a client does that commits
// or clears its input buffer itself. Speech that goes on opens a new turn.
func (e *Ear) Drop() []Event {
	e.out = e.out[:0]
	t, now := &e.turn, e.Pos()
	switch t.phase {
	case idle:
		return nil
	case userSpeaking:
		e.pause(now, now)
	}
	e.close(Dismissed, Dropped, 0, now)
	return e.out
}

// watchHold ends a hold whose release was lost.
func (e *Ear) watchHold(now time.Duration) {
	if e.turn.held && now-e.turn.press >= e.config.MaxHold {
		e.end(Timeout)
	}
}

// end closes the open turn, if any, at the hand of the person or the watchdog.
func (e *Ear) end(r Reason) {
	t, now := &e.turn, e.Pos()
	if t.phase == idle {
		return
	}
	if t.phase == userSpeaking {
		e.pause(now, now)
	}
	spoken := t.evidence > t.from && (t.solid || t.held)
	if spoken {
		e.close(EndOfTurn, r, 1, now)
	} else {
		e.close(Dismissed, r, 0, now)
	}
}
