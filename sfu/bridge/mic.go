package bridge

import (
	"fmt"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/sfu/g711"
)

// Upstream is the form in which a provider takes audio.
type Upstream int

// The forms.
const (
	PCM16 Upstream = iota // little-endian samples at MicConfig.Rate
	MuLaw                 // G.711 µ-law, 8 kHz
	ALaw                  // G.711 A-law, 8 kHz
)

// MicConfig is everything a Mic is told. The zero value of a field means what its comment says.
type MicConfig struct {
	// Codec of the packets: Opus, PCMU or PCMA. Zero: Opus.
	Codec sfu.Codec
	// Upstream is the form of what is handed out, Rate its sample rate: 8000, 16000, 24000 or 48000 Hz for PCM16, always
	// 8000 for G.711. Rate 0: 24000 for PCM16.
	Upstream Upstream
	Rate     int
	// Chunk is how much is handed out at a time: 20 to 200 ms, in steps of 20 ms. 0: 20 ms.
	Chunk time.Duration
	// Handle takes the chunks, one at a time and in order, with the microphone's lock held, on the goroutine of Push
	// or on a timer's. It must not block and must not call the microphone. Required.
	Handle func(Chunk)
}

// Chunk is a piece of what one person said. Its slices are valid until Handle returns.
type Chunk struct {
	Data []byte        // in the upstream's form
	PCM  []int16       // the same as samples
	Pos  time.Duration // stream time of the first sample, since the first packet
	Lost bool          // some of it was recovered or guessed, or is silence in place of lost packets
}

// MicStats count since the start.
type MicStats struct {
	Packets   uint64        // played
	Late      uint64        // came after their turn, and were dropped
	Recovered uint64        // lost packets filled from in-band FEC
	Concealed uint64        // lost packets filled by concealment, whole or in part
	Restarts  uint64        // new sources, or clocks set anew
	Paused    time.Duration // silence in place of packets that were never sent (DTX, mute)
	Missing   time.Duration // silence in place of lost packets that concealment does not reach
	Stalled   time.Duration // silence put in while the network stood still
	Wait      time.Duration // how long a gap is held open now for packets that were overtaken
}

// Mic turns one person's packets into the stream that a provider appends to its input buffer.
//
// A packet that comes in order is decoded and handed out at once: a buffer that only appends needs no smooth arrival,
// so there is no jitter buffer to wait in. A gap in the sequence is held open for packets that were overtaken, as long
// as the network has lately needed (20 to 120 ms), then filled: by in-band FEC the frame before the gap's end, by
// concealment up to 60 ms, by silence the rest. A gap in the timestamps alone is a pause and becomes silence. While
// nothing comes at all, silence goes on in real time, 100 ms behind, so that the provider hears the turn end; what then
// turns out to have been sent is still played.
//
// Safe for concurrent use.
type Mic struct {
	cfg   MicConfig
	in    decoder
	clock int // RTP

	mu sync.Mutex // guards what follows
	order
	timer  *time.Timer
	armed  time.Time // when the timer fires; zero: not set
	closed bool

	chunk     int // samples
	pcm       []int16
	data      []byte
	out       int64 // samples handed out
	lost      bool  // something in pcm was not received
	dropUntil bool  // packets up to dropSeq are not handed out
	dropSeq   uint16
	muted     bool // what is being played is one of them
	barriers  []barrier
	stats     MicStats
}

type barrier struct {
	upTo time.Time
	fn   func()
}

// NewMic makes a microphone that waits for packets. Call Close when it is no longer needed. Error: ErrConfig.
func NewMic(c MicConfig) (*Mic, error) {
	f, err := formatOf(c.Codec)
	if err != nil {
		return nil, err
	}
	if c.Upstream != PCM16 {
		c.Rate = g711.Rate
	}
	if c.Rate == 0 {
		c.Rate = DefaultRate
	}
	if c.Chunk == 0 {
		c.Chunk = frameTime
	}
	switch {
	case c.Handle == nil:
		return nil, fmt.Errorf("%w: Handle is missing", ErrConfig)
	case !goodRate(c.Rate), c.Upstream < PCM16, c.Upstream > ALaw:
		return nil, fmt.Errorf("%w: rate %d Hz, form %d", ErrConfig, c.Rate, c.Upstream)
	case c.Chunk < frameTime, c.Chunk > 10*frameTime, c.Chunk%frameTime != 0:
		return nil, fmt.Errorf("%w: chunk of %v", ErrConfig, c.Chunk)
	}
	in, err := newDecoder(f, c.Rate)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	m := &Mic{cfg: c, in: in, clock: f.clock(), chunk: int(c.Chunk * time.Duration(c.Rate) / time.Second)}
	m.init()
	m.pcm = make([]int16, 0, m.chunk+int(longest*time.Duration(c.Rate)/time.Second)+16)
	m.data = make([]byte, 0, 2*m.chunk)
	return m, nil
}

// Push takes one packet and copies what it has to keep; at is when it arrived.
func (m *Mic) Push(p *rtp.Packet, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.take(p, at)
	m.schedule(at)
}

// Flush calls fn after everything that had arrived by upTo was handed out, with the last chunk cut short; for
// push-to-talk, whose commit must not overtake the audio. It is called at once when nothing waits and upTo is not in
// the future, else on the goroutine that hands out, in any case under Handle's rules. Give upTo some time ahead when
// audio may still be on its way. A microphone that is closed first calls fn then.
func (m *Mic) Flush(upTo time.Time, fn func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		fn()
		return
	}
	m.barriers = append(m.barriers, barrier{upTo, fn})
	now := time.Now()
	m.release(now)
	m.schedule(now)
}

// Discard drops what arrived by now and was not handed out: the end of an unfinished chunk, and packets that wait for
// one before them. For the clear that begins a held turn.
func (m *Mic) Discard() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pcm, m.lost = m.pcm[:0], false
	if n := len(m.held); n > 0 {
		m.dropUntil, m.dropSeq = true, m.held[n-1].seq
	}
}

// Stats may be called at any time.
func (m *Mic) Stats() MicStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Wait = m.wait
	return s
}

// Close ends the microphone: what was not handed out is dropped, waiting Flushes are called, and after it returns
// nothing is called any more.
func (m *Mic) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.closed = true
	if m.timer != nil {
		m.timer.Stop()
	}
	for _, b := range m.barriers {
		b.fn()
	}
	m.barriers = nil
}
