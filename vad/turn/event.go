package turn

import "time"

// Kind says what the ear noticed.
type Kind int

// The closed set of kinds. A turn opens with SpeechStarted and closes with exactly one of EndOfTurn or Dismissed, which
// directly follows a SpeechStopped (maybe many windows later). Yield comes between a start or resumption and its stop.
const (
	// SpeechStarted opens a turn: the person began to speak, or pressed the button.
	SpeechStarted Kind = iota + 1
	// SpeechStopped says the person is silent, maybe only to think. It is followed by Resumed, EndOfTurn or Dismissed.
	SpeechStopped
	// Resumed says the person goes on speaking within the same turn.
	Resumed
	// EndOfTurn closes a turn that should be answered.
	EndOfTurn
	// Dismissed closes a turn that should not be answered: no speech while the button was held, or a sound over the
	// assistant that ended before it counted as an interruption. Whoever keeps the audio forgets it.
	Dismissed
	// Yield is the verdict on overlap: the assistant must fall silent now. At most one per stretch of speech.
	Yield
)

// String returns the kind in snake case, fit for a metric label.
func (k Kind) String() string {
	switch k {
	case SpeechStarted:
		return "speech_started"
	case SpeechStopped:
		return "speech_stopped"
	case Resumed:
		return "resumed"
	case EndOfTurn:
		return "end_of_turn"
	case Dismissed:
		return "dismissed"
	case Yield:
		return "yield"
	}
	return "none"
}

// Reason says why a turn was closed.
type Reason int

// The closed set of reasons.
const (
	// None is the reason of events that close nothing.
	None Reason = iota
	// Silence: the pause was long enough for the end-of-turn policy.
	Silence
	// Timeout: the hard limit of silence, or of a hold, was reached.
	Timeout
	// Released: the person let go of the button, or switched the mode.
	Released
	// Dropped: whoever keeps the audio committed or cleared it without the ear.
	Dropped
	// TooShort: a sound over the assistant ended before it counted as an interruption.
	TooShort
)

// String returns the reason in snake case, fit for a metric label.
func (r Reason) String() string {
	switch r {
	case Silence:
		return "silence"
	case Timeout:
		return "timeout"
	case Released:
		return "released"
	case Dropped:
		return "dropped"
	case TooShort:
		return "too_short"
	}
	return "none"
}

// Event is one thing the ear noticed. All times are stream time: the audio written since New.
type Event struct {
	Kind   Kind
	Reason Reason // EndOfTurn and Dismissed only

	At    time.Duration // when the ear knew
	Start time.Duration // back-dated onset: of this stretch of speech (SpeechStarted, Resumed), of the overlap (Yield), of the turn (else)
	End   time.Duration // back-dated end of the last speech (SpeechStopped, EndOfTurn, Dismissed); release when held
	From  time.Duration // first audio that belongs to the turn: onset minus Config.PrefixPadding, or press minus Config.PreRoll

	Probability float32 // SpeechStarted, Resumed, Yield: mean speech probability so far; EndOfTurn: that the turn is over
	Overlap     bool    // the assistant was speaking when this stretch of speech began or while it went on
	Held        bool    // the turn is, or was, held by push-to-talk
}
