package fake

import (
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// Sink notes what a leg gives.
type Sink struct {
	mu      sync.Mutex // guards what follows
	events  []realtime.Event
	raw     [][]byte
	packets []time.Time
	notices []provider.Notice
	usage   []provider.Usage
	closed  []error
}

var (
	_ provider.Sink       = (*Sink)(nil)
	_ provider.NoticeSink = (*Sink)(nil)
	_ provider.UsageSink  = (*Sink)(nil)
)

// ProviderEvent notes an event.
func (s *Sink) ProviderEvent(raw []byte, ev realtime.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, raw)
	if ev != nil {
		s.events = append(s.events, ev)
	}
}

// ProviderPacket notes a packet.
func (s *Sink) ProviderPacket(_ *rtp.Packet, at time.Time) {
	s.mu.Lock()
	s.packets = append(s.packets, at)
	s.mu.Unlock()
}

// ProviderNotice notes a notice.
func (s *Sink) ProviderNotice(n provider.Notice) {
	s.mu.Lock()
	s.notices = append(s.notices, n)
	s.mu.Unlock()
}

// ProviderUsage notes a record.
func (s *Sink) ProviderUsage(u provider.Usage) {
	s.mu.Lock()
	s.usage = append(s.usage, u)
	s.mu.Unlock()
}

// ProviderClosed notes the end.
func (s *Sink) ProviderClosed(err error) {
	s.mu.Lock()
	s.closed = append(s.closed, err)
	s.mu.Unlock()
}

// Events are those that came.
func (s *Sink) Events() []realtime.Event { s.mu.Lock(); defer s.mu.Unlock(); return s.events }

// Types are the types of those that came.
func (s *Sink) Types() []string {
	var out []string
	for _, ev := range s.Events() {
		out = append(out, ev.EventType())
	}
	return out
}

// Packets are the times at which packets came.
func (s *Sink) Packets() []time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.packets }

// Notices are those that came.
func (s *Sink) Notices() []provider.Notice { s.mu.Lock(); defer s.mu.Unlock(); return s.notices }

// Usage are the records that came.
func (s *Sink) Usage() []provider.Usage { s.mu.Lock(); defer s.mu.Unlock(); return s.usage }

// Closed are the ends that were told: one, in the end.
func (s *Sink) Closed() []error { s.mu.Lock(); defer s.mu.Unlock(); return s.closed }

// Forget empties the notes.
func (s *Sink) Forget() {
	s.mu.Lock()
	s.events, s.raw, s.packets, s.notices, s.usage = nil, nil, nil, nil, nil
	s.mu.Unlock()
}

// Last is the newest event of type T, nil when none came.
func Last[T realtime.Event](s *Sink) (found T) {
	for _, ev := range s.Events() {
		if ev, ok := ev.(T); ok {
			found = ev
		}
	}
	return found
}
