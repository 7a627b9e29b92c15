package sfu

import (
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/opus"
)

// frameTicks is a 20 ms frame in timestamp units.
const frameTicks = opusClock / 50

// splice maps one or more sources onto one continuous stream. Within a source, sequence numbers and timestamps keep
// their distances, so that the receiver sees real loss as loss. Where sources meet, the sequence goes on by one and
// the timestamp by the time that really passed, as after a pause.
type splice struct {
	started bool // anything was written yet
	joined  bool // the present source is mapped
	ssrc    uint32
	seqOff  uint16
	tsOff   uint32
	inFirst uint16 // first sequence number of the present source

	inTop  uint16 // highest sequence number in
	inTS   uint32 // its timestamp
	inDur  uint32 // its duration, timestamp units
	outSeq uint16 // highest sequence number out
	outTS  uint32
	outAt  time.Time
}

// join maps a new source so that p comes next.
func (s *splice) join(p *rtp.Packet, at time.Time) {
	if s.started {
		gap := uint32(0)
		if d := at.Sub(s.outAt); d > 0 {
			// Whole frames: decoders and jitter buffers like the grid.
			gap = uint32((d + frameTime/2) / frameTime * frameTicks)
		}
		s.seqOff = s.outSeq + 1 - p.SequenceNumber
		s.tsOff = s.outTS + max(gap, s.inDur) - p.Timestamp
	}
	s.joined, s.ssrc, s.inFirst = true, p.SSRC, p.SequenceNumber
	s.inTop = p.SequenceNumber - 1
}

// ahead is how far p is in front of the newest packet, in packets; 0 or less: late or a copy.
func (s *splice) ahead(p *rtp.Packet) int { return int(int16(p.SequenceNumber - s.inTop)) }

// stale: p was sent before the present source began here.
func (s *splice) stale(p *rtp.Packet) bool { return int16(p.SequenceNumber-s.inFirst) < 0 }

// skip takes an empty packet (padding only) out of the sequence.
func (s *splice) skip(p *rtp.Packet) {
	if s.joined && p.SSRC == s.ssrc && s.ahead(p) == 1 {
		s.inTop = p.SequenceNumber
		s.seqOff--
	}
}

// write maps p into out, which shares the payload, and notes it. It returns how many frames are missing before p.
func (s *splice) write(p, out *rtp.Packet, dur uint32, at time.Time) (missing int) {
	out.Header = rtp.Header{
		Version: 2, Marker: p.Marker, PayloadType: p.PayloadType,
		SequenceNumber: p.SequenceNumber + s.seqOff, Timestamp: p.Timestamp + s.tsOff,
	}
	out.Payload = p.Payload
	if n := s.ahead(p); n > 0 {
		missing = n - 1
		s.inTop, s.inTS, s.inDur = p.SequenceNumber, p.Timestamp, dur
		s.outSeq, s.outTS, s.outAt = out.SequenceNumber, out.Timestamp, at
		s.started = true
	}
	return missing
}

const frameTime = 20 * time.Millisecond

// durationTicks is a packet's audio in timestamp units.
func durationTicks(payload []byte) uint32 {
	if d := opus.Duration(payload); d > 0 {
		return uint32(d * opusClock / time.Second)
	}
	return frameTicks
}
