package sfu

import (
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// nowhere is a transport that takes everything.
type nowhere struct{}

func (nowhere) WriteRTP(_ *rtp.Header, payload []byte) (int, error) { return len(payload), nil }
func (nowhere) Write(b []byte) (int, error)                         { return len(b), nil }

// newBarePeer is a peer whose transport is replaced, to see what our own part of the packet path does.
func newBarePeer(h Handlers) *Peer {
	p := &Peer{handlers: h}
	p.in.packet = h.Packet
	p.in.types[0].Store(opusPayloadType)
	p.in.types[1].Store(opusPayloadType)
	var w webrtc.TrackLocalWriter = nowhere{}
	p.out.bound.Store(&binding{w: w, ssrc: 7, pt: opusPayloadType})
	return p
}

// inboundBytes is a decrypted packet as the SRTP session hands it out.
func inboundBytes(t testing.TB) []byte {
	p := opusPacket(1, 0)
	p.PayloadType, p.SSRC = opusPayloadType, 9
	p.Extension, p.ExtensionProfile = true, 0xBEDE
	if err := p.SetExtension(1, []byte{0x30}); err != nil {
		t.Fatal(err)
	}
	b, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReceivingForwardingAndSendingAllocatesNothing(t *testing.T) {
	out := newBarePeer(Handlers{})
	down := NewDownlink(out)
	tap, err := newTap(func(Frame) {})
	if err != nil {
		t.Fatal(err)
	}
	tap.start = time.Now()
	in := newBarePeer(Handlers{Packet: func(p *rtp.Packet, at time.Time) {
		down.Forward(p, at)
		tap.Push(p, at)
	}})
	b := inboundBytes(t)
	step := func() {
		b[2], b[3] = byte(in.in.total.Load()>>8), byte(in.in.total.Load())
		if _, err := (rtpSink{in}).Write(b); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
	if s := out.Stats(); s.PacketsOut < 1000 || s.WriteErrors != 0 {
		t.Errorf("stats %+v", s)
	}
}

func BenchmarkWriteRTP(b *testing.B) {
	p, pkt := newBarePeer(Handlers{}), opusPacket(1, 0)
	b.ReportAllocs()
	for b.Loop() {
		_ = p.WriteRTP(pkt)
	}
}

func BenchmarkReceive(b *testing.B) {
	p, raw := newBarePeer(Handlers{Packet: func(*rtp.Packet, time.Time) {}}), inboundBytes(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = rtpSink{p}.Write(raw)
	}
}

func BenchmarkDownlinkForward(b *testing.B) {
	d, pkt, now := NewDownlink(newBarePeer(Handlers{})), opusPacket(1, 0), time.Now()
	b.ReportAllocs()
	for b.Loop() {
		pkt.SequenceNumber++
		pkt.Timestamp += frameTicks
		d.Forward(pkt, now)
	}
}

func BenchmarkForward(b *testing.B) {
	f, pkt := NewForwarder(newBarePeer(Handlers{})), opusPacket(1, 0)
	b.ReportAllocs()
	for b.Loop() {
		pkt.SequenceNumber++
		pkt.Timestamp += frameTicks
		f.Forward(pkt)
	}
}
