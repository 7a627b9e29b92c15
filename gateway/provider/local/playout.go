package local

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
)

const (
	clockRate      = 48000
	frameTicks     = clockRate / 50
	maxLate        = 200 * time.Millisecond // a clock that is later than this starts anew instead of sending a burst
	sentHistory    = 16                     // items whose sent time is remembered after they were played
	drainedBacklog = 64
)

// rtpWriter is where packets go.
type rtpWriter interface{ WriteRTP(*rtp.Packet) error }

// playout sends one session's speech: 20 ms frames on a monotonic clock, in talk spurts. Between spurts it sends nothing;
// the first packet of a spurt has the marker bit, and its timestamp has moved on by the time that passed (RFC 3551 4.1).
type playout struct {
	out     rtpWriter
	wake    chan struct{}
	drained chan string // response ids whose audio has been sent to the end
	failed  atomic.Uint64

	mu     sync.Mutex // guards what follows; held while a packet is written, so that after cut none leaves
	queue  []piece
	ahead  int // frames in queue
	sent   map[string]int
	order  []string // keys of sent, oldest first
	packet rtp.Packet
	silent bool // muted for good
}

// piece is a clip of an item, or the end of a response.
type piece struct {
	response, item string
	frames         [][]byte
	last           bool
}

func newPlayout(out rtpWriter) *playout {
	p := &playout{out: out, wake: make(chan struct{}, 1), drained: make(chan string, drainedBacklog), sent: map[string]int{}}
	p.packet.Version = 2
	return p
}

// play queues a clip.
func (p *playout) play(response, item string, frames [][]byte) {
	p.push(piece{response: response, item: item, frames: frames})
}

// end queues the end of a response; drained tells when it is reached.
func (p *playout) end(response string) { p.push(piece{response: response, last: true}) }

func (p *playout) push(x piece) {
	p.mu.Lock()
	p.queue = append(p.queue, x)
	p.ahead += len(x.frames)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// cut empties the queue. When it returns, not one packet of what was queued leaves any more.
func (p *playout) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue, p.ahead = nil, 0
}

// mute lets no packet out any more.
func (p *playout) mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
}

// lead is how much audio waits.
func (p *playout) lead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(p.ahead) * frameTime
}

// played is how much of an item's audio has been sent.
func (p *playout) played(item string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(p.sent[item]) * frameTime
}

// run sends until ctx ends.
func (p *playout) run(ctx context.Context) {
	var ended time.Time // of the last spurt: when its next packet would have been due
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		if !ended.IsZero() {
			if gap := time.Since(ended); gap > 0 {
				p.packet.Timestamp += uint32(gap * clockRate / time.Second)
			}
		}
		ended = p.spurt(ctx)
	}
}

// spurt sends until the queue is empty and returns when its next packet would have been due.
func (p *playout) spurt(ctx context.Context) time.Time {
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := time.Now()
	for first := true; ; {
		select {
		case <-ctx.Done():
			return due
		case <-timer.C:
		}
		sent, done := p.next(first)
		for _, response := range done {
			select {
			case p.drained <- response:
			case <-ctx.Done():
				return due
			}
		}
		if !sent {
			return due
		}
		first = false
		due = due.Add(frameTime)
		if late := time.Since(due); late > maxLate {
			due = due.Add(late)
		}
		timer.Reset(time.Until(due))
	}
}

// next sends one frame, if there is one, and reports the responses that have ended before it.
func (p *playout) next(marker bool) (sent bool, done []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		head := &p.queue[0]
		if head.last {
			done = append(done, head.response)
		}
		if len(head.frames) == 0 {
			p.queue = p.queue[1:]
			continue
		}
		p.packet.Marker = marker
		p.packet.Payload = head.frames[0]
		if err := p.write(); err != nil {
			p.failed.Add(1)
		}
		p.packet.SequenceNumber++
		p.packet.Timestamp += frameTicks
		head.frames = head.frames[1:]
		p.ahead--
		p.count(head.item)
		return true, done
	}
	p.queue = nil
	return false, done
}

func (p *playout) write() error {
	if p.silent {
		return nil
	}
	return p.out.WriteRTP(&p.packet)
}

// count adds a sent frame to an item. The caller holds mu.
func (p *playout) count(item string) {
	if _, known := p.sent[item]; !known {
		p.order = append(p.order, item)
		if len(p.order) > sentHistory {
			delete(p.sent, p.order[0])
			p.order = p.order[1:]
		}
	}
	p.sent[item]++
}
