package local

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"hovor/sfu/g711"
	"hovor/sfu/resample"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// desk is one client over a WebSocket.
type desk struct {
	t     *testing.T
	sock  *client.Socket
	ended chan struct{}
	err   error // of Run; valid once ended

	mu     sync.Mutex
	events []logged
	raw    []string
	read   int
}

// open dials a WebSocket for a session of its own.
func (h *house) open(change ...func(*client.SocketConfig)) *desk {
	h.t.Helper()
	d, err := h.dialSocket(change...)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (h *house) dialSocket(change ...func(*client.SocketConfig)) (*desk, error) {
	d := &desk{t: h.t, ended: make(chan struct{})}
	cfg := client.SocketConfig{BaseURL: "ws://provider.test/v1/realtime", Token: testKey, Model: "gpt-realtime", NetDial: client.Pipe(h.handler),
		Event: func(raw []byte, ev realtime.Event) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.raw = append(d.raw, string(raw))
			if ev != nil {
				d.events = append(d.events, logged{ev, time.Now()})
			}
		}}
	for _, f := range change {
		f(&cfg)
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	sock, err := client.DialSocket(ctx, cfg)
	if err != nil {
		return nil, err
	}
	d.sock = sock
	go func() {
		defer close(d.ended)
		d.err = sock.Run(context.WithoutCancel(h.t.Context()))
	}()
	return d, nil
}

func (d *desk) hang() {
	d.sock.Close()
	<-d.ended
}

func (d *desk) send(events ...realtime.Event) {
	d.t.Helper()
	for _, e := range events {
		if err := d.sock.Send(e); err != nil {
			d.t.Fatal(err)
		}
	}
}

// talk appends a tone and then silence, in one event of that form; over a socket nobody has to wait for the clock.
func (d *desk) talk(f form, speech, silence time.Duration) {
	d.t.Helper()
	d.send(&realtime.InputAudioBufferAppend{Audio: base64.StdEncoding.EncodeToString(sound(d.t, f, speech, silence))})
}

func sound(t *testing.T, f form, speech, silence time.Duration) []byte {
	t.Helper()
	n := func(d time.Duration) int { return int(d * 24000 / time.Second) }
	pcm := make([]int16, n(speech+silence))
	for i := range n(speech) {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*250*float64(i)/24000))
	}
	law, ok := f.law()
	if !ok {
		return littleEndian(pcm)
	}
	r, err := resample.New(24000, g711.Rate)
	if err != nil {
		t.Fatal(err)
	}
	narrow := r.Append(nil, pcm)
	out := make([]byte, len(narrow))
	law.Encode(out, narrow)
	return out
}

func (d *desk) history() ([]logged, *int, func()) { d.mu.Lock(); return d.events, &d.read, d.mu.Unlock }

// next waits for the next event of a type that was not read yet.
func next[E realtime.Event](d *desk) E {
	d.t.Helper()
	var want E
	deadline := time.Now().Add(2 * time.Minute)
	for {
		events, read, unlock := d.history()
		for *read < len(events) {
			e := events[*read].Event
			*read++
			if got, ok := e.(E); ok {
				unlock()
				return got
			}
		}
		unlock()
		if time.Now().After(deadline) {
			d.t.Fatalf("no %s came; events: %v", want.EventType(), d.order())
		}
		time.Sleep(time.Millisecond)
	}
}

func (d *desk) order() []string {
	events, _, unlock := d.history()
	defer unlock()
	var out []string
	for _, e := range events {
		out = append(out, e.EventType())
	}
	return slices.Compact(out)
}

func every[E realtime.Event](d *desk) []E {
	events, _, unlock := d.history()
	defer unlock()
	var out []E
	for _, e := range events {
		if want, ok := e.Event.(E); ok {
			out = append(out, want)
		}
	}
	return out
}

// octets is the audio of all deltas so far.
func (d *desk) octets() []byte {
	var out []byte
	for _, e := range every[*realtime.ResponseOutputAudioDelta](d) {
		b, err := base64.StdEncoding.DecodeString(e.Delta)
		if err != nil {
			d.t.Fatal(err)
		}
		out = append(out, b...)
	}
	return out
}

func samples(octets []byte) []int16 {
	out := make([]int16, len(octets)/2)
	for i := range out {
		out[i] = int16(binary.LittleEndian.Uint16(octets[2*i:]))
	}
	return out
}

// formats gives a session a form both ways.
func formats(s *realtime.Session, name string) *realtime.Session {
	f := &realtime.AudioFormat{Type: name}
	s.Audio.Input.Format = f
	s.Audio.Output = &realtime.AudioOutput{Format: f}
	return s
}
