package bridge

import (
	"fmt"
	"time"
)

// carry keeps the first half of a sample that a chunk of bytes was cut through.
type carry struct {
	acc  *account
	low  byte
	full bool
}

// Write takes PCM of an item, as much at once as the provider sends. It returns how many samples were taken; the rest
// was dropped. Audio of another item than before ends the one before. Errors: ErrStale, ErrFull, ErrClosed.
//
// When nothing was sent within the last 20 ms, the first packet leaves before Write returns.
func (p *Player) Write(epoch uint64, itemID string, pcm []int16) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.open(epoch, itemID, len(pcm))
	if err != nil {
		return 0, err
	}
	n := p.fits(len(pcm))
	p.q.push(pcm[:n])
	return n, p.took(s, n, len(pcm)-n)
}

// WriteBytes is Write for little-endian samples, as they come out of a provider's base64. A chunk may end in the middle
// of a sample. It returns the whole samples that were taken.
func (p *Player) WriteBytes(epoch uint64, itemID string, data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.open(epoch, itemID, len(data)/2)
	if err != nil {
		return 0, err
	}
	n := 0
	if p.carry.full && p.carry.acc == s.acc && len(data) > 0 {
		if n = p.fits(1); n == 1 {
			p.q.pushBytes([]byte{p.carry.low, data[0]})
		}
		data = data[1:]
	}
	p.carry = carry{}
	if len(data)%2 == 1 {
		p.carry = carry{acc: s.acc, low: data[len(data)-1], full: true}
		data = data[:len(data)-1]
	}
	m := p.fits(len(data) / 2)
	p.q.pushBytes(data[:2*m])
	return n + m, p.took(s, n+m, len(data)/2-m)
}

// open finds or makes the segment that new audio goes to.
func (p *Player) open(epoch uint64, itemID string, samples int) (*segment, error) {
	switch {
	case p.closed:
		return nil, fmt.Errorf("player: %w", ErrClosed)
	case p.stale(epoch):
		p.stats.Stale += p.time(samples)
		return nil, ErrStale
	}
	p.wrote, p.newest = true, max(p.newest, epoch)
	if len(p.segs) > 0 {
		last := &p.segs[len(p.segs)-1]
		if last.acc.epoch == epoch && last.acc.item == itemID && !last.ended {
			return last, nil
		}
		last.ended = true
	}
	p.segs = append(p.segs, segment{acc: p.account(epoch, itemID)})
	return &p.segs[len(p.segs)-1], nil
}

func (p *Player) stale(epoch uint64) bool { return p.cut && epoch <= p.cutEpoch }

// fits is how many of n samples the queue has room for.
func (p *Player) fits(n int) int {
	limit := int(p.cfg.Limit * time.Duration(p.cfg.Rate) / time.Second)
	return min(n, max(limit-p.q.n, 0))
}

// took accounts for audio that was queued, and begins to play when there is enough.
func (p *Player) took(s *segment, n, dropped int) error {
	s.n += n
	s.acc.received += n
	p.wake(time.Now())
	if dropped > 0 {
		p.stats.Dropped += p.time(dropped)
		return fmt.Errorf("%w: %v dropped", ErrFull, p.time(dropped))
	}
	return nil
}

// End says that all audio of the item was written: its last, incomplete frame is filled up with silence.
func (p *Player) End(epoch uint64, itemID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.segs) - 1; i >= 0; i-- {
		if s := &p.segs[i]; s.acc.epoch == epoch && s.acc.item == itemID {
			s.ended = true
			break
		}
	}
	now := time.Now()
	if !p.running {
		p.finish(now)
	}
	p.wake(now)
}

// Pause lets the frame that was sent last be the last one until Resume. Nothing is lost: Resume goes on with the very
// next sample, as a new talk spurt.
func (p *Player) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = true
}

// Resume ends a pause.
func (p *Player) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = false
	p.wake(time.Now())
}
