package gemini_test

import (
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance"
	"hovor/gateway/provider/conformance/fake"
	"hovor/gateway/provider/gemini"
	"hovor/sfu/opus"
	"hovor/signaling/realtime"
)

// manual is a session whose turns are found by our ear.
func manual() realtime.Session {
	return realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection](),
		Transcription: realtime.Some(realtime.Transcription{Model: "any"})}}}
}

// tone gives packets of a 220 Hz tone.
func tone(t *testing.T) func(i int) *rtp.Packet {
	t.Helper()
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

func to(g *fake.Gemini, change ...func(*gemini.Config)) provider.Provider {
	cfg := gemini.Config{BaseURL: "ws://live", Key: func() string { return "AIza-test" }, Model: "gemini-live", Net: g.Net.Dial}
	for _, f := range change {
		f(&cfg)
	}
	return gemini.New(cfg)
}

// broken is a provider for each way in which a dial fails.
func broken(t *testing.T) map[provider.Class]provider.Provider {
	quick := func(c *gemini.Config) { c.Connect = 2 * time.Second }
	refusing := func(status int, body string) provider.Provider {
		g := fake.NewGemini(t)
		g.Refuse(status, "7", body)
		return to(g, quick)
	}
	dead := fake.NewGemini(t)
	dead.Net.Refuse(true)
	slow := fake.NewGemini(t)
	slow.Handle(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
	prose := fake.NewGemini(t)
	prose.Refuse(200, "", "<html>hello</html>")
	return map[provider.Class]provider.Provider{
		provider.Unreachable:  to(dead, quick),
		provider.Unauthorized: refusing(403, `{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}`),
		provider.RateLimited:  refusing(429, `{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}}`),
		provider.Overloaded:   refusing(503, "down"),
		provider.Rejected:     refusing(404, ""),
		provider.Timeout:      to(slow, quick),
		provider.BadAnswer:    to(prose, quick),
	}
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T, name string, f func(*testing.T, conformance.Subject)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := fake.NewGemini(t)
				g.Net.Delay = 15 * time.Millisecond
				g.Will(fake.Script{Think: 100 * time.Millisecond, Text: "This is an answer of two seconds.", Audio: 2 * time.Second})
				f(t, conformance.Subject{
					Provider: to(g), Session: manual(), Voice: tone(t),
					Kill: func() { g.Net.Down(true) },
					Left: func(t *testing.T) {
						time.Sleep(time.Second)
						if !g.Left() {
							t.Error("the far side still holds the leg")
						}
					},
					Broken: broken(t),
					Far:    &conformance.Far{Cut: g.Cut, Hang: g.Hang, Mangle: g.Mangle, Connections: g.Count, Calls: g.Calls, Told: g.Told, Unique: false, Silent: g.Silent},
				})
			})
		})
	})
}
