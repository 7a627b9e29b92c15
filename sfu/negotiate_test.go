package sfu

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/vnettest"
)

// chromeOffer is what a browser sends that adds one track without a stream, as agents do: no candidates.
const chromeOffer = `v=0
o=- 4611731400430051336 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0 1
a=extmap-allow-mixed
a=msid-semantic: WMS
m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
c=IN IP4 0.0.0.0
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:sXJ3
a=ice-pwd:yEclOTrLg1gEubBFefOqtmyV
a=ice-options:trickle
a=fingerprint:sha-256 22:14:B5:AF:66:12:C7:C7:8D:EF:4B:DE:40:25:ED:5D:8F:17:54:DD:88:33:C0:13:2E:FD:1A:FA:7E:7A:1B:79
a=setup:actpass
a=mid:0
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
a=sendrecv
a=msid:- 7a0a4f6e-8f44-4c8d-a0a9-8c2c7d6a9d5e
a=rtcp-mux
a=rtcp-rsize
a=rtpmap:111 opus/48000/2
a=rtcp-fb:111 transport-cc
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:63 red/48000/2
a=fmtp:63 111/111
a=rtpmap:9 G722/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:13 CN/8000
a=rtpmap:110 telephone-event/48000
a=rtpmap:126 telephone-event/8000
a=ssrc:3510681183 cname:qVAbXlPsAZnSNKzn
a=ssrc:3510681183 msid:- 7a0a4f6e-8f44-4c8d-a0a9-8c2c7d6a9d5e
m=application 9 UDP/DTLS/SCTP webrtc-datachannel
c=IN IP4 0.0.0.0
a=ice-ufrag:sXJ3
a=ice-pwd:yEclOTrLg1gEubBFefOqtmyV
a=ice-options:trickle
a=fingerprint:sha-256 22:14:B5:AF:66:12:C7:C7:8D:EF:4B:DE:40:25:ED:5D:8F:17:54:DD:88:33:C0:13:2E:FD:1A:FA:7E:7A:1B:79
a=setup:actpass
a=mid:1
a=sctp-port:5000
a=max-message-size:262144
`

// videoSection is appended to an offer that also wants video.
const videoSection = `m=video 9 UDP/TLS/RTP/SAVPF 96 97
c=IN IP4 0.0.0.0
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:sXJ3
a=ice-pwd:yEclOTrLg1gEubBFefOqtmyV
a=fingerprint:sha-256 22:14:B5:AF:66:12:C7:C7:8D:EF:4B:DE:40:25:ED:5D:8F:17:54:DD:88:33:C0:13:2E:FD:1A:FA:7E:7A:1B:79
a=setup:actpass
a=mid:2
a=sendrecv
a=msid:- 11111111-8f44-4c8d-a0a9-8c2c7d6a9d5e
a=rtcp-mux
a=rtpmap:96 VP8/90000
a=rtcp-fb:96 nack pli
a=rtpmap:97 rtx/90000
a=fmtp:97 apt=96
`

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func TestAnswerToABrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{}, 1)
		e := newTestEngine(t, n.Host("10.0.0.2"))
		p, err := e.Accept(t.Context(), crlf(chromeOffer), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`a=msid:hovor audio\r\n`, `a=sendrecv\r\n`, `a=setup:active\r\n`, `m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n`,
			`a=ice-ufrag:n1[A-Za-z0-9+/]{12}\r\n`, `a=ice-pwd:[A-Za-z0-9+/]{24}\r\n`, `a=max-message-size:262144\r\n`,
			`a=candidate:\S+ 1 udp \d+ 10.0.0.2 5000 typ host`, `a=end-of-candidates`, `a=rtpmap:111 opus/48000/2\r\n`,
			`a=ssrc:\d+ cname`, `a=group:BUNDLE 0 1\r\n`,
		} {
			if !regexp.MustCompile(want).MatchString(p.LocalSDP()) {
				t.Errorf("the answer lacks %q:\n%s", want, p.LocalSDP())
			}
		}
		ufrag := regexp.MustCompile(`a=ice-ufrag:(\S+)`).FindStringSubmatch(p.LocalSDP())[1]
		if node, ok := NodeOf(ufrag); !ok || node != "n1" {
			t.Errorf("NodeOf(%q) = %q, %v", ufrag, node, ok)
		}
		if c := p.Codec(); c != (Codec{MimeType: "audio/opus", ClockRate: 48000, Channels: 2, PayloadType: 111}) {
			t.Errorf("codec %+v", c)
		}
		if p.channel.maxSend.Load() != ourMaxSend {
			t.Errorf("we send at most %d bytes", p.channel.maxSend.Load())
		}
	})
}

func TestVideoBesideAudioIsRejectedInsideTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{}, 1)
		e := newTestEngine(t, n.Host("10.0.0.2"))
		offer := strings.Replace(chromeOffer, "BUNDLE 0 1", "BUNDLE 0 1 2", 1) + videoSection
		p, err := e.Accept(t.Context(), crlf(offer), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		answer := p.LocalSDP()
		if !strings.Contains(answer, "m=video 0 ") || !strings.Contains(answer, "m=audio 9 ") {
			t.Errorf("answer:\n%s", answer)
		}
		if strings.Count(answer, "\r\nm=") != 3 {
			t.Errorf("the answer must have as many sections as the offer:\n%s", answer)
		}
	})
}

func TestOffersThatCannotBeAnswered(t *testing.T) {
	audio := chromeOffer[:strings.Index(chromeOffer, "m=application")]
	session := chromeOffer[:strings.Index(chromeOffer, "m=audio")]
	for _, c := range []struct {
		name, offer string
		want        error
	}{
		{"empty", "", ErrNotSDP},
		{"JSON", `{"sdp":"v=0"}`, ErrNotSDP},
		{"half a line", "v=0\r\no=", ErrNotSDP},
		{"too long", "v=0\r\n" + strings.Repeat("a=x\r\n", 100_000), ErrNotSDP},
		{"no media", crlf(session), ErrNoAudio},
		{"only video", crlf(session + videoSection), ErrNoAudio},
		{"only data", crlf(session + chromeOffer[strings.Index(chromeOffer, "m=application"):]), ErrNoAudio},
		{"audio switched off", crlf(strings.Replace(chromeOffer, "m=audio 9", "m=audio 0", 1)), ErrNoAudio},
		{"no codec of ours", crlf(strings.Replace(audio, "111 63 9 0 8 13 110 126", "9 13 126", 1)), ErrUnsupportedCodec},
		{"no fingerprint", crlf(regexp.MustCompile(`a=fingerprint.*\n`).ReplaceAllString(chromeOffer, "")), ErrNegotiation},
		{"no ICE", crlf(regexp.MustCompile(`a=ice-(ufrag|pwd).*\n`).ReplaceAllString(chromeOffer, "")), ErrNegotiation},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := vnettest.New(t, vnettest.Link{}, 1)
				e := newTestEngine(t, n.Host("10.0.0.2"))
				_, err := e.Accept(t.Context(), c.offer, Handlers{})
				if !errors.Is(err, c.want) {
					t.Fatalf("got %v, want %v", err, c.want)
				}
				t.Log(err)
				if len(e.peers) != 0 {
					t.Errorf("%d peers left behind", len(e.peers))
				}
			})
		})
	}
}

func TestAnswersOutOfTurnAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{}, 1)
		e := newTestEngine(t, n.Host("10.0.0.2"))
		a, err := e.Accept(t.Context(), crlf(chromeOffer), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.SetAnswer(t.Context(), crlf(chromeOffer)); !errors.Is(err, ErrWrongState) {
			t.Errorf("SetAnswer on an answering peer: %v", err)
		}
		o, err := e.Offer(t.Context(), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.SetAnswer(t.Context(), "<html>"); !errors.Is(err, ErrNotSDP) {
			t.Errorf("SetAnswer with a web page: %v", err)
		}
	})
}

// Without candidates, without a=ssrc, with video beside it: what the far side sends must still reach us.
func TestAudioArrivesWhateverTheOfferLeavesOut(t *testing.T) {
	without := func(pattern string) func(string) string {
		return func(s string) string { return regexp.MustCompile(pattern).ReplaceAllString(s, "") }
	}
	for _, c := range []struct {
		name   string
		change func(string) string
	}{
		{"no candidates", without(`a=(candidate|end-of-candidates).*\r\n`)},
		{"no ssrc", without(`a=(ssrc|candidate|end-of-candidates).*\r\n`)},
		{"no msid", without(`a=(msid|ssrc).*\r\n`)},
		{"video beside it", func(s string) string {
			video := crlf(videoSection)
			for _, key := range []string{"ice-ufrag", "ice-pwd", "fingerprint"} {
				own := regexp.MustCompile(`a=` + key + `:.*\r\n`)
				video = own.ReplaceAllString(video, own.FindString(s))
			}
			return s + video
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := vnettest.New(t, vnettest.Link{Delay: 10 * time.Millisecond}, 1)
				client := newTestEngine(t, n.Host("10.0.0.1"))
				server := newTestEngine(t, n.Host("10.0.0.2"))
				o, err := client.Offer(t.Context(), Handlers{})
				if err != nil {
					t.Fatal(err)
				}
				var heard atomic.Int64
				a, err := server.Accept(t.Context(), c.change(o.LocalSDP()), Handlers{Packet: func(*rtp.Packet, time.Time) { heard.Add(1) }})
				if err != nil {
					t.Fatal(err)
				}
				answer := a.LocalSDP()
				if i := strings.Index(answer, "m=video"); i > 0 {
					answer = answer[:i]
				}
				if err := o.SetAnswer(t.Context(), answer); err != nil {
					t.Fatal(err)
				}
				go func() { _ = a.Run(t.Context()) }()
				time.Sleep(time.Second)
				for i := range 50 {
					if err := o.WriteRTP(opusPacket(uint16(i), uint32(i)*960)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(20 * time.Millisecond)
				}
				if n := heard.Load(); n != 50 {
					t.Errorf("%d of 50 packets arrived", n)
				}
			})
		})
	}
}

func TestConfigsThatCannotWork(t *testing.T) {
	for _, c := range []Config{
		{NodeID: "too-long-"}, {NodeID: "123456789"}, {UDPListen: "here"}, {UDPListen: "127.0.0.1:99999"},
		{UDPListen: "example:0"}, {PublicIPs: []string{"gateway.example"}}, {MaxMessage: 10}, {UDPListen: "127.0.0.1:0", TCPListen: "x"},
	} {
		e, err := NewEngine(c)
		if !errors.Is(err, ErrBadConfig) {
			t.Errorf("%+v: %v", c, err)
		}
		if e != nil {
			_ = e.Close()
		}
	}
}

func TestPublicAddressReplacesTheInterfaceAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{}, 1)
		e := newTestEngine(t, n.Host("10.0.0.2"), func(c *Config) { c.PublicIPs = []string{"203.0.113.9"} })
		p, err := e.Accept(t.Context(), crlf(chromeOffer), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.LocalSDP(), "203.0.113.9 5000 typ host") || strings.Contains(p.LocalSDP(), " 10.0.0.2 ") {
			t.Errorf("answer:\n%s", p.LocalSDP())
		}
	})
}

func TestPortInUseIsNamed(t *testing.T) {
	first, err := NewEngine(Config{UDPListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	port := netip.MustParseAddrPort(first.Addr().String()).Port()
	_, err = NewEngine(Config{UDPListen: fmt.Sprintf("127.0.0.1:%d", port)})
	if !errors.Is(err, ErrPortInUse) || !strings.Contains(err.Error(), fmt.Sprint(port)) {
		t.Errorf("second engine: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = NewEngine(Config{UDPListen: "127.0.0.1:0", TCPListen: l.Addr().String()})
	if !errors.Is(err, ErrPortInUse) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("engine with a used TCP port: %v", err)
	}
}
