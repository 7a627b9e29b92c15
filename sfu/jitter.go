package sfu

import (
	"time"

	"github.com/pion/rtp"
)

const (
	// jitterSlots bounds the packets that wait: more than jitterMax of 10 ms packets.
	jitterSlots = 64
	// jitterMax is the longest delay the ear accepts, in timestamp units (200 ms). Beyond it, audio is left out.
	jitterMax = opusClock / 5
	// jitterJump: a packet this far ahead of an empty buffer comes from a clock that was set anew (400 ms).
	jitterJump = 2 * opusClock / 5
	// tickSlack: a packet that comes this close to a tick waits for the next one, so that its followers may jitter.
	tickSlack = 5 * time.Millisecond
	// spareWindow: the shortest wait of this many packets says how much delay can be given back.
	spareWindow = 100
	spareGuard  = 10 * time.Millisecond
	// concealUnit is the grain of loss concealment in libopus, 2.5 ms in timestamp units.
	concealUnit = opusClock / 400
)

// jitterBuffer orders packets by timestamp and says, tick by tick, what to play. next is the timestamp of the next
// sample to decode; it moves with the clock, whether or not there is something to play. Pure state, no clock, no lock.
type jitterBuffer struct {
	tick    int64 // frames made so far; the owner's clock
	running bool
	gen     int // of the mapping from timestamps to ticks; a new one makes old timestamps meaningless
	ssrc    uint32
	next    uint32
	played  uint32 // end of the newest real audio that was played
	lastSeq uint16 // of the packet played last
	lastDur uint32
	dtx     bool // the packet played last was silence

	q    []*slot // by timestamp
	free []*slot

	spare    time.Duration // shortest wait in the last full window
	spareNow time.Duration
	spareN   int
}

type slot struct {
	ts, dur uint32
	seq     uint16
	at      time.Time
	buf     []byte
}

type pushResult int

const (
	pushed pushResult = iota
	pushLate
	pushOverflow // kept, but older ones were left out
)

// push takes a packet that arrived at at, until before the next tick.
func (j *jitterBuffer) push(p *rtp.Packet, at time.Time, until time.Duration) pushResult {
	until = max(until, 0)
	if !j.running || p.SSRC != j.ssrc {
		j.anchor(p, until)
	}
	ahead := int32(p.Timestamp - j.next)
	result := pushed
	switch {
	case len(j.q) == 0 && (ahead > jitterJump || ahead < -opusClock*10):
		j.anchor(p, until)
	case ahead < 0:
		if int32(p.Timestamp-j.played) < 0 || j.newest(p.Timestamp)-p.Timestamp > jitterMax {
			return pushLate
		}
		// Its turn has passed, but nothing newer was played: play it next, and everything behind it later.
		j.rewind(p.Timestamp, until)
	case ahead > jitterMax+jitterMax/2 && len(j.q) > 0:
		j.catchUp(p.Timestamp - jitterMax)
		result = pushOverflow
	default:
		j.measure(ticksDuration(ahead) + until)
	}
	if !j.insert(p, at) {
		return pushLate
	}
	return result
}

// anchor makes a new mapping: p is played at the next tick, or one later when that is too close.
func (j *jitterBuffer) anchor(p *rtp.Packet, until time.Duration) {
	j.gen++
	j.clear()
	j.running, j.ssrc, j.played, j.lastSeq = true, p.SSRC, p.Timestamp, p.SequenceNumber-1
	j.dtx = true // nothing was lost before it
	j.rewind(p.Timestamp, until)
	j.spare, j.spareNow, j.spareN = 0, 0, 0
}

func (j *jitterBuffer) rewind(ts uint32, until time.Duration) {
	j.next = ts
	if until < tickSlack {
		j.next -= frameTicks
	}
	j.spare, j.spareN = 0, 0
}

// catchUp leaves out everything before ts.
func (j *jitterBuffer) catchUp(ts uint32) {
	j.next = ts
	for len(j.q) > 0 && int32(j.q[0].ts-ts) < 0 {
		j.drop()
	}
}

func (j *jitterBuffer) newest(ts uint32) uint32 {
	if n := len(j.q); n > 0 && int32(j.q[n-1].ts-ts) > 0 {
		return j.q[n-1].ts
	}
	return ts
}

// measure keeps the shortest wait between arrival and turn over a window.
func (j *jitterBuffer) measure(wait time.Duration) {
	if j.spareN == 0 || wait < j.spareNow {
		j.spareNow = wait
	}
	if j.spareN++; j.spareN == spareWindow {
		j.spare, j.spareN = j.spareNow, 0
	}
}

func (j *jitterBuffer) insert(p *rtp.Packet, at time.Time) bool {
	i := len(j.q)
	for i > 0 && int32(p.Timestamp-j.q[i-1].ts) <= 0 {
		if i--; j.q[i].ts == p.Timestamp {
			return false
		}
	}
	if len(j.q) == jitterSlots {
		return false
	}
	var s *slot
	if n := len(j.free); n > 0 {
		s, j.free = j.free[n-1], j.free[:n-1]
	} else {
		s = &slot{}
	}
	s.ts, s.dur, s.seq, s.at = p.Timestamp, durationTicks(p.Payload), p.SequenceNumber, at
	s.buf = append(s.buf[:0], p.Payload...)
	j.q = append(j.q, nil)
	copy(j.q[i+1:], j.q[i:])
	j.q[i] = s
	return true
}

// drop frees the first packet.
func (j *jitterBuffer) drop() {
	j.free = append(j.free, j.q[0])
	n := copy(j.q, j.q[1:])
	j.q[n] = nil
	j.q = j.q[:n]
}

func (j *jitterBuffer) clear() {
	for len(j.q) > 0 {
		j.drop()
	}
}

type popKind int

const (
	popSilence popKind = iota // nothing is due
	popPacket                 // play the packet
	popRecover                // play what the packet says about the one before it
	popLost                   // something was due and is not here
)

// step is what to play next. samples (at TapRate) is set for everything but popPacket.
type step struct {
	kind    popKind
	samples int
	spare   bool // the packet may be left out when it is quiet
}

// pop says what comes next and puts the packet, if there is one, into dst.
func (j *jitterBuffer) pop(dst *[]byte) step {
	if !j.running {
		return step{kind: popSilence, samples: TapSamples}
	}
	if len(j.q) == 0 {
		j.next += frameTicks
		if j.dtx {
			return step{kind: popSilence, samples: TapSamples}
		}
		return step{kind: popLost, samples: TapSamples}
	}
	head := j.q[0]
	ahead := int32(head.ts - j.next)
	if ahead < concealUnit {
		s := step{kind: popPacket, spare: j.spare > frameTime+spareGuard}
		if s.spare {
			j.spare, j.spareN = 0, 0 // one frame per window
		}
		*dst = append((*dst)[:0], head.buf...)
		j.next = head.ts + head.dur
		j.played, j.lastSeq, j.lastDur = j.next, head.seq, head.dur
		j.dtx = len(head.buf) <= comfortBytes
		j.drop()
		return s
	}
	gap := min(uint32(ahead), frameTicks)
	gap -= gap % concealUnit
	s := step{kind: popLost, samples: int(gap / (opusClock / TapRate))}
	switch {
	case head.seq == j.lastSeq+1:
		s.kind = popSilence // a pause, not a loss
	case uint32(ahead) <= j.lastDur && uint32(ahead) == gap:
		s.kind = popRecover
		*dst = append((*dst)[:0], head.buf...)
	}
	j.next += gap
	return s
}

// until is the end of the newest packet that arrived by at, or the present position.
func (j *jitterBuffer) until(at time.Time) (gen int, ts uint32) {
	ts = j.next
	for _, s := range j.q {
		if end := s.ts + s.dur; !s.at.After(at) && int32(end-ts) > 0 {
			ts = end
		}
	}
	return j.gen, ts
}

// reached: everything before ts was handed out, up to waiting samples that are decoded but not handed out.
func (j *jitterBuffer) reached(gen int, ts uint32, waiting int) bool {
	return gen != j.gen || int32(j.next-uint32(waiting*opusClock/TapRate)-ts) >= 0
}

// ticksDuration turns a signed count of timestamp units into time.
func ticksDuration(n int32) time.Duration { return time.Duration(n) * time.Second / opusClock }
