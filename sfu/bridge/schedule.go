package bridge

import (
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/opus"
)

// wake begins a talk spurt when there is something to send and none is going on. The caller holds mu.
func (p *Player) wake(now time.Time) {
	if p.running || p.closed || !p.ready() {
		return
	}
	p.running, p.spurt = true, true
	if p.due.Before(now) {
		p.due = now
	}
	p.advance(now)
}

// ready: the next frame can be made.
func (p *Player) ready() bool {
	if p.paused || len(p.segs) == 0 {
		return false
	}
	s := &p.segs[0]
	switch {
	case s.ended || len(p.segs) > 1:
		return true // also when it is empty: the next one follows
	case s.dry:
		return p.time(s.n) >= cushion
	}
	return s.n >= p.frame
}

// onTimer is the schedule's tick.
func (p *Player) onTimer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running && !p.closed {
		p.advance(time.Now())
	}
}

// advance sends everything that is due and sets the timer for what comes next.
func (p *Player) advance(now time.Time) {
	if now.Sub(p.due) > lateMax {
		p.due, p.spurt = now, true
		p.stats.Late++
	}
	for p.running && !p.due.After(now) {
		p.step(now)
	}
	switch {
	case !p.running:
	case p.timer == nil:
		p.timer = time.AfterFunc(time.Until(p.due), p.onTimer)
	default:
		p.timer.Reset(time.Until(p.due))
	}
}

// step does what one place of the schedule asks for: a frame, or the end of the spurt.
func (p *Player) step(now time.Time) {
	p.finish(now)
	switch {
	case len(p.segs) > 0 && p.ready():
		p.play(&p.segs[0], now)
	case p.tail:
		clear(p.pcm)
		p.tail = false
		p.send(now)
	default:
		p.running = false
		if len(p.segs) > 0 && !p.paused {
			if s := &p.segs[0]; s.acc.started {
				s.dry = true
				p.stats.Stalls++
			}
		}
	}
}

// finish takes the items away that have been sent to the end.
func (p *Player) finish(now time.Time) {
	for len(p.segs) > 0 && p.segs[0].n == 0 && (p.segs[0].ended || len(p.segs) > 1) {
		acc := p.segs[0].acc
		p.segs = append(p.segs[:0], p.segs[1:]...)
		if !acc.started || acc.drained || len(p.segs) > 0 && p.segs[0].acc == acc {
			continue
		}
		acc.drained, acc.begun = true, false
		p.cfg.Out.End(acc.item)
		if p.cfg.Drained != nil {
			p.cfg.Drained(p.report(acc, now))
		}
	}
}

// play sends the next frame of the item.
func (p *Player) play(s *segment, now time.Time) {
	n := min(p.frame, s.n)
	p.q.pop(p.pcm[:n])
	clear(p.pcm[n:])
	s.n -= n
	s.dry = false
	p.tail = s.n == 0 && p.time(p.frame-n) < p.enc.behind()
	acc := s.acc
	if !acc.begun {
		acc.begun = true
		p.cfg.Out.Begin(acc.epoch, acc.item)
	}
	first := !acc.started
	acc.started = true
	p.send(now)
	p.sent(acc, n, now)
	if first && p.cfg.Started != nil {
		p.cfg.Started(acc.epoch, acc.item)
	}
}

// send encodes p.pcm, hands the packet out and moves the schedule on.
func (p *Player) send(now time.Time) {
	if p.zero.IsZero() {
		p.zero = p.due
	}
	if p.spurt {
		p.ts = p.base + uint32(p.due.Sub(p.zero)*time.Duration(p.clock)/time.Second)
	}
	ts := p.ts
	p.ts += p.ticks
	p.due = p.due.Add(frameTime)
	payload, err := p.enc.encode(p.pcm)
	if err != nil {
		p.stats.Errors++
		return
	}
	if p.skip(payload) {
		return
	}
	p.pkt.Header = rtp.Header{Version: 2, Marker: p.spurt, SequenceNumber: p.seq, Timestamp: ts, SSRC: p.ssrc}
	p.pkt.Payload = payload
	p.seq++
	p.stats.Packets++
	if p.spurt {
		p.stats.Spurts++
		p.spurt = false
	}
	p.cfg.Out.Forward(&p.pkt, now)
}

// skip: within DTX only the first packet is sent; it tells the decoder. What follows the silence is a new spurt.
func (p *Player) skip(payload []byte) bool {
	if _, ok := p.enc.(*opusEncoder); !ok || !opus.Silent(payload) {
		p.spurt = p.spurt || p.quiet
		p.quiet = false
		return false
	}
	was := p.quiet
	p.quiet = true
	return was
}
