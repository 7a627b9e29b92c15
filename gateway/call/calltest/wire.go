package calltest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"hovor/gateway/call"
	"hovor/signaling/realtime"
	"hovor/signaling/socket"
)

// Wire is a client over a WebSocket, or a sideband: events in, events out. It is the signaling.Socket that the call is given.
type Wire struct {
	w  *World
	in chan []byte

	mu     sync.Mutex
	raw    [][]byte
	events []realtime.Event
	code   int
	reason string
	over   chan struct{}
	sine   int
}

// NewWire makes the socket alone, for a sideband.
func (w *World) NewWire() *Wire {
	return &Wire{w: w, in: make(chan []byte, 4096), over: make(chan struct{})}
}

// DialWire opens a call over a WebSocket.
func (w *World) DialWire(d realtime.Dialect) (*Wire, *call.Call) {
	w.TB.Helper()
	s := w.NewWire()
	o, err := w.options(context.Background(), nil, d)
	if err != nil {
		w.TB.Fatal(err)
	}
	o.Socket = s
	c, _, err := w.Manager.Start(context.Background(), o, "")
	if err != nil {
		w.TB.Fatalf("dial: %v", err)
	}
	w.TB.Cleanup(s.Leave)
	return s, c
}

// Read is the call's: the next message of the client.
func (s *Wire) Read(ctx context.Context) ([]byte, error) {
	select {
	case b := <-s.in:
		if b == nil {
			return nil, &socket.CloseError{Code: 1000}
		}
		return b, nil
	case <-s.over:
		return nil, socket.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write is the call's: one more message for the client.
func (s *Wire) Write(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code != 0 {
		return socket.ErrClosed
	}
	s.raw = append(s.raw, b)
	if ev, err := realtime.Decode(realtime.FromServer, b); err == nil {
		s.events = append(s.events, ev)
	}
	return nil
}

// Close is the call's.
func (s *Wire) Close(code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == 0 {
		s.code, s.reason = code, reason
		close(s.over)
	}
}

// Leave closes the socket from the client's side.
func (s *Wire) Leave() { s.in <- nil }

// Closed says how the gateway closed the socket; 0 while it is open.
func (s *Wire) Closed() (int, string) { s.mu.Lock(); defer s.mu.Unlock(); return s.code, s.reason }

// Say sends text as it is.
func (s *Wire) Say(format string, args ...any) { s.in <- fmt.Appendf(nil, format, args...) }

// Tell sends an event.
func (s *Wire) Tell(ev realtime.Event) {
	s.w.TB.Helper()
	b, err := realtime.Encode(ev)
	if err != nil {
		s.w.TB.Fatal(err)
	}
	s.in <- b
}

// Speak sends a tone (loud) or silence in chunks of 100 ms as time goes on, PCM16 at 24 kHz.
func (s *Wire) Speak(d time.Duration, loud bool) {
	for range d / (100 * time.Millisecond) {
		s.Chunk(100*time.Millisecond, loud)
		time.Sleep(100 * time.Millisecond)
	}
}

// Chunk sends audio at once.
func (s *Wire) Chunk(d time.Duration, loud bool) {
	b := make([]byte, 0, 2*24*d/time.Millisecond)
	for range 24 * d / time.Millisecond {
		v := 0.0
		if loud {
			v = 8000 * math.Sin(2*math.Pi*220*float64(s.sine)/24000)
		}
		s.sine++
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
	}
	s.Say(`{"type":"input_audio_buffer.append","audio":%q}`, base64.StdEncoding.EncodeToString(b))
}

// Events are those that came so far.
func (s *Wire) Events() []realtime.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[:len(s.events):len(s.events)]
}

// Raw is what came so far, word for word.
func (s *Wire) Raw() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, b := range s.raw {
		out = append(out, string(b))
	}
	return out
}

// Heard is how much audio of an item came, at 24 kHz PCM16; "" is all.
func (s *Wire) Heard(item string) time.Duration {
	n := 0
	for _, ev := range s.Events() {
		if ev, ok := ev.(*realtime.ResponseOutputAudioDelta); ok && (item == "" || ev.ItemID == item) {
			n += base64.StdEncoding.DecodedLen(len(ev.Delta))
		}
	}
	return time.Duration(n) * time.Second / 48000
}

// Types are the types of the events that came so far.
func (s *Wire) Types() []string {
	var out []string
	for _, ev := range s.Events() {
		out = append(out, ev.EventType())
	}
	return out
}
