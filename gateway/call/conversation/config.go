package conversation

import (
	"slices"
	"time"

	"hovor/signaling/realtime"
)

// Assistant is who answers, as configuration and catalogue describe it.
type Assistant struct {
	Name         string          // as the page shows it
	Language     string          // BCP 47 primary subtag; empty = the person's
	Model        string          // the provider's own name of the model
	Instructions string          // what the model is told it is
	Policy       Policy          // how much of this a client may change; empty = Merge
	Fields       []string        // of the session, that a client may change (see FieldNames); nil = the policy's own
	Tools        []realtime.Tool // the catalogue's definitions: the only tools a client may name, and how they read
	// Session holds the rest of the defaults (voice, transcription, turn detection, modalities); fields above win.
	Session realtime.Session
	// Events lists the client events that pass; nil lets every event of the protocol pass.
	Events []string
}

// Takes says whether an event of this type may come from the client.
func (a *Assistant) Takes(eventType string) bool {
	return a.Events == nil || slices.Contains(a.Events, eventType)
}

// Limits bound a call in time; a zero field takes the default in brackets, a negative one switches the limit off.
type Limits struct {
	Setup       time.Duration // until the client's event channel is open [20 s]
	Duration    time.Duration // of the whole call [60 min]
	Idle        time.Duration // without a word from either side [10 min]
	Response    time.Duration // from asking for a response until it begins [15 s]
	Stall       time.Duration // of a running response without any event or audio [30 s]
	Cancel      time.Duration // from cancelling a response until it ends [3 s]
	ToolResult  time.Duration // from a tool call until its output [90 s]
	Barrier     time.Duration // push-to-talk: for what has arrived to be heard [400 ms]
	Session     time.Duration // of the provider's own session, which is renewed before [never: its leg does that, or it has none]
	BufferClear time.Duration // how much silence the provider's input buffer may gather [10 s]
}

func (l Limits) withDefaults() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&l.Setup, 20*time.Second)
	def(&l.Duration, time.Hour)
	def(&l.Idle, 10*time.Minute)
	def(&l.Response, 15*time.Second)
	def(&l.Stall, 30*time.Second)
	def(&l.Cancel, 3*time.Second)
	def(&l.ToolResult, 90*time.Second)
	def(&l.Barrier, 400*time.Millisecond)
	def(&l.BufferClear, 10*time.Second)
	return l
}

// Config is what a conversation starts from.
type Config struct {
	CallID     string
	ThreadID   string
	PersonID   string
	PersonName string
	AudioPath  string // "relay"
	Assistant  Assistant
	Requested  *realtime.Session // what the client asked for with its offer; may be nil
	Ear        bool              // false: the provider finds the turns
	// Socket: the client is a WebSocket. It plays the audio itself and says what was heard by truncating, knows no
	// output_audio_buffer, and is told of the end of an answer behind its audio.
	Socket    bool
	Limits    Limits
	Seed      string    // distinguishes the ids of this call; up to 12 characters
	Base      float64   // place in the thread after which this call's items come
	SessionID string    // "sess_…"
	Epoch     time.Time // wall time of At 0, for the thread only
}
