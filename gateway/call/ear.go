package call

import (
	"sync/atomic"
	"time"

	"hovor/gateway/call/conversation"
	"hovor/sfu"
	"hovor/signaling/realtime"
	"hovor/vad/turn"
)

// listening is what the ear is told when the session's turn detection changes.
type listening struct {
	mode   turn.Mode
	config turn.Config
}

// ear runs one person's ear on the tap's clock. frame runs on one goroutine; the actor tells it things through atomics, so
// that neither waits for the other.
type ear struct {
	*turn.Ear
	begin time.Time
	post  func(conversation.EarEvent)

	wanted   atomic.Pointer[listening]
	audible  atomic.Bool
	possible atomic.Int64 // when speech was last suspected, nanoseconds of call time; 0 = never

	applied  *listening // frame only, like what follows
	speaking bool
}

// frame hears 20 ms. The tap hands out the frame that begins at stream time T at T + 20 ms on its clock, so now belongs to
// the end of the frame and stream times turn into call times by a difference.
func (e *ear) frame(f sfu.Frame) {
	now := time.Since(e.begin)
	if w := e.wanted.Load(); w != e.applied {
		e.applied = w
		e.Configure(w.config)
		e.tell(e.SetMode(w.mode), now)
	}
	if on := e.audible.Load(); on != e.speaking {
		e.speaking = on
		e.AssistantSpeaking(on)
	}
	e.tell(e.Write(f.PCM), now)
	if p := e.PossibleSpeech(); p > 0 {
		e.possible.Store(int64(now - (e.Pos() - p)))
	}
}

func (e *ear) tell(events []turn.Event, now time.Duration) {
	for _, ev := range events {
		at := func(stream time.Duration) time.Duration { return max(now-(e.Pos()-stream), 0) }
		e.post(conversation.EarEvent{Event: ev, Onset: at(ev.Start), SpeechEnd: at(ev.End)})
	}
}

// listen turns a session's turn detection into the ear's terms.
func listen(d realtime.Nullable[realtime.TurnDetection], base turn.Config) *listening {
	t := d.Value
	if t == nil {
		return &listening{mode: turn.PushToTalk, config: base}
	}
	l := &listening{mode: turn.OpenMic, config: base}
	switch t.Type {
	case realtime.ServerVAD:
		l.config = base.ServerVAD(or(t.Threshold, realtime.DefaultThreshold), millis(or(t.PrefixPaddingMS, realtime.DefaultPrefixPaddingMS)),
			millis(or(t.SilenceDurationMS, realtime.DefaultSilenceDurationMS)))
	case realtime.SemanticVAD:
		// The probability from which a turn is over, and the protocol's own caps on the silence: 8, 4 and 2 s.
		switch t.Eagerness {
		case "low":
			l.config.EndThreshold, l.config.MaxSilence = 0.8, 8*time.Second
		case "high":
			l.config.EndThreshold, l.config.MaxSilence = 0.3, 2*time.Second
		default:
			l.config.MaxSilence = 4 * time.Second
		}
	}
	return l
}

func or[T any](p *T, v T) T {
	if p != nil {
		return *p
	}
	return v
}

func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }
