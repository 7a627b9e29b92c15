package turn

import (
	"time"

	"hovor/vad"
)

// Mode says who decides when a turn begins and ends.
type Mode int

const (
	// OpenMic leaves it to the ear.
	OpenMic Mode = iota
	// PushToTalk leaves it to the button; the ear only measures.
	PushToTalk
)

// lagging is a detector that knows how late it is: time from a true onset, and from a true end, to the start of the
// window that shows it. A detector that does not say is taken to be on time.
type lagging interface {
	Lag() (onset, offset time.Duration)
}

// Ear is one participant's ear. Not safe for concurrent use.
type Ear struct {
	detector vad.Detector
	config   Config
	level    level

	samples int64   // written
	buffer  []int16 // the window being filled
	filled  int

	physical physical
	turn     turn
	out      []Event // reused
}

// New returns an ear that listens through d, which it owns from now on.
func New(d vad.Detector, c Config) *Ear {
	e := &Ear{
		detector: d,
		config:   c.withDefaults(),
		buffer:   make([]int16, d.WindowSamples()),
		out:      make([]Event, 0, 16),
	}
	if l, ok := d.(lagging); ok {
		e.physical.onLag, e.physical.offLag = l.Lag()
	}
	return e
}

// Configure changes the configuration from now on; what was heard so far stays.
func (e *Ear) Configure(c Config) { e.config = c.withDefaults() }

// Write hears the next consecutive audio at 16 kHz, usually 20 ms; a missing frame is written as zeros. The returned
// slice is valid until the next call of any method.
func (e *Ear) Write(pcm []int16) []Event {
	e.out = e.out[:0]
	e.level.hear(pcm)
	for len(pcm) > 0 {
		n := copy(e.buffer[e.filled:], pcm)
		pcm = pcm[n:]
		e.filled += n
		e.samples += int64(n)
		if e.filled == len(e.buffer) {
			e.filled = 0
			end := e.Pos()
			e.heard(e.detector.Probability(e.buffer), end-duration(int64(len(e.buffer))), end)
		}
	}
	return e.out
}

// heard takes a window's probability through both layers. Decisions are made at the end of windows only: of what
// was written since, nothing is known.
func (e *Ear) heard(p float32, start, end time.Duration) {
	t, s, c := &e.turn, &e.physical, &e.config
	change := s.hear(c, p, start, end)
	if p >= holdEvidence {
		t.evidence = end
	}
	switch change {
	case started:
		e.speechStarted(end)
	case stopped:
		e.speechStopped(end)
	}
	if p >= c.Threshold {
		t.loud += end - start
		e.mayOpenLate(end)
	}
	e.mayYield(p, end, end-start)
	e.judgePause(end)
	e.watchHold(end)
}

// Level returns the loudness of the last 100 ms or so in dBFS, -100 for silence.
func (e *Ear) Level() float32 { return e.level.decibels() }

// PossibleSpeech returns the end of the last window that might have been speech, even faintly (probability 0.2),
// whoever's turn it was; 0 when there was none. What was heard a while after it is safe to forget.
func (e *Ear) PossibleSpeech() time.Duration { return e.turn.evidence }

// Pos returns the stream time: the length of the audio written.
func (e *Ear) Pos() time.Duration { return duration(e.samples) }

func duration(samples int64) time.Duration {
	return time.Duration(samples) * time.Second / vad.SampleRate
}
