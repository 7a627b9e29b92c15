package openaiws_test

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
	"hovor/gateway/provider/openaiws"
	"hovor/sfu/opus"
	"hovor/signaling/realtime"
)

// manual is a session whose turns are found by our ear.
func manual() realtime.Session {
	return realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}}
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

func to(o *fake.OpenAI, change ...func(*openaiws.Config)) provider.Provider {
	cfg := openaiws.Config{BaseURL: "ws://provider/v1/realtime", Key: func() string { return "sk-test" }, Net: o.Net.Dial}
	for _, f := range change {
		f(&cfg)
	}
	return openaiws.New(cfg)
}

// broken is a provider for each way in which a dial fails.
func broken(t *testing.T) map[provider.Class]provider.Provider {
	quick := func(c *openaiws.Config) { c.Connect = 2 * time.Second }
	refusing := func(status int, body string) provider.Provider {
		o := fake.NewOpenAI(t)
		o.Refuse(status, "7", body)
		return to(o, quick)
	}
	dead := fake.NewOpenAI(t)
	dead.Net.Refuse(true)
	slow := fake.NewOpenAI(t)
	slow.Handle(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
	prose := fake.NewOpenAI(t)
	prose.Refuse(200, "", "<html>hello</html>")
	return map[provider.Class]provider.Provider{
		provider.Unreachable:  to(dead, quick),
		provider.Unauthorized: refusing(401, `{"error":{"type":"invalid_request_error","code":"invalid_api_key","message":"no"}}`),
		provider.RateLimited:  refusing(429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"no"}}`),
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
				o := fake.NewOpenAI(t)
				o.Net.Delay = 15 * time.Millisecond
				o.Will(fake.Script{Think: 100 * time.Millisecond, Text: "This is an answer of two seconds.", Audio: 2 * time.Second})
				f(t, conformance.Subject{
					Provider: to(o), Session: manual(), Model: "gpt-realtime", Voice: tone(t),
					Kill: func() { o.Net.Down(true) },
					Left: func(t *testing.T) {
						synctest.Wait()
						time.Sleep(time.Second)
						if !o.Left() {
							t.Error("the far side still holds the leg")
						}
					},
					Broken: broken(t),
					Far:    &conformance.Far{Cut: o.Cut, Hang: o.Hang, Mangle: o.Mangle, Connections: o.Count, Calls: o.Calls, Told: o.Told, Unique: true, Silent: o.Silent},
				})
			})
		})
	})
}
