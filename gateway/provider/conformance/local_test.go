package conformance_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance"
	"hovor/gateway/provider/local"
	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/gateway/provider/openai"
	"hovor/sfu"
	"hovor/sfu/opus"
	"hovor/sfu/vnettest"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

func engine(t *testing.T, h *vnettest.Host) *sfu.Engine {
	t.Helper()
	e, err := sfu.NewEngine(sfu.Config{Net: h, UDPListen: "0.0.0.0:5000"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// tone gives packets of a 220 Hz tone.
func tone(t *testing.T) func(i int) *rtp.Packet {
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: 16000})
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, 320)
	return func(i int) *rtp.Packet {
		for k := range pcm {
			pcm[k] = int16(8000 * math.Sin(2*math.Pi*220*float64(i*320+k)/16000))
		}
		out := make([]byte, opus.MaxPacket)
		n, err := enc.Encode(pcm, out)
		if err != nil {
			t.Fatal(err)
		}
		return &rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: uint32(i) * 960}, Payload: out[:n]}
	}
}

func TestTheEmbeddedProviderConforms(t *testing.T) {
	conformance.Run(t, func(t *testing.T, name string, f func(*testing.T, conformance.Subject)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := vnettest.New(t, vnettest.Link{Delay: 10 * time.Millisecond}, 3)
				near, far := n.Host("10.0.0.1"), n.Host("10.0.0.2")
				b, err := brain.ParseScript([]byte("responses: [[{say: This is an answer that takes more than two seconds to say.}]]\nthen: again\n"))
				if err != nil {
					t.Fatal(err)
				}
				s, err := local.New(local.Config{APIKey: "sk-local", Engine: engine(t, far), Voice: voice.Tone{PerWord: 300 * time.Millisecond},
					Ear: ear.NewScripted("hello"), Brain: b})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				wg.Go(func() { _ = s.Run(ctx) })
				t.Cleanup(func() { cancel(); wg.Wait() })
				e := engine(t, near)
				with := func(key string, mint bool) provider.Provider {
					return openai.New(openai.Config{Name: "local", BaseURL: "http://local/v1/realtime", Key: func() string { return key }, Mint: mint,
						Engine: e, HTTP: client.InProcess(s.Handler())})
				}
				f(t, conformance.Subject{
					Provider: with("sk-local", true),
					Session: realtime.Session{Type: "realtime", OutputModalities: []string{"audio"},
						Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}},
					Model:  "gpt-realtime",
					Voice:  tone(t),
					Kill:   func() { n.SetBoth(near, far, vnettest.Link{Down: true}) },
					Broken: map[provider.Class]provider.Provider{provider.Unauthorized: with("sk-wrong", false)},
					Left: func(t *testing.T) {
						for begin := time.Now(); s.Sessions() > 0; time.Sleep(10 * time.Millisecond) {
							if time.Since(begin) > 3*time.Second {
								t.Fatal("the embedded provider still holds the call")
							}
						}
					},
				})
			})
		})
	})
}
