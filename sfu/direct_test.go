package sfu

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/dtls/v3"
	"github.com/pion/dtls/v3/pkg/protocol"
	"github.com/pion/dtls/v3/pkg/protocol/handshake"
	"github.com/pion/dtls/v3/pkg/protocol/recordlayer"
	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	"github.com/pion/srtp/v3"
	"github.com/pion/stun/v4"
	"github.com/pion/webrtc/v4"
	"go.uber.org/goleak"

	"hovor/sfu/vnettest"
)

// stock is a client of the plain library, with an audio track, whose offer an engine answers.
func stock(t *testing.T, e *Engine, change func(*webrtc.SettingEngine), h Handlers) (*Peer, *webrtc.TrackLocalStaticRTP, func()) {
	t.Helper()
	var settings webrtc.SettingEngine
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.LoggerFactory = e.pionLog
	change(&settings)
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(e.media)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pc.AddTrack(track); err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{})
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateConnected {
			close(up)
		}
	})
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	p, err := e.Accept(t.Context(), pc.LocalDescription().SDP, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: p.LocalSDP()}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-up:
	case <-time.After(20 * time.Second):
		t.Fatalf("not connected; %v", p.State())
	}
	return p, track, func() { _ = pc.GracefulClose() }
}

func TestMediaOfEveryCipherIsDecryptedWhereItIsRead(t *testing.T) {
	suite := func(id dtls.CipherSuiteID) func(*webrtc.SettingEngine) {
		return func(s *webrtc.SettingEngine) { s.SetDTLSCipherSuites(id) }
	}
	profile := func(id dtls.SRTPProtectionProfile) func(*webrtc.SettingEngine) {
		return func(s *webrtc.SettingEngine) { s.SetSRTPProtectionProfiles(id) }
	}
	for name, change := range map[string]func(*webrtc.SettingEngine){
		"default":        func(*webrtc.SettingEngine) {},
		"TCP only":       func(s *webrtc.SettingEngine) { s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeTCP4}) },
		"DTLS server":    func(s *webrtc.SettingEngine) { _ = s.SetAnsweringDTLSRole(webrtc.DTLSRoleServer) },
		"AES 256 GCM":    suite(dtls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
		"AES 256 CBC":    suite(dtls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA),
		"ChaCha20":       suite(dtls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
		"SRTP GCM 128":   profile(dtls.SRTP_AEAD_AES_128_GCM),
		"SRTP GCM 256":   profile(dtls.SRTP_AEAD_AES_256_GCM),
		"SRTP CM SHA1":   profile(dtls.SRTP_AES128_CM_HMAC_SHA1_80),
		"no extended MS": func(s *webrtc.SettingEngine) { s.SetDTLSExtendedMasterSecret(dtls.DisableExtendedMasterSecret) },
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			e, err := NewEngine(Config{UDPListen: "127.0.0.1:0", TCPListen: "127.0.0.1:0"})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			got := make(chan byte, 100)
			p, track, end := stock(t, e, change, Handlers{Packet: func(p *rtp.Packet, _ time.Time) { got <- p.Payload[1] }})
			defer end()
			for i := range 20 {
				pkt := opusPacket(uint16(i), uint32(i)*frameTicks)
				pkt.Payload[1] = byte(i)
				if err := track.WriteRTP(pkt); err != nil {
					t.Fatal(err)
				}
				select {
				case b := <-got:
					if b != byte(i) {
						t.Fatalf("packet %d came as %d", i, b)
					}
				case <-time.After(20 * time.Second):
					t.Fatalf("packet %d did not come; %+v, %+v", i, p.Stats(), e.SocketStats())
				}
			}
			if s := e.SocketStats(); s.Direct != 20 || s.DirectRejected != 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// A peer whose keys are in doubt is the library's, and sounds the same.
func TestForgedHelloLeavesMediaToTheLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{Delay: 10 * time.Millisecond}, 1)
		client, server := newTestEngine(t, n.Host("10.0.0.1")), newTestEngine(t, n.Host("10.0.0.2"))
		o, err := client.Offer(t.Context(), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		var got atomic.Int64
		a, err := server.Accept(t.Context(), o.LocalSDP(), Handlers{Packet: func(*rtp.Packet, time.Time) { got.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		a.arrived(helloPacket(t, 1), time.Now())
		if err := o.SetAnswer(t.Context(), a.LocalSDP()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for i := range 50 {
			_ = o.WriteRTP(opusPacket(uint16(i), uint32(i)*frameTicks))
			time.Sleep(frameTime)
		}
		if s := server.SocketStats(); got.Load() != 50 || s.Direct != 0 {
			t.Errorf("%d packets, stats %+v", got.Load(), s)
		}
	})
}

// helloPacket is a ServerHello on the wire.
func helloPacket(t testing.TB, seed byte) []byte {
	suite := uint16(dtls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)
	m := &handshake.MessageServerHello{
		Version: protocol.Version1_2, CipherSuiteID: &suite, CompressionMethod: protocol.CompressionMethods()[0],
	}
	m.Random.RandomBytes[0] = seed
	b, err := (&recordlayer.RecordLayer{
		Header:  recordlayer.Header{Version: protocol.Version1_2},
		Content: &handshake.Handshake{Message: m},
	}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestServerHelloIsFoundWholeOrNotAtAll(t *testing.T) {
	whole := helloPacket(t, 1)
	if m := serverHello(whole); m == nil || m.Random.RandomBytes[0] != 1 {
		t.Fatalf("read %+v", m)
	}
	if serverHello(append(append([]byte(nil), whole...), whole...)) == nil {
		t.Error("not found before another record")
	}
	for n := range whole {
		if serverHello(whole[:n]) != nil {
			t.Errorf("found in %d of %d bytes", n, len(whole))
		}
	}
	for i := range whole {
		for _, v := range []byte{0, 1, 0x7f, 0xff} {
			b := append([]byte(nil), whole...)
			b[i] = v
			_ = serverHello(b) // must not panic
		}
	}
}

func TestKeyLogWithoutAHelloOrWithNonsenseDecidesForTheLibrary(t *testing.T) {
	for _, line := range []string{"", "CLIENT_RANDOM", "CLIENT_RANDOM zz zz\n", "SERVER_SECRET 00 00\n", "CLIENT_RANDOM 00 00\n"} {
		for _, hello := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q %v", line, hello), func(t *testing.T) {
				var d direct
				if hello {
					d.see(helloPacket(t, 1), true) // without use_srtp
				}
				if n, err := d.Write([]byte(line)); n != len(line) || err != nil {
					t.Errorf("Write: %d, %v", n, err)
				}
				if d.mode != directOff || d.ctx != nil || d.hello != nil {
					t.Errorf("mode %v", d.mode)
				}
			})
		}
	}
}

// newDirectPeer is a peer that decrypts, and the far side's context.
func newDirectPeer(t testing.TB, h Handlers) (*Peer, *srtp.Context) {
	key, salt := make([]byte, 16), make([]byte, 12)
	far, err := srtp.CreateContext(key, salt, srtp.ProtectionProfileAeadAes128Gcm)
	if err != nil {
		t.Fatal(err)
	}
	p := newBarePeer(h)
	p.engine = &Engine{}
	if p.direct.ctx, err = srtp.CreateContext(key, salt, srtp.ProtectionProfileAeadAes128Gcm, srtp.SRTPReplayProtection(srtpReplayWindow)); err != nil {
		t.Fatal(err)
	}
	p.direct.mode = directOn
	return p, far
}

func TestDirectRefusesCopiesAndForgeries(t *testing.T) {
	got := 0
	p, far := newDirectPeer(t, Handlers{Packet: func(*rtp.Packet, time.Time) { got++ }})
	encrypted := func(i uint16) []byte {
		pkt := opusPacket(i, 0)
		pkt.PayloadType, pkt.SSRC = opusPayloadType, 9
		b, err := pkt.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if b, err = far.EncryptRTP(nil, b, nil); err != nil {
			t.Fatal(err)
		}
		return b
	}
	one := encrypted(1)
	for i, b := range [][]byte{append([]byte(nil), one...), one, append(encrypted(2), 0), encrypted(3), encrypted(4)[:30]} {
		want := dropped
		if i == 0 || i == 3 {
			want = handedOn
		}
		if v := p.arrived(b, time.Now()); v != want {
			t.Errorf("packet %d: %v, want %v", i, v, want)
		}
	}
	if c := &p.engine.count; got != 2 || c.direct.Load() != 2 || c.directRejected.Load() != 3 {
		t.Errorf("%d packets, stats %+v", got, c.stats())
	}
	p.direct.end()
	if p.arrived(encrypted(5), time.Now()); got != 2 {
		t.Error("a packet reached the owner after the end")
	}
}

func TestDecryptingAllocatesNothing(t *testing.T) {
	out := newBarePeer(Handlers{})
	down := NewDownlink(out)
	p, far := newDirectPeer(t, Handlers{Packet: down.Forward})
	const runs = 1000
	packets := make([][]byte, runs+2)
	for i := range packets {
		pkt := opusPacket(uint16(i), uint32(i)*frameTicks)
		pkt.PayloadType, pkt.SSRC = opusPayloadType, 9
		b, err := pkt.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if packets[i], err = far.EncryptRTP(nil, b, nil); err != nil {
			t.Fatal(err)
		}
	}
	i := 0
	p.arrived(packets[i], time.Now())
	if n := testing.AllocsPerRun(runs, func() {
		i++
		p.arrived(packets[i], time.Now())
	}); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
	if s := out.Stats(); s.PacketsOut != runs+2 {
		t.Errorf("stats %+v", s)
	}
}

// The library would end a call whose checks get lost, although its audio arrives: it does not see that audio.
func TestMediaAloneKeepsACallAlive(t *testing.T) {
	p := newTestPort(t)
	peer, far := newDirectPeer(t, Handlers{})
	c := p.join("aaaa", peer).(*pathEnd)
	from := netip.MustParseAddrPort("198.51.100.1:1")
	if _, err := c.WriteToAddrPort(stunPacket(t, stun.BindingSuccess), from); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		for i := range 500 {
			pkt := opusPacket(uint16(i), 0)
			pkt.PayloadType, pkt.SSRC = opusPayloadType, 9
			b, err := pkt.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			if b, err = far.EncryptRTP(nil, b, nil); err != nil {
				t.Fatal(err)
			}
			p.receive(append([]byte(nil), b...), from)
			p.receive(b, from) // a copy shows nothing
			time.Sleep(frameTime)
		}
	})
	b := make([]byte, maxDatagram)
	signs := 0
	for ; len(c.queue) > 0; signs++ {
		n, at, err := c.ReadFromAddrPort(b)
		m := &stun.Message{Raw: b[:n]}
		if err != nil || at != from || m.Decode() != nil || m.Type != stun.NewType(stun.MethodBinding, stun.ClassIndication) {
			t.Fatalf("%x from %v: %v", b[:n], at, err)
		}
	}
	if signs != 10 {
		t.Errorf("%d signs of life in 10 s", signs)
	}
}
