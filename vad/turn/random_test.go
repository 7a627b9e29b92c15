package turn

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"hovor/vad/internal/devset"
)

// watcher checks one ear's events against the rules that hold whatever happens.
type watcher struct {
	events    []Event
	last      time.Duration // At of the last event
	open      bool
	paused    bool
	yielded   bool // since the stretch began or the assistant started
	turnFrom  time.Duration
	closed    time.Duration // End of the last closed turn
	assistant bool
	held      bool
	loud      []time.Duration // ends of windows at or above the threshold
	faint     []time.Duration // ends of windows that might be speech
}

func (w *watcher) check(e *Ear, events []Event) error {
	for _, v := range events {
		w.events = append(w.events, v)
		if err := w.one(v); err != nil {
			return err
		}
		if v.At > e.Pos() || v.At < w.last {
			return fmt.Errorf("known at %v, position %v, last event %v", v.At, e.Pos(), w.last)
		}
		w.last = v.At
		if v.From > v.Start && v.Kind != Resumed && v.Kind != Yield || v.Start > v.At || v.End > v.At || v.From < 0 {
			return fmt.Errorf("times out of order")
		}
		if (v.Reason != None) != (v.Kind == EndOfTurn || v.Kind == Dismissed) {
			return fmt.Errorf("reason %v", v.Reason)
		}
	}
	return nil
}

func (w *watcher) one(v Event) error {
	if v.Kind != SpeechStarted && !w.open {
		return fmt.Errorf("outside a turn")
	}
	switch v.Kind {
	case SpeechStarted:
		if w.open {
			return fmt.Errorf("a turn within a turn")
		}
		if v.From < w.closed {
			return fmt.Errorf("audio of the turn before, which ended at %v", w.closed)
		}
		w.open, w.paused, w.yielded, w.turnFrom = true, false, false, v.From
	case SpeechStopped:
		if w.paused {
			return fmt.Errorf("stopped twice")
		}
		w.paused = true
	case Resumed:
		if !w.paused {
			return fmt.Errorf("resumed what had not stopped")
		}
		w.paused, w.yielded = false, false
	case Yield:
		if !w.assistant || w.yielded || w.paused {
			return fmt.Errorf("assistant %v, yielded %v, paused %v", w.assistant, w.yielded, w.paused)
		}
		w.yielded = true
	case EndOfTurn, Dismissed:
		if !w.paused {
			return fmt.Errorf("closed while speaking")
		}
		if v.From != w.turnFrom {
			return fmt.Errorf("the turn began at %v", w.turnFrom)
		}
		if v.Kind == EndOfTurn && !w.spoken(v) {
			return fmt.Errorf("nobody had spoken")
		}
		if w.held && v.Reason == Silence {
			return fmt.Errorf("silence ended a hold")
		}
		w.open, w.held, w.closed = false, false, v.End
	}
	return nil
}

// spoken says that there was reason to believe so between the turn's first audio and its close.
func (w *watcher) spoken(v Event) bool {
	ends := w.loud
	if v.Held {
		ends = w.faint
	}
	for i := len(ends) - 1; i >= 0 && ends[i] > v.From; i-- {
		if ends[i] <= v.At {
			return true
		}
	}
	return false
}

// TestAnyOrderOfEvents throws speech, noise, buttons, modes, settings and assistants at the ear in random order.
func TestAnyOrderOfEvents(t *testing.T) {
	runs := 3000
	if testing.Short() || devset.Race {
		runs = 300
	}
	counts := map[Kind]int{}
	for seed := range uint64(runs) {
		if !randomRun(t, seed, counts) {
			return
		}
	}
	for k := SpeechStarted; k <= Yield; k++ {
		if counts[k] < runs/10 {
			t.Errorf("only %d times %v: the test does not reach it", counts[k], k)
		}
	}
}

func randomRun(t *testing.T, seed uint64, counts map[Kind]int) bool {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	d := &late{}
	e := New(d, Config{})
	w := &watcher{}
	pcm := make([]int16, 320)
	heard := func(n int) error {
		for range n {
			windows := int64(e.filled+len(pcm)) / 512
			if windows > 0 && d.p >= e.config.Threshold {
				w.loud = append(w.loud, e.Pos()+duration(int64(512-e.filled)))
			}
			if windows > 0 && d.p >= holdEvidence {
				w.faint = append(w.faint, e.Pos()+duration(int64(512-e.filled)))
			}
			if err := w.check(e, e.Write(pcm)); err != nil {
				return err
			}
		}
		return nil
	}
	do := func() error {
		switch n := r.IntN(21); {
		case n < 6:
			d.p = 0.5 + 0.5*r.Float32()
			return heard(r.IntN(40))
		case n < 12:
			d.p = 0.3 * r.Float32()
			return heard(r.IntN(60))
		case n < 13:
			d.p = r.Float32()
			return heard(r.IntN(40))
		case n < 16:
			w.assistant = r.IntN(2) == 0
			if w.assistant && !e.turn.assistant {
				w.yielded = false
			}
			e.AssistantSpeaking(w.assistant)
		case n < 17:
			w.held = true
			return w.check(e, e.Press())
		case n < 18:
			err := w.check(e, e.Release())
			w.held = false
			return err
		case n < 19:
			return w.check(e, e.SetMode(Mode(r.IntN(2))))
		case n < 20:
			return w.check(e, e.Drop())
		default:
			c := Config{MaxHold: 3 * time.Second}
			if r.IntN(2) == 0 {
				c = c.ServerVAD(0.2+0.7*r.Float64(), time.Duration(r.IntN(800))*ms, time.Duration(r.IntN(1500))*ms)
			}
			e.Configure(c)
		}
		return nil
	}
	var err error
	for range 60 {
		if err = do(); err != nil {
			break
		}
	}
	if err == nil { // whatever happened, silence ends it
		e.Configure(Config{MaxHold: 3 * time.Second})
		d.p = 0
		if err = heard(4 * 50); err == nil && (w.open || e.turn.phase != idle) {
			err = fmt.Errorf("a turn is open after four seconds of silence")
		}
	}
	if err == nil { // and speech is heard again
		e.SetMode(OpenMic)
		n := len(w.events)
		d.p = 0.9
		if err = heard(50); err == nil && len(w.events) == n {
			err = fmt.Errorf("deaf")
		}
	}
	if err != nil {
		t.Errorf("seed %d: %v, after\n%s", seed, err, lines(w.events))
		return false
	}
	for _, v := range w.events {
		counts[v.Kind]++
	}
	return true
}
