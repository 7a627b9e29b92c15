package sfu

import (
	"sync"
	"time"

	"github.com/pion/rtp"
)

// RTPWriter takes audio packets; a Peer is one.
type RTPWriter interface{ WriteRTP(*rtp.Packet) error }

// maxJump is the largest step of a sequence number within one source; a larger one is a restart. RFC 3550 appendix
// A.1 has the same number (MAX_DROPOUT).
const maxJump = 3000

// Forwarder passes one direction on and keeps sequence and timestamp continuous when the source changes.
type Forwarder struct {
	w RTPWriter

	mu  sync.Mutex // guards what follows
	s   splice
	out rtp.Packet
}

// NewForwarder writes to w.
func NewForwarder(w RTPWriter) *Forwarder { return &Forwarder{w: w} }

// Forward passes p on at once. Safe across goroutines; it does not change or keep p, and allocates nothing.
func (f *Forwarder) Forward(p *rtp.Packet) { f.ForwardAt(p, time.Now()) }

// ForwardAt is Forward for a caller that has read the clock already.
func (f *Forwarder) ForwardAt(p *rtp.Packet, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(p.Payload) == 0 {
		f.s.skip(p)
		return
	}
	fresh := !f.s.joined || p.SSRC != f.s.ssrc
	if !fresh {
		n := f.s.ahead(p)
		fresh = n > maxJump || n < -maxJump
	}
	if fresh {
		f.s.join(p, at)
	} else if f.s.stale(p) {
		return
	}
	f.s.write(p, &f.out, durationTicks(p.Payload), at)
	f.out.Marker = f.out.Marker || fresh
	_ = f.w.WriteRTP(&f.out) // the writer counts its errors
}
