package transcode

import (
	"fmt"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/g711"
	"hovor/sfu/opus"
)

const (
	frame = g711.Rate / 50  // samples in 20 ms
	grain = g711.Rate / 100 // Opus has frames of 10 and 20 ms here
	// opusRatio is Opus' RTP clock over G.711's.
	opusRatio = 6
	// longest is the largest packet, 120 ms (RFC 6716 section 3.2.5).
	longest = g711.Rate * 120 / 1000
	// concealMax lost packets in a row are concealed; longer losses stay losses.
	concealMax = 3
	// maxJump: a larger step of the sequence is a restart (RFC 3550 appendix A.1).
	maxJump = 3000

	bitrate = 24000
	effort  = 5
)

// Stream converts one stream in one direction. Safe for concurrent use.
type Stream struct {
	emit func(*rtp.Packet, time.Time)

	mu     sync.Mutex // guards what follows
	law    g711.Law
	toOpus bool
	enc    *opus.Encoder
	dec    *opus.Decoder
	plc    g711.Concealer

	seen    bool
	ssrc    uint32
	lastSeq uint16
	lastLen int    // samples of the packet before
	next    uint32 // timestamp in that would go on without a gap

	pcm     []int16 // decoded, not coded yet
	scratch [longest]int16
	payload [opus.MaxPacket]byte
	seq     uint16
	ts      uint32
	marker  bool
	out     rtp.Packet
}

// ToOpus converts G.711 to Opus. emit gets every packet that is made, with Convert's at; it is valid until return.
func ToOpus(law g711.Law, emit func(*rtp.Packet, time.Time)) (*Stream, error) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: g711.Rate, Bitrate: bitrate, Complexity: effort})
	if err != nil {
		return nil, fmt.Errorf("transcode to Opus: %w", err)
	}
	return newStream(&Stream{law: law, toOpus: true, enc: enc, emit: emit}), nil
}

// FromOpus converts Opus to G.711.
func FromOpus(law g711.Law, emit func(*rtp.Packet, time.Time)) (*Stream, error) {
	dec, err := opus.NewDecoder(g711.Rate)
	if err != nil {
		return nil, fmt.Errorf("transcode from Opus: %w", err)
	}
	return newStream(&Stream{law: law, dec: dec, emit: emit}), nil
}

func newStream(s *Stream) *Stream {
	s.pcm = make([]int16, 0, 2*longest)
	return s
}

// Convert takes one packet and hands out what it gives: usually one packet, several for a longer one or after a loss.
// It keeps nothing of p and allocates nothing.
func (s *Stream) Convert(p *rtp.Packet, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p.Payload) == 0 {
		if s.seen && p.SSRC == s.ssrc && p.SequenceNumber == s.lastSeq+1 {
			s.lastSeq++ // padding is no loss
		}
		return
	}
	step := int(int16(p.SequenceNumber - s.lastSeq))
	switch {
	case !s.seen || p.SSRC != s.ssrc || step > maxJump || step < -maxJump:
		s.begin(p)
	case step <= 0:
		return
	case step > 1:
		s.bridge(step-1, p, at)
	}
	s.place(p, at)
	n := s.decode(p.Payload)
	s.lastSeq, s.lastLen, s.next = p.SequenceNumber, n, p.Timestamp+uint32(n)*s.ratioIn()
	s.flow(at)
}

// begin starts with a new source: what we send goes on, with a jump of the timestamp.
func (s *Stream) begin(p *rtp.Packet) {
	if !s.seen {
		s.seq, s.ts = p.SequenceNumber, p.Timestamp
	}
	s.seen, s.ssrc, s.next, s.marker = true, p.SSRC, p.Timestamp, true
}

// ratioIn and ratioOut are RTP clock units per sample.
func (s *Stream) ratioIn() uint32 {
	if s.toOpus {
		return 1
	}
	return opusRatio
}

func (s *Stream) ratioOut() uint32 { return opusRatio + 1 - s.ratioIn() }

// bridge conceals lost packets before p, or leaves a hole in the numbers where they are too many.
func (s *Stream) bridge(lost int, p *rtp.Packet, at time.Time) {
	gap := int(int32(p.Timestamp-s.next)) / int(s.ratioIn())
	if lost > concealMax || s.lastLen == 0 || lost*s.lastLen > gap {
		s.seq += uint16(lost)
		return
	}
	for i := range lost {
		pcm := s.scratch[:s.lastLen]
		switch last := i == lost-1 && gap == lost*s.lastLen; {
		case s.toOpus:
			s.plc.Conceal(pcm)
		case last:
			_ = s.dec.DecodeFEC(p.Payload, pcm) // falls back to concealment by itself
		default:
			_ = s.dec.Conceal(pcm)
		}
		s.pcm = append(s.pcm, pcm...)
		s.next += uint32(s.lastLen) * s.ratioIn()
		s.flow(at)
	}
}

// place moves the outgoing timestamp over a gap of the incoming one.
func (s *Stream) place(p *rtp.Packet, at time.Time) {
	s.marker = s.marker || p.Marker
	gap := int32(p.Timestamp - s.next)
	if gap == 0 {
		return
	}
	if n := len(s.pcm) % grain; n != 0 { // what is left of the speech before
		s.pcm = append(s.pcm, s.scratch[:grain-n]...)
		clear(s.pcm[len(s.pcm)-(grain-n):])
		s.flow(at)
	}
	if gap > 0 {
		s.ts += uint32(gap) / s.ratioIn() * s.ratioOut()
	}
}

// decode appends the packet's samples and returns how many they are.
func (s *Stream) decode(payload []byte) int {
	if s.toOpus {
		pcm := s.scratch[:min(len(payload), longest)]
		s.law.Decode(pcm, payload[:len(pcm)])
		s.plc.Received(pcm)
		s.pcm = append(s.pcm, pcm...)
		return len(pcm)
	}
	n, err := s.dec.Decode(payload, s.scratch[:])
	if err != nil {
		if n = s.lastLen; n == 0 || s.dec.Conceal(s.scratch[:n]) != nil {
			return 0
		}
	}
	s.pcm = append(s.pcm, s.scratch[:n]...)
	return n
}

// flow codes and hands out all that fills packets.
func (s *Stream) flow(at time.Time) {
	from := 0
	for len(s.pcm)-from >= grain {
		n := grain
		if len(s.pcm)-from >= frame {
			n = frame
		}
		s.send(s.pcm[from:from+n], at)
		from += n
	}
	s.pcm = s.pcm[:copy(s.pcm, s.pcm[from:])]
}

func (s *Stream) send(pcm []int16, at time.Time) {
	n := len(pcm)
	if s.toOpus {
		var err error
		if n, err = s.enc.Encode(pcm, s.payload[:]); err != nil {
			return
		}
	} else {
		s.law.Encode(s.payload[:n], pcm)
	}
	s.out.Header = rtp.Header{Version: 2, Marker: s.marker, SequenceNumber: s.seq, Timestamp: s.ts, SSRC: s.ssrc}
	s.out.Payload = s.payload[:n]
	s.marker = false
	s.seq++
	s.ts += uint32(len(pcm)) * s.ratioOut()
	s.emit(&s.out, at)
}
