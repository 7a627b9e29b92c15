package openai_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"hovor/gateway/provider"
	"hovor/gateway/provider/openai"
	"hovor/sfu"
	"hovor/signaling/realtime"
)

// halfway answers an offer, and counts who hangs up.
type halfway struct {
	far      *sfu.Engine
	handlers sfu.Handlers
	answered func()
	hungUp   atomic.Int32
	peer     atomic.Pointer[sfu.Peer]
}

func (h *halfway) RoundTrip(r *http.Request) (*http.Response, error) {
	reply := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}
	if strings.HasSuffix(r.URL.Path, "/calls/rtc_1/hangup") {
		h.hungUp.Add(1)
		return reply, nil
	}
	offer, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p, err := h.far.Accept(context.Background(), string(offer), h.handlers)
	if err != nil {
		return nil, err
	}
	h.peer.Store(p)
	reply.StatusCode, reply.Body = http.StatusCreated, io.NopCloser(strings.NewReader(p.LocalSDP()))
	reply.Header.Set("Location", "/v1/realtime/calls/rtc_1")
	reply.Header.Set("Content-Type", "application/sdp")
	h.answered()
	return reply, nil
}

// A call that ends while its provider is still being dialled ends there too, instead of taking a place until the
// provider's patience is over.
func TestACallThatEndsWhileDiallingIsHungUp(t *testing.T) {
	for _, when := range []string{"with the answer", "with the channel open"} {
		t.Run(when, func(t *testing.T) {
			near, far := engine(t), engine(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := &halfway{far: far, answered: func() {}}
			if when == "with the answer" {
				h.answered = cancel
			} else {
				h.handlers.Open = cancel // no session.updated will come
			}
			p := openai.New(openai.Config{Name: "x", BaseURL: "http://provider.invalid/v1/realtime", Key: func() string { return "sk" },
				Engine: near, HTTP: &http.Client{Transport: h}})
			if _, err := p.Dial(ctx, provider.Setup{CallID: "rtc_n1_call", Session: realtime.Session{Type: "realtime"}}, quiet{}); err == nil {
				t.Error("a call that has ended was dialled")
			}
			if h.hungUp.Load() != 1 {
				t.Errorf("hung up %d times", h.hungUp.Load())
			}
			_ = h.peer.Load().Close()
		})
	}
}

func engine(t *testing.T) *sfu.Engine {
	t.Helper()
	e, err := sfu.NewEngine(sfu.Config{UDPListen: "127.0.0.1:0", Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}
