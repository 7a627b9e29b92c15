package bench

import (
	"sync/atomic"
	"time"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/cmd/hovor-load/internal/measure"
)

// flow is one direction of all calls of a round: marked packets leave at one end and arrive at the other, in this one process, so that one
// clock times both. Safe for concurrent use; the packet path takes no lock.
type flow struct {
	epoch time.Time

	sent, arrived atomic.Uint64 // since the round began

	// The window is the steady state that counts, by the time at which a packet was sent, in nanoseconds since epoch.
	from, to          atomic.Int64
	sentIn, arrivedIn atomic.Uint64
	reordered         atomic.Uint64
	latency           measure.Hist
}

func newFlow(epoch time.Time) *flow {
	f := &flow{epoch: epoch}
	f.from.Store(1 << 62)
	f.to.Store(1 << 62)
	return f
}

// open begins the window at t, close ends it: packets sent in between are what is counted.
func (f *flow) open(t time.Time)  { f.from.Store(int64(t.Sub(f.epoch))) }
func (f *flow) close(t time.Time) { f.to.Store(int64(t.Sub(f.epoch))) }

func (f *flow) inside(sent time.Duration) bool {
	return int64(sent) >= f.from.Load() && int64(sent) < f.to.Load()
}

// leave marks a packet that is about to be sent.
func (f *flow) leave(packet []byte, stream, number uint32) {
	sent := time.Since(f.epoch)
	clip.Mark{Stream: stream, Number: number, Sent: sent}.Put(packet)
	f.sent.Add(1)
	if f.inside(sent) {
		f.sentIn.Add(1)
	}
}

// arrive counts a packet that came at a time. last is the highest number of its stream so far, kept by the caller.
func (f *flow) arrive(packet []byte, at time.Time, last *uint32) (first bool) {
	m, ok := clip.ReadMark(packet)
	if !ok {
		return false
	}
	if m.Number <= *last {
		f.reordered.Add(1) // late or twice; a relay that repeats packets must not look as if it lost none
		return false
	}
	first = *last == 0
	*last = m.Number
	f.arrived.Add(1)
	if f.inside(m.Sent) {
		f.arrivedIn.Add(1)
		f.latency.Add(at.Sub(f.epoch) - m.Sent)
	}
	return first
}
