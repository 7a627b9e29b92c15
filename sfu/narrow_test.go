package sfu

import (
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/g711"
	"hovor/sfu/opus"
	"hovor/sfu/vnettest"
)

func TestG711IsTakenWhereOpusIsNotOffered(t *testing.T) {
	const list = "111 63 9 0 8 13 110 126"
	for _, c := range []struct {
		formats string
		want    Codec
		line    string
	}{
		{"0", codecPCMU, "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n"},
		{"8", codecPCMA, "m=audio 9 UDP/TLS/RTP/SAVPF 8\r\n"},
		{"9 8 0 13", codecPCMA, "m=audio 9 UDP/TLS/RTP/SAVPF 8\r\n"},
		{"0 8 111", codecOpus, "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"},
		{list, codecOpus, "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"},
	} {
		for _, static := range []bool{false, true} {
			t.Run(c.formats, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := vnettest.New(t, vnettest.Link{}, 1)
					e := newTestEngine(t, n.Host("10.0.0.2"))
					offer := strings.Replace(chromeOffer, list, c.formats, 1)
					if static { // numbers 0 and 8 need no rtpmap (RFC 3551 section 6)
						offer = strings.NewReplacer("a=rtpmap:0 PCMU/8000\n", "", "a=rtpmap:8 PCMA/8000\n", "").Replace(offer)
					}
					p, err := e.Accept(t.Context(), crlf(offer), Handlers{})
					if err != nil {
						t.Fatal(err)
					}
					if p.Codec() != c.want {
						t.Errorf("codec %+v, want %+v", p.Codec(), c.want)
					}
					if !strings.Contains(p.LocalSDP(), c.line) {
						t.Errorf("answer:\n%s", p.LocalSDP())
					}
				})
			})
		}
	}
}

// g711Call is a far side that speaks one law of G.711, called by our peer.
func g711Call(t *testing.T, law Codec, far, near Handlers) *call {
	n := vnettest.New(t, vnettest.Link{Delay: 10 * time.Millisecond}, 1)
	from, to := newTestEngine(t, n.Host("10.0.0.1")), newTestEngine(t, n.Host("10.0.0.2"))
	far.Native = true
	o, err := from.newPeer(far, true, true, law)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.offer(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, err := to.Accept(t.Context(), o.LocalSDP(), near)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.SetAnswer(t.Context(), a.LocalSDP()); err != nil {
		t.Fatal(err)
	}
	c := &call{offerer: o, answerer: a}
	for _, p := range []*Peer{o, a} {
		c.wg.Go(func() { _ = p.Run(t.Context()) })
	}
	return c
}

// heard collects one direction.
type heard struct {
	mu      sync.Mutex
	pcm     []int16
	packets []rtp.Header
}

func (h *heard) take(p *rtp.Packet, decode func([]byte) []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.packets = append(h.packets, p.Header)
	h.pcm = append(h.pcm, decode(p.Payload)...)
}

// A browser that offers only G.711, in a house that knows only Opus: both hear each other.
func TestAG711CallerIsHeardAndHearsThroughAnOpusHouse(t *testing.T) {
	for _, law := range []Codec{codecPCMU, codecPCMA} {
		t.Run(law.MimeType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				code := g711.MuLaw
				if law == codecPCMA {
					code = g711.ALaw
				}
				dec, err := opus.NewDecoder(8000)
				if err != nil {
					t.Fatal(err)
				}
				var far, near heard
				c := g711Call(t, law,
					Handlers{Packet: func(p *rtp.Packet, _ time.Time) {
						far.take(p, func(b []byte) []int16 {
							pcm := make([]int16, len(b))
							code.Decode(pcm, b)
							return pcm
						})
					}},
					Handlers{Packet: func(p *rtp.Packet, _ time.Time) {
						near.take(p, func(b []byte) []int16 {
							pcm := make([]int16, 960)
							n, err := dec.Decode(b, pcm)
							if err != nil {
								t.Error(err)
							}
							return pcm[:n]
						})
					}})
				for c.offerer.State() != StateConnected || c.answerer.State() != StateConnected {
					time.Sleep(10 * time.Millisecond)
				}
				if c.answerer.Codec() != law {
					t.Errorf("codec %+v", c.answerer.Codec())
				}
				enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: 8000, Complexity: 5})
				if err != nil {
					t.Fatal(err)
				}
				voice := make([]int16, 8000)
				for i := range voice {
					voice[i] = int16(8000 * math.Sin(2*math.Pi*500*float64(i)/8000))
				}
				octets, packet := make([]byte, 160), make([]byte, opus.MaxPacket)
				for i := range 50 {
					pcm := voice[160*i : 160*(i+1)]
					code.Encode(octets, pcm)
					_ = c.offerer.WriteRTP(&rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(i), Timestamp: uint32(160 * i), Marker: i == 0}, Payload: octets})
					n, err := enc.Encode(pcm, packet)
					if err != nil {
						t.Fatal(err)
					}
					_ = c.answerer.WriteRTP(&rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(i), Timestamp: uint32(960 * i), Marker: i == 0}, Payload: packet[:n]})
					time.Sleep(20 * time.Millisecond)
				}
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				for name, side := range map[string]struct {
					h    *heard
					step uint32
				}{"far": {&far, 160}, "near": {&near, 960}} {
					side.h.mu.Lock()
					got := side.h
					if len(got.packets) != 50 || len(got.pcm) != 8000 {
						t.Fatalf("%s: %d packets, %d samples", name, len(got.packets), len(got.pcm))
					}
					for i, p := range got.packets[1:] {
						if p.SequenceNumber != got.packets[i].SequenceNumber+1 || p.Timestamp != got.packets[i].Timestamp+side.step || p.Marker {
							t.Errorf("%s: packet %d is %+v", name, i+1, p)
						}
					}
					var s, cos, e float64
					for i, v := range got.pcm[2400:7200] {
						w := 2 * math.Pi * 500 * float64(i) / 8000
						s, cos, e = s+float64(v)*math.Sin(w), cos+float64(v)*math.Cos(w), e+float64(v)*float64(v)
					}
					if share := 2 * (s*s + cos*cos) / 4800 / e; share < 0.99 {
						t.Errorf("%s: the tone is %.3f of what is heard", name, share)
					}
					side.h.mu.Unlock()
				}
				if st := c.answerer.Stats(); st.PacketsIn != 50 || st.PacketsOut != 50 || st.BytesOut != 50*160 || st.JitterIn > time.Millisecond {
					t.Errorf("stats %+v", st)
				}
			})
		})
	}
}

// Whoever does its own decoding gets the codec as it is.
func TestNativeHandlersGetTheNegotiatedCodec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan int, 10)
		c := g711Call(t, codecPCMU, Handlers{}, Handlers{Native: true, Packet: func(p *rtp.Packet, _ time.Time) { got <- len(p.Payload) }})
		for c.offerer.State() != StateConnected || c.answerer.State() != StateConnected {
			time.Sleep(10 * time.Millisecond)
		}
		_ = c.offerer.WriteRTP(&rtp.Packet{Header: rtp.Header{SequenceNumber: 1}, Payload: make([]byte, 160)})
		if n := <-got; n != 160 {
			t.Errorf("%d bytes", n)
		}
	})
}
