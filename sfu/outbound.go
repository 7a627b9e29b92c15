package sfu

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// outbound is our audio track: it writes straight into the SRTP session, without a copy of the packet.
type outbound struct {
	mime  string // of the codec, set before the library sees the track
	clock uint32 // RTP clock

	bound atomic.Pointer[binding]

	packets, bytes, failures atomic.Uint64
	lastTS                   atomic.Uint32 // of the packet written last

	// What the far side reports about our stream (RFC 3550 section 6.4.1).
	lost   atomic.Int64
	jitter atomic.Uint32 // timestamp units
	rtt    atomic.Int64  // nanoseconds
}

type binding struct {
	w    webrtc.TrackLocalWriter
	ssrc uint32
	pt   uint8
}

// headers are scratch for WriteRTP: the header escapes into the library, so it cannot live on the stack.
var headers = sync.Pool{New: func() any { return new(rtp.Header) }}

// WriteRTP sends one audio packet. Sequence number, timestamp, marker and payload are the caller's; payload type and
// SSRC are ours; extensions are not carried over. It does not change or keep pkt, allocates nothing of ours, and
// silently drops while the transport is not up.
//
// A peer that speaks G.711 takes Opus too, unless its Handlers are Native: the packet is converted on the way.
func (p *Peer) WriteRTP(pkt *rtp.Packet) error {
	if p.narrow != nil {
		p.narrow.out.Convert(pkt, time.Time{})
		return nil
	}
	return p.out.write(pkt)
}

func (o *outbound) write(pkt *rtp.Packet) error {
	b := o.bound.Load()
	if b == nil {
		return nil
	}
	h := headers.Get().(*rtp.Header)
	*h = rtp.Header{
		Version: 2, Marker: pkt.Marker, PayloadType: b.pt, SequenceNumber: pkt.SequenceNumber,
		Timestamp: pkt.Timestamp, SSRC: b.ssrc,
	}
	n, err := b.w.WriteRTP(h, pkt.Payload)
	headers.Put(h)
	switch {
	case err != nil:
		o.failures.Add(1)
		return err
	case n > 0:
		o.packets.Add(1)
		o.bytes.Add(uint64(len(pkt.Payload)))
		o.lastTS.Store(pkt.Timestamp)
	}
	return nil
}

// Bind is called by the library when the codec is agreed on.
func (o *outbound) Bind(ctx webrtc.TrackLocalContext) (webrtc.RTPCodecParameters, error) {
	for _, c := range ctx.CodecParameters() {
		if strings.EqualFold(c.MimeType, o.mime) {
			o.bound.Store(&binding{w: ctx.WriteStream(), ssrc: uint32(ctx.SSRC()), pt: uint8(c.PayloadType)})
			return c, nil
		}
	}
	return webrtc.RTPCodecParameters{}, fmt.Errorf("bind the audio track: %w", ErrUnsupportedCodec)
}

// Unbind is called by the library when the track ends.
func (o *outbound) Unbind(webrtc.TrackLocalContext) error {
	o.bound.Store(nil)
	return nil
}

// ID, RID, StreamID and Kind make outbound a webrtc.TrackLocal. The stream id must be real: clients take the audio
// from event.streams[0].
func (o *outbound) ID() string                { return "audio" }
func (o *outbound) RID() string               { return "" }
func (o *outbound) StreamID() string          { return "hovor" }
func (o *outbound) Kind() webrtc.RTPCodecType { return webrtc.RTPCodecTypeAudio }

func (o *outbound) ssrc() uint32 {
	if b := o.bound.Load(); b != nil {
		return b.ssrc
	}
	return 0
}

// reported takes in what the far side says about our stream.
func (o *outbound) reported(r rtcp.ReceptionReport, at time.Time) {
	o.lost.Store(int64(signed24(r.TotalLost)))
	o.jitter.Store(r.Jitter)
	if r.LastSenderReport == 0 {
		return
	}
	// RFC 3550 section 6.4.1: arrival - LSR - DLSR, in 1/65536 s; negative when clocks or senders are odd.
	if d := int32(ntpMiddle(at) - r.LastSenderReport - r.Delay); d >= 0 {
		o.rtt.Store(int64(time.Duration(d) * time.Second / 65536))
	}
}

func (o *outbound) stats(s *PeerStats) {
	s.PacketsOut, s.BytesOut, s.WriteErrors = o.packets.Load(), o.bytes.Load(), o.failures.Load()
	s.LostOut = o.lost.Load()
	s.JitterOut = clockTime(o.jitter.Load(), o.clock)
	s.RTT = time.Duration(o.rtt.Load())
}

// ticks turns Opus timestamp units into time.
func ticks(n uint32) time.Duration { return time.Duration(n) * time.Second / opusClock }

// signed24 reads RTCP's 24-bit two's complement.
func signed24(n uint32) int32 { return int32(n<<8) >> 8 }
