package sfu

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"go.uber.org/goleak"
)

// realCall connects two engines over real sockets and passes audio both ways until 20 packets have come back.
func realCall(t *testing.T, server Config, change func(answer string) string) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, ignore)
	server.Loopback = true
	s, err := NewEngine(server)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := NewEngine(Config{UDPListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	back := make(chan struct{}, 100)
	open := make(chan struct{})
	o, err := c.Offer(t.Context(), Handlers{
		Open:   func() { close(open) },
		Packet: func(*rtp.Packet, time.Time) { back <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	var a *Peer
	a, err = s.Accept(t.Context(), o.LocalSDP(), Handlers{Packet: func(p *rtp.Packet, _ time.Time) { _ = a.WriteRTP(p) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.SetAnswer(t.Context(), change(a.LocalSDP())); err != nil {
		t.Fatal(err)
	}
	select {
	case <-open:
	case <-time.After(20 * time.Second):
		t.Fatalf("no event channel; %v, %v", o.State(), a.State())
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for i, got := 0, 0; got < 20; {
		select {
		case <-tick.C:
			_ = o.WriteRTP(opusPacket(uint16(i), uint32(i)*frameTicks))
			i++
		case <-back:
			got++
		case <-deadline:
			t.Fatalf("%d packets came back; %+v", got, a.Stats())
		}
	}
}

func asIs(s string) string { return s }

func TestCallOverRealSockets(t *testing.T) {
	realCall(t, Config{UDPListen: "127.0.0.1:0"}, asIs)
}

// Peers whose sockets are spread over several pumps.
func TestCallOverManyPumps(t *testing.T) {
	realCall(t, Config{UDPListen: "127.0.0.1:0", pumps: 3}, asIs)
}

func TestCallOverEveryInterface(t *testing.T) {
	realCall(t, Config{UDPListen: "0.0.0.0:0"}, asIs)
}

func TestEngineOnEveryInterfaceUsesOnePort(t *testing.T) {
	e, err := NewEngine(Config{UDPListen: ":0", TCPListen: ":0", Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p, err := e.Accept(t.Context(), crlf(chromeOffer), Handlers{})
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(e.Addr().String())
	udp, tcp := 0, 0
	for _, line := range strings.Split(p.LocalSDP(), "\r\n") {
		f := strings.Fields(line)
		if !strings.HasPrefix(line, "a=candidate") || len(f) < 6 {
			continue
		}
		if f[5] != port {
			t.Errorf("a candidate on another port than %s: %s", port, line)
		}
		switch f[2] {
		case "udp":
			udp++
		case "tcp":
			tcp++
			if !strings.HasSuffix(line, "tcptype passive") && !strings.Contains(line, "tcptype passive ") {
				t.Errorf("candidate: %s", line)
			}
		}
	}
	if udp == 0 || tcp == 0 {
		t.Errorf("%d UDP and %d TCP candidates in\n%s", udp, tcp, p.LocalSDP())
	}
}

// A client whose network lets no UDP through reaches the same port over TCP.
func TestCallOverTCPOnly(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, ignore)
	e, err := NewEngine(Config{UDPListen: "127.0.0.1:0", TCPListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()

	var settings webrtc.SettingEngine
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeTCP4})
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.LoggerFactory = e.pionLog
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(e.media)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	defer pc.GracefulClose()
	if _, err := pc.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio); err != nil {
		t.Fatal(err)
	}
	dc, err := pc.CreateDataChannel(EventChannel, nil)
	if err != nil {
		t.Fatal(err)
	}
	open := make(chan struct{})
	dc.OnOpen(func() { close(open) })
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	p, err := e.Accept(t.Context(), offer.SDP, Handlers{})
	if err != nil {
		t.Fatal(err)
	}
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: p.LocalSDP()}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-open:
	case <-time.After(20 * time.Second):
		t.Fatalf("no event channel; %v, answer:\n%s", p.State(), p.LocalSDP())
	}
}
