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

// Ear is one participant's ear. Not safe for concurrent use.
type Ear struct{ pos time.Duration }

// New returns an ear that listens through d, which it owns from now on.
func New(d vad.Detector, c Config) *Ear { return &Ear{} }

// Write hears the next consecutive audio at 16 kHz, usually 20 ms; a missing frame is written as zeros. The returned
// slice is valid until the next call of any method.
func (e *Ear) Write(pcm []int16) []Event { return nil }

// Configure changes the configuration from now on; what was heard so far stays.
func (e *Ear) Configure(c Config) {}

// SetMode changes the mode. An open turn is closed as if a button had been released.
func (e *Ear) SetMode(m Mode) []Event { return nil }

// Press begins a hold: the assistant must yield, and until Release no pause ends the turn.
func (e *Ear) Press() []Event { return nil }

// Release ends a hold. Call it when everything that had arrived by the release was written.
func (e *Ear) Release() []Event { return nil }

// AssistantSpeaking tells whether the person hears the assistant now.
func (e *Ear) AssistantSpeaking(on bool) {}

// Level returns the loudness of the last 100 ms or so in dBFS, -100 for silence.
func (e *Ear) Level() float32 { return -100 }

// Pos returns the stream time: the length of the audio written.
func (e *Ear) Pos() time.Duration { return e.pos }
