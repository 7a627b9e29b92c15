package sfu

import (
	"context"
	"time"

	"github.com/pion/rtp"
)

// Frame is 20 ms of what one person said: 320 samples at 16 kHz, mono.
type Frame struct {
	PCM  []int16       // valid until the callback returns
	Pos  time.Duration // stream time of the first sample, since the tap's start; a multiple of 20 ms
	Lost bool          // concealed or silent because nothing usable had arrived although something was due
}

// Tap decodes one inbound stream for the ear, driven by a clock: a missing frame is silence.
type Tap struct{}

// Push takes one packet, copies it and returns; it never blocks on decoding.
func (t *Tap) Push(p *rtp.Packet, at time.Time) {}

// Flush calls fn, on the clock's goroutine, after everything that had arrived by upTo was handed out. A tap that is
// closed first calls it at once.
func (t *Tap) Flush(upTo time.Time, fn func()) {}

// Drain waits until everything that has arrived by now was handed out.
func (t *Tap) Drain(ctx context.Context) error { return ErrClosed }

// Stats may be called at any time.
func (t *Tap) Stats() TapStats { return TapStats{} }

// Close ends the tap; after it returns no callback runs. It must not be called from the callback.
func (t *Tap) Close() {}

// TapStats count frames and packets since the start.
type TapStats struct {
	Frames    uint64 // handed out
	Concealed uint64 // of these, made by loss concealment
	Recovered uint64 // of these, recovered from in-band FEC
	Silent    uint64 // of these, silence because nothing had arrived
	Late      uint64 // packets that came too late to be used
	Skipped   uint64 // packets left out to catch up
}
