package sfu

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/transport/v5/packetio"
)

// inbound takes decrypted packets where they were decrypted: off the wire (direct), or where the library's SRTP session
// hands them out. The library would put them into a buffer for another goroutine to read.
//
// All fields but the atomics are guarded by direct.mu.
type inbound struct {
	packet func(*rtp.Packet, time.Time)
	clock  uint32           // RTP clock of the codec
	types  [2]atomic.Uint32 // payload types that carry our codec
	pkt    rtp.Packet       // scratch

	seen bool
	ssrc uint32
	base uint16  // first sequence number
	prev float64 // transit time of the last packet, timestamp units
	j    float64 // RFC 3550 appendix A.8

	packets       atomic.Uint64 // of the current source
	total, octets atomic.Uint64 // of all sources
	lostBefore    atomic.Int64  // of earlier sources
	top           atomic.Uint32 // extended highest sequence number, minus base
	jitter        atomic.Uint32
	source        atomic.Uint32
	firstTS       atomic.Uint32
	firstSeq      atomic.Uint32
	start         time.Time

	sr   atomic.Uint32 // middle 32 bits of the NTP time in the last sender report
	srAt atomic.Int64  // when it came, UnixNano
}

// buffer is the library's hook for a stream's packets (webrtc.SettingEngine.BufferFactory).
func (p *Peer) buffer(kind packetio.BufferPacketType, _ uint32) io.ReadWriteCloser {
	if kind == packetio.RTCPBufferPacket {
		return rtcpSink{p}
	}
	return rtpSink{p}
}

// rtpSink and rtcpSink are buffers that are never read.
type rtpSink struct{ p *Peer }

func (rtpSink) Read([]byte) (int, error) { return 0, io.EOF }
func (rtpSink) Close() error             { return nil }

// Write takes one decrypted RTP packet.
func (s rtpSink) Write(b []byte) (int, error) {
	d := &s.p.direct
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mode != directOver {
		s.p.take(b, time.Now())
	}
	return len(b), nil
}

// take hands one decrypted packet to the peer's owner. The caller holds direct.mu.
func (p *Peer) take(b []byte, now time.Time) {
	in := &p.in
	if !in.take(b, now) {
		return
	}
	if in.total.Load() == 1 {
		p.mu.Lock()
		p.phase(PhaseFirstRTP, now)
		p.mu.Unlock()
	}
	if in.packet != nil && len(in.pkt.Payload) > 0 {
		in.packet(&in.pkt, now)
	}
}

// take parses and counts a packet; false: not ours.
func (in *inbound) take(b []byte, now time.Time) bool {
	if err := in.pkt.Unmarshal(b); err != nil {
		return false
	}
	h := &in.pkt.Header
	if pt := uint32(h.PayloadType); pt != in.types[0].Load() && pt != in.types[1].Load() {
		return false
	}
	if !in.seen || h.SSRC != in.ssrc {
		in.restart(h, now)
	}
	in.packets.Add(1)
	in.total.Add(1)
	in.octets.Add(uint64(len(in.pkt.Payload)))

	// The extended number counts from the first packet; reordering moves it back a little, never the maximum.
	top := in.top.Load()
	if d := int16(h.SequenceNumber - uint16(top) - in.base); d > 0 {
		in.top.Store(top + uint32(d))
	}
	transit := now.Sub(in.start).Seconds()*float64(in.clock) - float64(h.Timestamp-in.firstTS.Load())
	d := transit - in.prev
	in.prev = transit
	if d < 0 {
		d = -d
	}
	if d < float64(in.clock) { // a jump of a second is a pause or a new clock, not jitter
		in.j += (d - in.j) / 16
		in.jitter.Store(uint32(in.j))
	}
	return true
}

// restart begins the account of a new source.
func (in *inbound) restart(h *rtp.Header, now time.Time) {
	if in.seen {
		in.lostBefore.Add(in.lost())
	}
	in.seen, in.ssrc, in.base, in.start, in.prev, in.j = true, h.SSRC, h.SequenceNumber, now, 0, 0
	in.firstTS.Store(h.Timestamp)
	in.firstSeq.Store(uint32(h.SequenceNumber))
	in.source.Store(h.SSRC)
	in.top.Store(0)
	in.packets.Store(0)
}

// lost is expected minus received of the current source.
func (in *inbound) lost() int64 {
	n := in.packets.Load()
	if n == 0 {
		return 0
	}
	return int64(in.top.Load()) + 1 - int64(n)
}

func (in *inbound) stats(s *PeerStats) {
	s.PacketsIn, s.BytesIn = in.total.Load(), in.octets.Load()
	s.LostIn = in.lostBefore.Load() + in.lost()
	s.JitterIn = clockTime(in.jitter.Load(), in.clock)
}

type rtcpSink struct{ p *Peer }

func (rtcpSink) Read([]byte) (int, error) { return 0, io.EOF }
func (rtcpSink) Close() error             { return nil }

// Write takes one decrypted RTCP packet. The same packet can come once per stream that it names.
func (s rtcpSink) Write(b []byte) (int, error) {
	pkts, err := rtcp.Unmarshal(b)
	if err != nil {
		return len(b), nil
	}
	now := time.Now()
	for _, pkt := range pkts {
		switch r := pkt.(type) {
		case *rtcp.SenderReport:
			if r.SSRC == s.p.in.source.Load() {
				s.p.in.sr.Store(uint32(r.NTPTime >> 16))
				s.p.in.srAt.Store(now.UnixNano())
			}
			s.p.reported(r.Reports, now)
		case *rtcp.ReceiverReport:
			s.p.reported(r.Reports, now)
		}
	}
	return len(b), nil
}

func (p *Peer) reported(reports []rtcp.ReceptionReport, now time.Time) {
	for _, r := range reports {
		if r.SSRC == p.out.ssrc() {
			p.out.reported(r, now)
		}
	}
}
