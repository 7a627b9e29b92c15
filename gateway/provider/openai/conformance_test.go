package openai_test

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/call/calltest"
	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance"
	"hovor/gateway/provider/openai"
	"hovor/sfu"
	"hovor/sfu/vnettest"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// dead is a network where nobody listens.
type dead struct{}

func (dead) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}

// refusing answers every request with a status.
func refusing(status int) *http.Client {
	return client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"error":{"type":"x","code":"y","message":"no"}}`))
	}))
}

// silent takes a request and never answers.
func silent() *http.Client {
	return client.InProcess(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
}

// prose answers with a page instead of an SDP answer.
func prose() *http.Client {
	return client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello</html>")) }))
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T, name string, f func(*testing.T, conformance.Subject)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near := vnettest.Link{Delay: 15 * time.Millisecond}
				w := calltest.New(t, calltest.Options{Upstream: near})
				w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, Text: "This is an answer of two seconds.", Audio: 2 * time.Second})
				e, err := sfu.NewEngine(sfu.Config{Net: w.Hosts[0], UDPListen: "0.0.0.0:6000"})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = e.Close() })
				broken := func(hc *http.Client, connect time.Duration) provider.Provider {
					return openai.New(openai.Config{BaseURL: "http://nowhere/v1/realtime", Engine: e, HTTP: hc, Connect: connect})
				}
				f(t, conformance.Subject{
					Provider: w.Options.Provider,
					Session:  realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}},
					Model:    "script",
					Voice: func(i int) *rtp.Packet {
						return &rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: uint32(i) * 960}, Payload: []byte{0x78, 1, 2, 3}}
					},
					Kill: func() { w.Net.SetBoth(w.Hosts[1], w.Hosts[2], vnettest.Link{Down: true}) },
					Left: func(t *testing.T) { w.Within(3*time.Second, "the leg is left", w.Provider.Last().Ended) },
					Broken: map[provider.Class]provider.Provider{
						provider.Unreachable:  broken(&http.Client{Transport: dead{}}, 0),
						provider.Unauthorized: broken(refusing(401), 0),
						provider.RateLimited:  broken(refusing(429), 0),
						provider.Overloaded:   broken(refusing(503), 0),
						provider.Rejected:     broken(refusing(404), 0),
						provider.Timeout:      broken(silent(), 2*time.Second),
						provider.BadAnswer:    broken(prose(), 0),
					},
				})
			})
		})
	})
}
