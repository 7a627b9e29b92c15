package playback

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/opus"
)

const (
	frame        = 20 * time.Millisecond
	frameSamples = rate * 20 / 1000
	frameTicks   = 960 // of the 48 kHz RTP clock of Opus (RFC 7587 section 4.1)
	// behind is how late a frame may be before the clock starts anew: catching up would only fill the client's buffer.
	behind = 100 * time.Millisecond
)

// Pacer is a Player that codes to Opus and gives one RTP packet every 20 ms by a monotonic clock: silence in the queue is a
// pause in the packets, and the packet after it is marked (RFC 3551 section 4.1).
type Pacer struct {
	out   *Output
	write func(p *rtp.Packet, at time.Time)
	enc   *opus.Encoder

	mu    sync.Mutex // guards what follows
	queue []chunk
	wake  chan struct{}

	// What follows belongs to Run.
	pcm     [frameSamples]int16
	payload [opus.MaxPacket]byte
	packet  rtp.Packet
	pause   bool
	ticked  time.Time // when the last packet left
}

type chunk struct {
	item string
	pcm  []int16
	end  bool
}

// NewPacer makes a Pacer for out that gives its packets to write, from one goroutine, valid until return.
func NewPacer(out *Output, write func(p *rtp.Packet, at time.Time)) (*Pacer, error) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: rate, Bitrate: 32000, Complexity: 5, FEC: true, LossPercent: 5})
	if err != nil {
		return nil, fmt.Errorf("start the encoder: %w", err)
	}
	p := &Pacer{out: out, write: write, enc: enc, wake: make(chan struct{}, 1), pause: true}
	p.packet.Version = 2
	out.Use(p)
	return p, nil
}

// Write queues audio.
func (p *Pacer) Write(item string, pcm []int16) {
	p.mu.Lock()
	p.queue = append(p.queue, chunk{item: item, pcm: pcm})
	p.mu.Unlock()
	p.nudge()
}

// End closes the item's audio.
func (p *Pacer) End(item string) {
	p.mu.Lock()
	for i := len(p.queue) - 1; i >= 0; i-- {
		if p.queue[i].item == item {
			p.queue[i].end = true
			break
		}
	}
	p.mu.Unlock()
	p.nudge()
}

// Clear empties the queue.
func (p *Pacer) Clear() { p.mu.Lock(); p.queue = nil; p.mu.Unlock() }

func (p *Pacer) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// next fills the frame buffer. n = 0: there is no whole frame yet, and no end that lets a short one go.
func (p *Pacer) next() (item string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return "", 0
	}
	item = p.queue[0].item
	have, short := 0, false
	for _, c := range p.queue {
		if c.item != item {
			short = true // another item follows: this one is over, told or not
			break
		}
		have += len(c.pcm)
		short = short || c.end
	}
	if have < frameSamples && !short {
		return item, 0
	}
	for len(p.queue) > 0 && n < frameSamples && p.queue[0].item == item {
		c := &p.queue[0]
		k := copy(p.pcm[n:], c.pcm)
		n += k
		c.pcm = c.pcm[k:]
		if len(c.pcm) == 0 {
			p.queue[0] = chunk{}
			p.queue = p.queue[1:]
		}
	}
	clear(p.pcm[n:])
	return item, n
}

// Run plays until ctx ends.
func (p *Pacer) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := time.Now()
	playing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.wake:
			if playing {
				continue // the timer will come
			}
		case <-timer.C:
		}
		now := time.Now()
		if playing && now.Before(due) {
			timer.Reset(due.Sub(now))
			continue
		}
		item, n := p.next()
		if n == 0 {
			if playing {
				playing, p.pause = false, true
				p.out.Drained()
			}
			continue
		}
		if !playing || now.Sub(due) > behind {
			due = now
		}
		playing = true
		p.out.Play(item, n, func() { p.send(now) })
		due = due.Add(frame)
		timer.Reset(time.Until(due))
	}
}

// send codes the frame and gives its packet out.
func (p *Pacer) send(now time.Time) {
	n, err := p.enc.Encode(p.pcm[:], p.payload[:])
	if err != nil {
		return // a frame of the right length always fits
	}
	step := uint32(frameTicks)
	if p.pause && !p.ticked.IsZero() {
		step = max(uint32(now.Sub(p.ticked)/frame), 1) * frameTicks //nolint:gosec // a call does not pause for a day
	}
	p.packet.SequenceNumber++
	p.packet.Timestamp += step
	p.packet.Marker = p.pause
	p.packet.Payload = p.payload[:n]
	p.pause, p.ticked = false, now
	p.write(&p.packet, now)
}
