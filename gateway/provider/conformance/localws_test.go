package conformance_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance"
	"hovor/gateway/provider/conformance/fake"
	"hovor/gateway/provider/local"
	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/gateway/provider/openaiws"
	"hovor/sfu/vnettest"
	"hovor/signaling/realtime"
)

func TestTheEmbeddedProviderConformsOverWebSocket(t *testing.T) {
	conformance.Run(t, func(t *testing.T, name string, f func(*testing.T, conformance.Subject)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, err := brain.ParseScript([]byte("responses: [[{say: This is an answer that takes more than two seconds to say.}]]\nthen: again\n"))
				if err != nil {
					t.Fatal(err)
				}
				n := vnettest.New(t, vnettest.Link{}, 1)
				s, err := local.New(local.Config{APIKey: "sk-local", Engine: engine(t, n.Host("10.0.0.1")), Voice: voice.Tone{PerWord: 300 * time.Millisecond},
					Ear: ear.NewScripted("hello"), Brain: b})
				if err != nil {
					t.Fatal(err)
				}
				wire := fake.NewNetwork()
				wire.Delay = 10 * time.Millisecond
				h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
				ctx, cancel := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				wg.Go(func() { _ = s.Run(ctx) })
				wg.Go(func() { _ = h.Serve(wire) })
				t.Cleanup(func() {
					wire.Down(false)
					wire.Cut()
					_ = h.Close()
					cancel()
					wg.Wait()
					time.Sleep(time.Second)
				})
				with := func(key string) provider.Provider {
					return openaiws.New(openaiws.Config{Name: "local", BaseURL: "ws://local/v1/realtime", Key: func() string { return key }, Net: wire.Dial})
				}
				f(t, conformance.Subject{
					Provider: with("sk-local"),
					Session: realtime.Session{Type: "realtime", OutputModalities: []string{"audio"},
						Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}},
					Model:  "gpt-realtime",
					Voice:  tone(t),
					Kill:   func() { wire.Down(true) },
					Broken: map[provider.Class]provider.Provider{provider.Unauthorized: with("sk-wrong")},
					Far:    &conformance.Far{Cut: wire.Cut, Connections: wire.Dials},
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
