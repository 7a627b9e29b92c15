package bridge

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/sfu/opus"
)

const (
	// limitDefault holds the longest answer that a provider bursts: OpenAI's 4096 output tokens are three and a half
	// minutes. 14 MB of PCM when it is full.
	limitDefault = 5 * time.Minute
	// playoutDefault is assumed until a client reports its buffer, as in sfu.Downlink.
	playoutDefault = 80 * time.Millisecond
	// cushion is what must wait before an item goes on that ran dry in its middle, so that it does not run dry again
	// with every chunk of a provider that is no faster than real time.
	cushion = 60 * time.Millisecond
	// lateMax: a schedule this far behind (the process stood still) is set anew instead of caught up with.
	lateMax = 200 * time.Millisecond
	// accountsMax bounds the items that Account still knows.
	accountsMax = 32
)

// Speech is how a Player encodes unless told otherwise.
func Speech() opus.EncoderConfig {
	return opus.EncoderConfig{Bitrate: 24000, Complexity: 5, FEC: true, LossPercent: 5}
}

// PlayerConfig is everything a Player is told. The zero value of a field means what its comment says.
type PlayerConfig struct {
	// Out takes the packets. Required.
	Out Output
	// Codec of the packets: Opus, PCMU or PCMA. Zero: Opus.
	Codec sfu.Codec
	// Rate of the PCM that is written: 8000, 16000, 24000 or 48000 Hz. 0: 24000.
	Rate int
	// Encoder says how Opus is coded; its SampleRate is ignored. nil: Speech().
	Encoder *opus.EncoderConfig
	// Limit is how much audio may wait. What does not fit is dropped, counted, and refused with ErrFull. 0: 5 minutes.
	Limit time.Duration
	// Started is called when an item's first packet has left, Drained when the last sample of an ended item has been
	// sent (and its time has passed). Neither is called for an item that Clear took away. Both are called with the
	// player's lock held, on the timer's goroutine or within the call that caused it; they must not block and must
	// not call the player.
	Started func(epoch uint64, itemID string)
	Drained func(Account)
}

// PlayerStats are counters since the start.
type PlayerStats struct {
	Packets uint64        // handed to Out
	Spurts  uint64        // packets with the marker bit
	Stalls  uint64        // times an item ran dry in its middle
	Late    uint64        // times the schedule was set anew because the process stood still
	Stale   time.Duration // audio refused because its epoch was cleared
	Dropped time.Duration // audio refused because the queue was full
	Cleared time.Duration // audio that Clear took out of the queue
	Errors  uint64        // frames that could not be encoded
	Queued  time.Duration // audio that waits now
}

// Player sends bursts of PCM as one packet every 20 ms.
//
// Time. A talk spurt begins when its first frame is complete; from then on packet n leaves exactly n·20 ms later,
// scheduled absolutely: a late wake-up is followed by an earlier one, never by drift. Sequence numbers go on by one.
// Timestamps go on by a frame within a spurt and by the time that passed between spurts. The marker bit is on a spurt's
// first packet only (RFC 3551 section 4.1).
//
// Safe for concurrent use. One lock, held while a frame is encoded and handed out: that is what makes Clear's promise
// true.
type Player struct {
	cfg   PlayerConfig
	enc   encoder
	frame int // samples in 20 ms
	ticks uint32
	clock int

	mu    sync.Mutex // guards what follows
	q     queue
	segs  []segment  // the items of the queue, in order
	items []*account // the items not long over, oldest first
	carry carry

	timer   *time.Timer
	running bool      // the schedule is going on
	due     time.Time // of the next frame; when not running: no frame may leave before it
	zero    time.Time // time of timestamp base
	base    uint32
	ts      uint32
	seq     uint16
	ssrc    uint32
	spurt   bool // the next packet begins one
	quiet   bool // the encoder is in DTX
	tail    bool // the end of what was played is still inside the encoder
	paused  bool
	closed  bool

	generation uint64 // of the queue: one more with every Clear
	cut        bool
	cutEpoch   uint64
	wrote      bool
	newest     uint64 // epoch written

	playout time.Duration
	playEnd time.Time // when the client will have played all that was sent

	pcm   []int16 // scratch, one frame
	pkt   rtp.Packet
	stats PlayerStats
}

// segment is a stretch of the queue that belongs to one item.
type segment struct {
	acc   *account
	n     int // samples that wait
	ended bool
	dry   bool // ran out in the middle of the item
}

// NewPlayer makes a player that waits for audio. Call Close when it is no longer needed. Error: ErrConfig.
func NewPlayer(c PlayerConfig) (*Player, error) {
	if c.Out == nil {
		return nil, fmt.Errorf("%w: Out is missing", ErrConfig)
	}
	f, err := formatOf(c.Codec)
	if err != nil {
		return nil, err
	}
	if c.Rate == 0 {
		c.Rate = DefaultRate
	}
	if c.Limit == 0 {
		c.Limit = limitDefault
	}
	if !goodRate(c.Rate) || c.Limit < frameTime {
		return nil, fmt.Errorf("%w: rate %d Hz, limit %v", ErrConfig, c.Rate, c.Limit)
	}
	speech := Speech()
	if c.Encoder == nil {
		c.Encoder = &speech
	}
	enc, err := newEncoder(f, c.Rate, *c.Encoder)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	p := &Player{
		cfg: c, enc: enc, frame: c.Rate / 50, clock: f.clock(), ticks: uint32(f.clock() / 50), playout: playoutDefault,
		base: rand.Uint32(), seq: uint16(rand.Uint32()), ssrc: rand.Uint32(),
	}
	p.pcm = make([]int16, p.frame)
	p.segs = make([]segment, 0, 8)
	return p, nil
}

// Close ends the player: what waits is dropped, and after it returns nothing is sent or called.
func (p *Player) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.halt()
	p.q.clear()
	p.segs, p.items = nil, nil
}

// halt stops the schedule.
func (p *Player) halt() {
	p.running = false
	if p.timer != nil {
		p.timer.Stop()
	}
}

// SetLoss tells how many percent of the packets the client loses: the encoder spends redundancy accordingly.
func (p *Player) SetLoss(percent int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.enc.(*opusEncoder); ok {
		_ = e.enc.SetLoss(min(max(percent, 0), 100)) // in range: libopus takes it
	}
}

// Stats may be called at any time.
func (p *Player) Stats() PlayerStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Queued = p.time(p.q.n)
	return s
}

// time is how long n samples last.
func (p *Player) time(n int) time.Duration { return samplesTime(n, p.cfg.Rate) }

func samplesTime(n, rate int) time.Duration {
	return time.Duration(n) * time.Second / time.Duration(rate)
}
