package fake

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// Replay is a far side that follows a transcript line by line.
type Replay struct {
	*server

	tb    testing.TB
	steps []step
	in    chan map[string]any
	ready chan struct{} // closed when the opening was played
}

// step is one line of a transcript; one field is set.
type step struct {
	Note    string          `json:"note"`     // where the shapes come from
	Send    json.RawMessage `json:"send"`     // the provider sends this
	Audio   int             `json:"audio_ms"` // with Send: $AUDIO in it becomes this much of a tone at 24 kHz
	Expect  map[string]any  `json:"expect"`   // the provider gets a message that holds this
	Dialled bool            `json:"dialled"`  // the leg is open now
	Do      json.RawMessage `json:"do"`       // the call sends this event
	SleepMS int             `json:"sleep_ms"`
	Sink    []string        `json:"sink"` // the types of the events that the call got since the line before of this kind; repetitions count once
}

// NewReplay reads a transcript and waits for a connection.
func NewReplay(tb testing.TB, transcript string) *Replay {
	r := &Replay{tb: tb, in: make(chan map[string]any, 256), ready: make(chan struct{})}
	for n, line := range strings.Split(strings.TrimSpace(transcript), "\n") {
		var s step
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			tb.Fatalf("line %d of the transcript: %v", n+1, err)
		}
		r.steps = append(r.steps, s)
	}
	r.server = newServer(tb, func(l *link) func([]byte) {
		l.post(func() { // the opening, until the leg is there
			go r.opening(l)
		})
		return func(raw []byte) {
			var m map[string]any
			if json.Unmarshal(raw, &m) != nil {
				tb.Errorf("not JSON: %.200s", raw)
				return
			}
			if in, ok := m["realtimeInput"].(map[string]any); ok && in["audio"] != nil || m["type"] == "input_audio_buffer.append" {
				return
			}
			r.in <- m
		}
	})
	return r
}

func (r *Replay) opening(l *link) {
	defer close(r.ready)
	for len(r.steps) > 0 && !r.steps[0].Dialled {
		r.far(l)
	}
}

// far does the next step, one of the provider's.
func (r *Replay) far(l *link) {
	s := r.steps[0]
	r.steps = r.steps[1:]
	switch {
	case s.Send != nil:
		raw := string(s.Send)
		if s.Audio > 0 {
			raw = strings.ReplaceAll(raw, "$AUDIO", b64(Tone(24000, time.Duration(s.Audio)*time.Millisecond)))
		}
		l.send([]byte(raw))
	case s.Expect != nil:
		select {
		case got := <-r.in:
			if what, ok := holds(got, s.Expect); !ok {
				b, _ := json.Marshal(got)
				r.tb.Errorf("expected %v, got %s", what, b)
			}
		case <-time.After(10 * time.Second):
			r.tb.Errorf("nothing came, expected %v", s.Expect)
		}
	case s.SleepMS > 0:
		time.Sleep(time.Duration(s.SleepMS) * time.Millisecond)
	}
}

// Play goes through the rest of the transcript with the leg that was dialled.
func (r *Replay) Play(leg provider.Leg, in *Sink) {
	<-r.ready
	for len(r.steps) > 0 {
		s := r.steps[0]
		switch {
		case s.Do != nil:
			r.steps = r.steps[1:]
			ev, err := realtime.Decode(realtime.FromClient, s.Do)
			if err != nil {
				r.tb.Fatalf("do %s: %v", s.Do, err)
			}
			if err := leg.Send(ev); err != nil {
				r.tb.Fatalf("do %s: %v", s.Do, err)
			}
		case s.Sink != nil:
			r.steps = r.steps[1:]
			time.Sleep(50 * time.Millisecond)
			var got []string
			for _, ty := range in.Types() {
				if len(got) == 0 || got[len(got)-1] != ty {
					got = append(got, ty)
				}
			}
			in.Forget()
			if strings.Join(got, " ") != strings.Join(s.Sink, " ") {
				r.tb.Errorf("the call got:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(s.Sink, "\n  "))
			}
		default:
			r.far(r.last())
		}
	}
}

// holds tells whether got holds all of want, and otherwise what it lacks.
func holds(got, want any) (lacks any, ok bool) {
	switch w := want.(type) {
	case map[string]any:
		g, is := got.(map[string]any)
		if !is {
			return want, false
		}
		for k, v := range w {
			if lacks, ok := holds(g[k], v); !ok {
				return map[string]any{k: lacks}, false
			}
		}
		return nil, true
	case []any:
		g, is := got.([]any)
		if !is || len(g) != len(w) {
			return want, false
		}
		for i := range w {
			if lacks, ok := holds(g[i], w[i]); !ok {
				return lacks, false
			}
		}
		return nil, true
	}
	return want, got == want
}
