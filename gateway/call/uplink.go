package call

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
)

// uplink is the way of the person's audio: to the provider at once, and to the ear. packet runs on one media goroutine; the
// actor only reads atomics and swaps the forwarder.
type uplink struct {
	tap     *sfu.Tap // nil: the ear is off
	counted bool     // what is received is counted where it is received, before it comes here
	forward atomic.Pointer[sfu.Forwarder]

	received atomic.Int64 // nanoseconds of audio, by its timestamps
	early    atomic.Int64 // packets from before the provider was there

	lastTS uint32 // media goroutine only
	begun  bool
}

// opusRate is the RTP clock of Opus (RFC 7587 section 4.1).
const opusRate = 48000

// maxStep bounds what one packet may add to the received audio: a longer jump of the timestamp is no speech.
const maxStep = time.Second

func (u *uplink) packet(p *rtp.Packet, at time.Time) {
	if !u.counted {
		u.measure(p.Timestamp)
	}
	if f := u.forward.Load(); f != nil {
		f.ForwardAt(p, at)
	} else {
		u.early.Add(1)
	}
	if u.tap != nil {
		u.tap.Push(p, at)
	}
}

// measure counts audio by timestamps, so that a pause that was not sent (DTX) counts as the silence it is.
func (u *uplink) measure(ts uint32) {
	step := 20 * time.Millisecond
	if u.begun {
		ticks := int32(ts - u.lastTS)
		if ticks <= 0 {
			return // late or twice
		}
		step = min(time.Duration(ticks)*time.Second/opusRate, maxStep)
	}
	u.begun, u.lastTS = true, ts
	u.received.Add(int64(step))
}
