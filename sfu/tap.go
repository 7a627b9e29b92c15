package sfu

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/opus"
)

const (
	// TapRate is the sample rate of a Frame, TapSamples its length.
	TapRate    = 16000
	TapSamples = TapRate / 50

	// concealMax: after this much guessed audio in a row comes silence. Longer concealment turns into a drone that a
	// speech detector takes for speech.
	concealMax = 3
	// longestPacket is Opus' largest packet, 120 ms (RFC 6716 section 3.2.5), in samples at TapRate.
	longestPacket = TapRate * 120 / 1000
)

// Frame is 20 ms of what one person said: 320 samples at 16 kHz, mono.
type Frame struct {
	PCM  []int16       // valid until the callback returns
	Pos  time.Duration // stream time of the first sample, since the tap's start; a multiple of 20 ms
	Lost bool          // concealed, recovered or silent because a packet was missing
}

// TapStats count frames and packets since the start.
type TapStats struct {
	Frames    uint64 // handed out
	Concealed uint64 // gaps filled by loss concealment
	Recovered uint64 // gaps filled from in-band FEC
	Silent    uint64 // gaps filled with silence: a pause, or a loss too long to conceal
	Late      uint64 // packets that came too late (or twice)
	Skipped   uint64 // packets left out to catch up
}

// Tap decodes one inbound stream for the ear, driven by a clock: a missing frame is silence. The frame that begins at
// stream time T is handed out at T + 20 ms after the tap's start, whatever the network does.
//
// The buffer is as short as the network allows: a packet is played at the next tick after it came; one that comes
// after its turn moves everything behind it back instead of being lost (up to 200 ms in all), and the delay is taken
// back in quiet moments.
type Tap struct {
	fn    func(Frame)
	clock *tapClock
	start time.Time
	phase int

	mu       sync.Mutex // guards what follows
	jb       jitterBuffer
	barriers []barrier
	closed   bool
	stats    TapStats

	run sync.Mutex // held while frames are made; guards what follows

	dec     *opus.Decoder
	frames  int64
	store   [TapSamples + longestPacket]int16
	pcm     []int16 // decoded and not handed out yet, at the start of store
	packet  []byte  // scratch
	guessed int     // concealed gaps in a row
}

// barrier is a Flush that waits.
type barrier struct {
	upTo time.Time
	fn   func()
	set  bool // upTo has passed: gen and ts say what to wait for
	gen  int
	ts   uint32
}

func newTap(fn func(Frame)) (*Tap, error) {
	dec, err := opus.NewDecoder(TapRate)
	if err != nil {
		return nil, fmt.Errorf("tap: %w", err)
	}
	t := &Tap{fn: fn, dec: dec}
	t.pcm = t.store[:0]
	return t, nil
}

// Push takes one packet, copies it and returns; it never waits for decoding. at is when it arrived.
func (t *Tap) Push(p *rtp.Packet, at time.Time) {
	if len(p.Payload) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	untilTick := t.start.Add(time.Duration(t.jb.tick+1) * frameTime).Sub(at)
	switch t.jb.push(p, at, untilTick) {
	case pushLate:
		t.stats.Late++
	case pushOverflow:
		t.stats.Skipped++
	}
}

// Flush calls fn, on the clock's goroutine, after everything that had arrived by upTo was handed out. A tap that is
// closed first calls it at once.
func (t *Tap) Flush(upTo time.Time, fn func()) {
	t.mu.Lock()
	closed := t.closed
	if !closed {
		t.barriers = append(t.barriers, barrier{upTo: upTo, fn: fn})
	}
	t.mu.Unlock()
	if closed {
		fn()
	}
}

// Drain waits until everything that has arrived by now was handed out.
func (t *Tap) Drain(ctx context.Context) error {
	done := make(chan struct{})
	t.Flush(time.Now(), func() { close(done) })
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Start is the zero of Frame.Pos. It can lie up to 5 ms after NewTap.
func (t *Tap) Start() time.Time { return t.start }

// Stats may be called at any time.
func (t *Tap) Stats() TapStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stats
}

// Close ends the tap; after it returns no callback runs. It must not be called from the callback.
func (t *Tap) Close() {
	t.clock.remove(t)
	t.end()
}

// end waits for a tick that is under way and calls what waits.
func (t *Tap) end() {
	t.run.Lock()
	t.mu.Lock()
	left := t.barriers
	t.closed, t.barriers = true, nil
	t.mu.Unlock()
	t.run.Unlock()
	for _, b := range left {
		b.fn()
	}
}

// advance hands out every frame that is due at now. It is called by the clock only.
func (t *Tap) advance(now time.Time) {
	t.run.Lock()
	defer t.run.Unlock()
	for due := int64(now.Sub(t.start) / frameTime); t.frames < due; {
		if !t.frame() {
			return
		}
		t.release()
	}
}

// frame makes and hands out one frame; false when the tap is closed.
func (t *Tap) frame() bool {
	lost := false
	for len(t.pcm) < TapSamples {
		s, ok := t.next()
		if !ok {
			return false
		}
		lost = t.play(s) || lost
	}
	pos := time.Duration(t.frames) * frameTime
	t.frames++
	t.fn(Frame{PCM: t.pcm[:TapSamples:TapSamples], Pos: pos, Lost: lost})
	t.pcm = append(t.store[:0], t.pcm[TapSamples:]...)
	return true
}

// next asks the buffer what to play.
func (t *Tap) next() (s step, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return s, false
	}
	t.jb.tick = t.frames + 1
	t.stats.Frames = uint64(t.frames + 1)
	return t.jb.pop(&t.packet), true
}

// play appends what the step asks for, and tells whether a packet was missing.
func (t *Tap) play(s step) (lost bool) {
	switch s.kind {
	case popPacket:
		n, err := t.dec.Decode(t.packet, t.room())
		if err != nil || n == 0 {
			t.conceal(TapSamples)
			return true
		}
		t.guessed = 0
		if s.spare && isQuiet(t.room()[:n]) {
			t.count(func(s *TapStats) { s.Skipped++ })
			return false
		}
		t.pcm = t.pcm[:len(t.pcm)+n]
		return false
	case popRecover:
		if t.dec.DecodeFEC(t.packet, t.room()[:s.samples]) != nil {
			t.conceal(s.samples)
			return true
		}
		t.guessed = 0
		t.pcm = t.pcm[:len(t.pcm)+s.samples]
		t.count(func(s *TapStats) { s.Recovered++ })
		return true
	case popLost:
		t.conceal(s.samples)
		return true
	default:
		t.silence(s.samples)
		return false
	}
}

func (t *Tap) conceal(samples int) {
	if t.guessed++; t.guessed > concealMax || t.dec.Conceal(t.room()[:samples]) != nil {
		t.silence(samples)
		return
	}
	t.pcm = t.pcm[:len(t.pcm)+samples]
	t.count(func(s *TapStats) { s.Concealed++ })
}

func (t *Tap) silence(samples int) {
	clear(t.room()[:samples])
	t.pcm = t.pcm[:len(t.pcm)+samples]
	t.count(func(s *TapStats) { s.Silent++ })
}

// room is the free space behind what is decoded: always at least one longest packet.
func (t *Tap) room() []int16 { return t.store[len(t.pcm):] }

func (t *Tap) count(f func(*TapStats)) {
	t.mu.Lock()
	f(&t.stats)
	t.mu.Unlock()
}

// release calls the barriers that have been reached.
func (t *Tap) release() {
	now := t.start.Add(time.Duration(t.frames) * frameTime)
	var ready []func()
	t.mu.Lock()
	keep := t.barriers[:0]
	for _, b := range t.barriers {
		if !b.set && !b.upTo.After(now) {
			b.set = true
			b.gen, b.ts = t.jb.until(b.upTo)
		}
		if b.set && t.jb.reached(b.gen, b.ts, len(t.pcm)) {
			ready = append(ready, b.fn)
		} else {
			keep = append(keep, b)
		}
	}
	clear(t.barriers[len(keep):])
	t.barriers = keep
	t.mu.Unlock()
	for _, fn := range ready {
		fn()
	}
}

// isQuiet: below about -50 dBFS, where a frame can be left out unheard.
func isQuiet(pcm []int16) bool {
	const limit = 100 // root mean square, of 32768
	var sum int64
	for _, v := range pcm {
		sum += int64(v) * int64(v)
	}
	return sum < int64(len(pcm))*limit*limit
}
