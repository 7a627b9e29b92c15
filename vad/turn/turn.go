package turn

import "time"

// phase is where a turn stands. An open turn is either of the last two.
type phase int

const (
	idle phase = iota
	userSpeaking
	userPaused
)

// turn is the layer that knows whose turn it is.
type turn struct {
	mode          Mode
	assistant     bool          // the person hears the assistant
	assistantFrom time.Duration // since when

	phase     phase
	start     time.Duration // onset or press
	from      time.Duration // first audio of the turn
	lastOnset time.Duration // of the last stretch of speech
	end       time.Duration // of the last stretch of speech
	overlap   bool          // the stretch of speech overlaps the assistant
	yielded   bool          // the assistant was told, for this stretch
	solid     bool          // some stretch was more than a sound over the assistant

	pauses       int
	longestPause time.Duration

	left  float64       // of the pause: probability that the turn is not over
	score time.Duration // of the pause: silence at which it is judged next

	held  bool
	press time.Duration

	closed   time.Duration // when the last turn was closed or the mode changed; no audio before it is used again
	loud     time.Duration // speech since then
	evidence time.Duration // end of the last window that might be speech
}

// lateOpen is how long speech that began within a turn already closed, or while only the button counted, must go on
// to open a turn of its own. Shorter, it is the tail of what was said.
const lateOpen = 320 * time.Millisecond

func (e *Ear) emit(v Event) { e.out = append(e.out, v) }

// listening says that speech matters: the microphone is open, or the button is down.
func (t *turn) listening() bool { return t.mode == OpenMic || t.held }

func (e *Ear) speechStarted(now time.Duration) {
	t, s := &e.turn, &e.physical
	switch {
	case !t.listening() || t.held:
		return
	case t.phase == idle:
		e.open(s.onset, e.config.PrefixPadding)
		e.emit(Event{Kind: SpeechStarted, At: now, Start: t.start, From: t.from, Probability: s.mean(), Overlap: t.overlap})
	case t.phase == userPaused:
		e.resume(s.onset)
		e.emit(Event{Kind: Resumed, At: now, Start: t.lastOnset, From: t.from, Probability: s.mean(), Overlap: t.overlap})
	}
}

// open begins a turn at start, with as much audio before it as padding says and no other turn had.
func (e *Ear) open(start, padding time.Duration) {
	t := &e.turn
	start = max(start, t.closed)
	t.phase = userSpeaking
	t.start, t.lastOnset, t.from = start, start, max(start-padding, t.closed)
	t.pauses, t.longestPause = 0, 0
	t.overlap, t.yielded = t.assistant, false
	t.solid = !t.assistant
}

func (e *Ear) resume(onset time.Duration) {
	t := &e.turn
	t.phase = userSpeaking
	t.pauses++
	t.longestPause = max(t.longestPause, onset-t.end)
	t.lastOnset = max(onset, t.end)
	t.overlap, t.yielded = t.assistant, false
	t.solid = t.solid || !t.assistant
}

// mayOpenLate opens a turn for speech that goes on although its turn was closed, or began while nobody listened.
func (e *Ear) mayOpenLate(now time.Duration) {
	t, s := &e.turn, &e.physical
	if t.phase != idle || !s.speaking || !t.listening() || t.loud < lateOpen {
		return
	}
	e.open(s.onset, 0)
	e.emit(Event{Kind: SpeechStarted, At: now, Start: t.start, From: t.from, Probability: s.mean(), Overlap: t.overlap})
}

func (e *Ear) speechStopped(now time.Duration) {
	t := &e.turn
	if t.phase != userSpeaking || t.held {
		return
	}
	e.pause(e.physical.end, now)
	if !t.assistant {
		t.solid = true // what the person said when the assistant was through counts
	}
	if !t.solid {
		e.close(Dismissed, TooShort, 0, now)
	}
}

// pause ends the stretch of speech.
func (e *Ear) pause(end, now time.Duration) {
	t := &e.turn
	t.phase = userPaused
	t.end = max(end, t.lastOnset)
	t.left, t.score = 1, e.config.ScoreFrom
	e.emit(Event{Kind: SpeechStopped, At: now, Start: t.start, End: t.end, From: t.from, Overlap: t.overlap, Held: t.held})
}

// close ends the turn, which is paused.
func (e *Ear) close(k Kind, r Reason, p float64, now time.Duration) {
	t := &e.turn
	e.emit(Event{
		Kind: k, Reason: r, At: now, Start: t.start, End: t.end, From: t.from,
		Probability: float32(p), Overlap: t.overlap, Held: t.held,
	})
	t.phase, t.held = idle, false
	t.closed, t.loud = max(t.end, t.closed), 0
	if r == Released || r == Dropped {
		t.closed = now
	}
}

// judgePause scores the pause at every step that silence has reached, and ends the turn when it is over.
func (e *Ear) judgePause(now time.Duration) {
	t, c := &e.turn, &e.config
	if t.phase != userPaused || t.held || e.physical.sounding() {
		return
	}
	silence := now - t.end
	if c.SilenceDuration > 0 {
		if silence >= c.SilenceDuration {
			e.close(EndOfTurn, Silence, 1, now)
		}
		return
	}
	for ; t.score <= silence && t.score <= c.MaxSilence; t.score += c.ScoreEvery {
		h := c.Policy.Hazard(PauseFeatures{
			Silence: t.score, Turn: t.end - t.start, Segment: t.end - t.lastOnset,
			Pauses: t.pauses, LongestPause: t.longestPause,
		})
		if h > 0 { // not for NaN
			t.left *= 1 - min(h, 1)
		}
		if 1-t.left >= c.EndThreshold {
			e.close(EndOfTurn, Silence, 1-t.left, now)
			return
		}
	}
	if silence >= c.MaxSilence {
		e.close(EndOfTurn, Timeout, 1-t.left, now)
	}
}
