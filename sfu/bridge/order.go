package bridge

import (
	"time"

	"github.com/pion/rtp"
)

const (
	// waitMin and waitMax bound how long a gap is held open for an overtaken packet. A network that does not reorder
	// pays waitMin once per loss.
	waitMin = 20 * time.Millisecond
	waitMax = 120 * time.Millisecond
	// waitSpare is added to the lateness that was seen.
	waitSpare = 5 * time.Millisecond
	// waitDecay is the part of the difference to waitMin that every packet in order takes back: half in 14 s.
	waitDecay = 1000
	// heldMax bounds the packets that wait behind a gap.
	heldMax = 32
	// seqJump: a larger step is a restart of the source (RFC 3550 appendix A.1, MAX_DROPOUT).
	seqJump = 3000
	// clockSlack: timestamps that run further ahead of the time that passed were set anew.
	clockSlack = time.Second
	// concealMax: longer guesses become a drone that a speech detector takes for speech.
	concealMax = 60 * time.Millisecond
	// fillLag is how far behind real time silence is put in while nothing comes: as much as a common network stalls.
	fillLag = 100 * time.Millisecond
)

// order puts packets into their order: where the stream stands, and what waits behind a gap.
type order struct {
	started bool
	ssrc    uint32
	next    uint32 // timestamp that follows what was played
	lastSeq uint16
	lastDur time.Duration
	lastAt  time.Time     // when the packet played last arrived
	pausing bool          // it was DTX
	played  uint64        // bit i: the packet lastSeq-i was played
	filled  time.Duration // silence put in since then

	held  []*slot // by sequence number
	spare []*slot
	gapAt time.Time // when the latest gap was noticed
	wait  time.Duration
}

type slot struct {
	seq     uint16
	ts      uint32
	at      time.Time
	dur     time.Duration
	payload []byte
}

func (o *order) init() {
	o.wait = waitMin
	o.held, o.spare = make([]*slot, 0, heldMax), make([]*slot, 0, heldMax)
	slots := make([]slot, 4)
	for i := range slots {
		slots[i].payload = make([]byte, 0, 256)
		o.spare = append(o.spare, &slots[i])
	}
}

// take sorts a packet in and plays what can be played. The caller holds mu.
func (m *Mic) take(p *rtp.Packet, at time.Time) {
	dur := m.in.duration(p.Payload)
	if dur == 0 {
		m.skip(p, at)
		return
	}
	if m.started && p.SSRC == m.ssrc {
		d := int(int16(p.SequenceNumber - m.lastSeq))
		switch {
		case d > seqJump || d < -seqJump:
		case d <= 0:
			m.late(-d, at)
			return
		case d > 1:
			m.hold(p, dur, at)
			return
		default:
			if len(m.held) > 0 {
				m.learn(at)
			}
			m.play(p.SequenceNumber, p.Timestamp, dur, p.Payload, at)
			m.drain()
			return
		}
	}
	m.restart(p)
	m.play(p.SequenceNumber, p.Timestamp, dur, p.Payload, at)
}

// skip takes a packet without audio (padding, a probe) out of the sequence.
func (m *Mic) skip(p *rtp.Packet, at time.Time) {
	if m.started && p.SSRC == m.ssrc && p.SequenceNumber == m.lastSeq+1 {
		m.lastSeq++
		m.played = m.played<<1 | 1
		m.drain()
	}
}

// restart begins with a new source, or with the same one whose numbers were set anew.
func (m *Mic) restart(p *rtp.Packet) {
	if m.started {
		for len(m.held) > 0 {
			m.giveUp()
		}
		m.stats.Restarts++
		m.stats.Stalled += m.filled
		m.in.reset()
	}
	m.started, m.ssrc, m.next, m.lastSeq = true, p.SSRC, p.Timestamp, p.SequenceNumber-1
	m.lastDur, m.pausing, m.played, m.filled = 0, false, 0, 0
}

// late notes a packet whose place has passed: gaps have to be held open longer, unless it is a copy.
func (m *Mic) late(behind int, at time.Time) {
	if behind < 64 && m.played&(1<<behind) != 0 {
		return
	}
	m.stats.Late++
	m.learn(at)
}

// learn makes the next gap stay open long enough for a packet that is as late as this one.
func (m *Mic) learn(at time.Time) {
	if need := at.Sub(m.gapAt) + waitSpare; need > m.wait {
		m.wait = min(need, waitMax)
	}
}

// hold keeps a packet that has come before one of its predecessors.
func (m *Mic) hold(p *rtp.Packet, dur time.Duration, at time.Time) {
	i := len(m.held)
	for i > 0 && int16(p.SequenceNumber-m.held[i-1].seq) <= 0 {
		if i--; m.held[i].seq == p.SequenceNumber {
			return
		}
	}
	if len(m.held) == heldMax {
		m.giveUp()
		m.take(p, at) // again: it may follow directly now
		return
	}
	if len(m.held) == 0 {
		m.gapAt = at
	}
	var s *slot
	if n := len(m.spare); n > 0 {
		s, m.spare = m.spare[n-1], m.spare[:n-1]
	} else {
		s = new(slot)
	}
	s.seq, s.ts, s.at, s.dur = p.SequenceNumber, p.Timestamp, at, dur
	s.payload = append(s.payload[:0], p.Payload...)
	m.held = append(m.held, nil)
	copy(m.held[i+1:], m.held[i:])
	m.held[i] = s
}

// drain plays what waited for the packet that came.
func (m *Mic) drain() {
	some := false
	for len(m.held) > 0 && int16(m.held[0].seq-m.lastSeq) <= 1 {
		m.playHeld()
		some = true
	}
	if some && len(m.held) > 0 {
		m.gapAt = m.held[0].at
	}
}

// giveUp fills the gap before the first held packet and plays on.
func (m *Mic) giveUp() {
	m.playHeld()
	m.drain()
}

func (m *Mic) playHeld() {
	s := m.held[0]
	n := copy(m.held, m.held[1:])
	m.held[n] = nil
	m.held = m.held[:n]
	m.play(s.seq, s.ts, s.dur, s.payload, s.at)
	m.spare = append(m.spare, s)
}

// onTimer does what time alone brings: gaps that were open long enough, silence, barriers.
func (m *Mic) onTimer() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.armed = time.Time{}
	m.pass(time.Now())
}

func (m *Mic) pass(now time.Time) {
	for len(m.held) > 0 && now.Sub(m.gapAt) >= m.wait {
		m.giveUp()
	}
	m.fill(now)
	m.schedule(now)
}

// schedule releases barriers and sets the timer for the next thing to do. A timer that is set for earlier stays: it
// will find nothing to do and be set again, which is cheaper than setting it with every packet.
func (m *Mic) schedule(now time.Time) {
	m.release(now)
	var next time.Time
	switch {
	case len(m.held) > 0:
		next = m.gapAt.Add(m.wait)
	case m.started:
		next = m.silentFrom().Add(frameTime)
	}
	for _, b := range m.barriers {
		if b.upTo.After(now) && (next.IsZero() || b.upTo.Before(next)) {
			next = b.upTo
		}
	}
	if next.IsZero() || !m.armed.IsZero() && !m.armed.After(next) {
		return
	}
	m.armed = next
	if m.timer == nil {
		m.timer = time.AfterFunc(next.Sub(now), m.onTimer)
		return
	}
	m.timer.Reset(next.Sub(now))
}

// silentFrom is when the next frame of silence begins to be due.
func (m *Mic) silentFrom() time.Time { return m.lastAt.Add(m.lastDur + m.filled + fillLag) }

// fill puts silence in while nothing comes.
func (m *Mic) fill(now time.Time) {
	if !m.started || len(m.held) > 0 {
		return
	}
	for now.Sub(m.silentFrom()) >= frameTime {
		m.filled += frameTime
		m.pcm = m.in.silence(m.pcm, frameTime)
		m.handOut()
	}
}

// release calls the barriers that were reached.
func (m *Mic) release(now time.Time) {
	for len(m.barriers) > 0 {
		b := m.barriers[0]
		if b.upTo.After(now) {
			return
		}
		for _, s := range m.held {
			if !s.at.After(b.upTo) {
				return
			}
		}
		m.barriers = append(m.barriers[:0], m.barriers[1:]...)
		m.handOut()
		if len(m.pcm) > 0 {
			m.hand(len(m.pcm))
		}
		b.fn()
	}
}
