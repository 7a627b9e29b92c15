package turn

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	window = 32 * time.Millisecond
	ms     = time.Millisecond
)

// scripted is a detector that says what the test wants, and nothing of sound.
type scripted struct{ p float32 }

func (*scripted) WindowSamples() int            { return 512 }
func (d *scripted) Probability([]int16) float32 { return d.p }
func (d *scripted) Reset()                      {}

// A step lasts a whole number of windows with one probability, or calls a method of the ear.
type step struct {
	windows int
	p       float32
	do      func(*Ear) []Event
}

func say(windows int) step              { return step{windows: windows, p: 0.95} }
func hush(windows int) step             { return step{windows: windows, p: 0.02} }
func sound(windows int, p float32) step { return step{windows: windows, p: p} }
func assistant(on bool) step {
	return step{do: func(e *Ear) []Event { e.AssistantSpeaking(on); return nil }}
}

var (
	press   = step{do: (*Ear).Press}
	release = step{do: (*Ear).Release}
	drop    = step{do: (*Ear).Drop}
)

func mode(m Mode) step { return step{do: func(e *Ear) []Event { return e.SetMode(m) }} }
func configure(c Config) step {
	return step{do: func(e *Ear) []Event { e.Configure(c); return nil }}
}

// play writes the steps in pieces of one window and returns all events.
func play(c Config, steps ...step) []Event {
	d := &scripted{}
	e := New(d, c)
	pcm := make([]int16, 512)
	var out []Event
	for _, s := range steps {
		if s.do != nil {
			out = append(out, s.do(e)...)
		}
		d.p = s.p
		for range s.windows {
			out = append(out, e.Write(pcm)...)
		}
	}
	return out
}

// line renders an event as a table wants it: when it was known, what, and the times that matter to it.
func line(v Event) string {
	n := func(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
	s := n(v.At) + " " + v.Kind.String()
	switch v.Kind {
	case SpeechStarted:
		s += " from " + n(v.From) + " start " + n(v.Start)
	case Resumed, Yield:
		s += " start " + n(v.Start)
	case SpeechStopped:
		s += " end " + n(v.End)
	case EndOfTurn, Dismissed:
		s += " " + v.Reason.String() + " " + n(v.Start) + "-" + n(v.End)
	}
	if v.Overlap {
		s += " overlap"
	}
	if v.Held {
		s += " held"
	}
	return s
}

func lines(events []Event) string {
	var b strings.Builder
	for _, v := range events {
		b.WriteString(line(v) + "\n")
	}
	return b.String()
}

func expect(t *testing.T, got []Event, want ...string) {
	t.Helper()
	w := strings.Join(want, "\n")
	if w != "" {
		w += "\n"
	}
	if g := lines(got); g != w {
		t.Errorf("got\n%swant\n%s", g, w)
	}
}
