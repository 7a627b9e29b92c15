package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/sfu/vnettest"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/signaling/secrets"
)

// server is the smallest thing that answers a call: it says session.created, answers session.update, and sends audio back.
type server struct {
	engine  *sfu.Engine
	secrets *secrets.Store[string]

	mu    sync.Mutex
	calls map[string]context.CancelFunc
	model string
	wg    sync.WaitGroup
}

func newServer(engine *sfu.Engine) *server {
	return &server{engine: engine, secrets: secrets.New[string](0), calls: map[string]context.CancelFunc{}}
}

func (s *server) Mint(_ context.Context, c signaling.Caller, req realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	if !c.Bearer.Equal("demo-alice") {
		return nil, signaling.ErrBadCredential
	}
	session := realtime.Session{}
	if req.Session != nil {
		session = *req.Session
	}
	token, expires, err := s.secrets.Mint("alice", 0, false)
	if err != nil {
		return nil, err
	}
	return &realtime.ClientSecret{Value: token, ExpiresAt: expires.Unix(), Session: session.WithDefaults()}, nil
}

func (s *server) Open(ctx context.Context, c signaling.Caller, o signaling.Offer) (*signaling.Answer, error) {
	if _, err := s.secrets.Redeem(c.Bearer.Reveal()); err != nil {
		return nil, err
	}
	session := realtime.Session{Model: o.Model, ID: realtime.NewID("sess")}.WithDefaults()
	var peer *sfu.Peer
	answered := make(chan struct{})
	send := func(e realtime.Event) {
		raw, err := realtime.Encode(e)
		if err == nil {
			err = peer.Send(raw)
		}
		if err != nil {
			panic(err)
		}
	}
	peer, err := s.engine.Accept(ctx, o.SDP, sfu.Handlers{
		Open: func() { <-answered; send(&realtime.SessionCreated{Session: session}) },
		Message: func(raw []byte) {
			ev, err := realtime.Decode(realtime.FromClient, raw)
			if e, ok := errors.AsType[*realtime.Error](err); ok {
				send(e.Event())
				return
			}
			if u, ok := ev.(*realtime.SessionUpdate); ok {
				session = session.Merge(u.Session)
				send(&realtime.SessionUpdated{Session: session.WithDefaults()})
			}
		},
		Packet: func(p *rtp.Packet, _ time.Time) { _ = peer.WriteRTP(p) },
	})
	if err != nil {
		return nil, err
	}
	close(answered)
	callCtx, cancel := context.WithCancel(context.Background())
	id := realtime.NewID("call")
	s.mu.Lock()
	s.calls[id], s.model = cancel, o.Model
	s.mu.Unlock()
	s.wg.Go(func() {
		_ = peer.Run(callCtx)
		cancel()
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
	})
	return &signaling.Answer{SDP: peer.LocalSDP(), CallID: id}, nil
}

func (s *server) Hangup(_ context.Context, _ signaling.Caller, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel, ok := s.calls[id]
	if !ok {
		return signaling.ErrCallNotFound
	}
	cancel()
	return nil
}

func (s *server) State(context.Context, signaling.Caller, string) (*signaling.CallState, error) {
	return nil, signaling.ErrCallNotFound
}

// hangUpAll ends every call and tells how many there were.
func (s *server) hangUpAll() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.calls {
		cancel()
	}
	return len(s.calls)
}

// world is a client host and a server host with 20 ms between them.
type world struct {
	server *server
	engine *sfu.Engine // the client's
	http   *http.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	n := vnettest.New(t, vnettest.Link{Delay: 20 * time.Millisecond}, 1)
	engine := func(ip string) *sfu.Engine {
		e, err := sfu.NewEngine(sfu.Config{NodeID: "n1", Net: n.Host(ip), UDPListen: "0.0.0.0:5000"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	w := &world{engine: engine("10.0.0.1"), server: newServer(engine("10.0.0.2"))}
	w.http = InProcess(signaling.NewHandler(w.server, signaling.HandlerConfig{}))
	t.Cleanup(w.server.wg.Wait)
	return w
}

const baseURL = "http://gw.example/v1/realtime"

func (w *world) secret(t *testing.T) string {
	t.Helper()
	s, err := MintSecret(t.Context(), w.http, baseURL, "demo-alice", realtime.ClientSecretRequest{Session: &realtime.Session{Type: "realtime", Model: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Session.Model != "m" || s.Session.TurnDetection() == nil {
		t.Errorf("session of the secret: %+v", s.Session)
	}
	return s.Value
}

func TestAWholeCallInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var events []string
		var last realtime.Session
		packets := 0
		instructions := "be kind"
		c, err := Dial(t.Context(), Config{
			BaseURL: baseURL, Token: w.secret(t), Model: "gpt realtime&x", Engine: w.engine, HTTP: w.http,
			Session: &realtime.Session{Type: "realtime", Instructions: &instructions},
			Handlers: Handlers{
				Event: func(raw []byte, ev realtime.Event) {
					events = append(events, ev.EventType())
					if u, ok := ev.(*realtime.SessionUpdated); ok {
						last = u.Session
					}
				},
				Packet: func(*rtp.Packet, time.Time) { packets++ },
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		if err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if err := c.WriteRTP(&rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(i), Timestamp: uint32(i) * 960}, Payload: []byte{0xf8, 1, 2}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := c.SendRaw([]byte(`{"type":"session.destroy","event_id":"mine"}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := fmt.Sprint(events); got != "[session.created session.updated error]" {
			t.Errorf("events %v", got)
		}
		if last.Instructions == nil || *last.Instructions != "be kind" || last.TurnDetection() == nil || last.TurnDetection().InterruptResponse == nil {
			t.Errorf("effective session %+v", last)
		}
		if packets < 49 {
			t.Errorf("%d packets came back", packets)
		}
		if w.server.model != "gpt realtime&x" || !strings.HasPrefix(c.CallID(), "call_") {
			t.Errorf("model %q, call %q", w.server.model, c.CallID())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		time.Sleep(time.Second)
		if n := w.server.hangUpAll(); n != 0 {
			t.Errorf("the server still held %d calls", n)
		}
	})
}

func TestHangingUpEndsTheCallOnBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, err := Dial(t.Context(), Config{BaseURL: baseURL + "/", Token: w.secret(t), Engine: w.engine, HTTP: w.http})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Run(t.Context()) }()
		if err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the far side's handshake is half a round trip behind ours
		for range 2 {           // the second time there is no such call any more, which is as good
			if err := c.Hangup(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Errorf("run: %v", err)
			}
			ended <- nil
		}
		if err := c.Ready(t.Context()); err != nil && !errors.Is(err, ErrGone) {
			t.Errorf("ready after the end: %v", err)
		}
	})
}

func TestReadyTellsWhenTheMediaNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{Down: true}, 1)
		engines := map[string]*sfu.Engine{}
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			e, err := sfu.NewEngine(sfu.Config{NodeID: "n1", Net: n.Host(ip), UDPListen: "0.0.0.0:5000"})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			engines[ip] = e
		}
		s := newServer(engines["10.0.0.2"])
		defer s.wg.Wait()
		w := &world{server: s, http: InProcess(signaling.NewHandler(s, signaling.HandlerConfig{}))}
		c, err := Dial(t.Context(), Config{BaseURL: baseURL, Token: w.secret(t), Engine: engines["10.0.0.1"], HTTP: w.http})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = c.Run(t.Context()) }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("within a second: %v", err)
		}
		if err := c.Ready(t.Context()); !errors.Is(err, ErrGone) {
			t.Errorf("in the end: %v", err)
		}
		s.hangUpAll()
	})
}

func TestARefusalArrivesAsTheServerSaidIt(t *testing.T) {
	engine, err := sfu.NewEngine(sfu.Config{UDPListen: "127.0.0.1:0", Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	refuse := func(status int, header, value, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		})
	}
	for _, c := range []struct {
		name   string
		server http.Handler
		status int // of a *realtime.Error
		says   string
		is     error
	}{
		{"the Realtime form", refuse(429, "Retry-After", "7", `{"error":{"type":"t","code":"insufficient_quota","message":"no money","param":null}}`), 429, "insufficient_quota: no money", nil},
		{"a text for an object", refuse(401, "X", "", `{"error":"bad canary"}`), 401, "401 Unauthorized", nil},
		{"a page", refuse(502, "X", "", `<html>canary</html>`), 502, "502 Bad Gateway", nil},
		{"success that is no SDP", refuse(200, "Content-Type", "text/html", `<html>canary</html>`), 0, "no SDP", ErrReply},
		{"an answer that cannot be read", refuse(201, "Content-Type", "application/sdp", "v=0\r\n"), 0, "", sfu.ErrNotSDP},
		{"an endless answer", refuse(201, "Content-Type", "application/sdp", strings.Repeat("a", maxReply+1)), 0, "larger", ErrReply},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Dial(t.Context(), Config{BaseURL: baseURL, Token: "secret-canary", Engine: engine, HTTP: InProcess(c.server)})
			e, ok := errors.AsType[*realtime.Error](err)
			switch {
			case err == nil:
				t.Fatal("no error")
			case c.status != 0 && (!ok || e.Status != c.status):
				t.Errorf("error is %v", err)
			case c.is != nil && !errors.Is(err, c.is) && !errors.Is(err, sfu.ErrNoAudio):
				t.Errorf("error is %v", err)
			case !strings.Contains(err.Error(), c.says), strings.Contains(err.Error(), "canary"):
				t.Errorf("error says %v", err)
			}
			if c.status == 429 && e.RetryAfter != 7 {
				t.Errorf("retry after %d", e.RetryAfter)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if _, err := Dial(ctx, Config{BaseURL: baseURL, Engine: engine, HTTP: InProcess(slow)}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	for _, cfg := range []Config{{Engine: engine}, {BaseURL: baseURL}} {
		if _, err := Dial(t.Context(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%v", err)
		}
	}
}

func TestMintingSaysWhatTheServerSaid(t *testing.T) {
	w := InProcess(signaling.NewHandler(newServer(nil), signaling.HandlerConfig{}))
	_, err := MintSecret(t.Context(), w, baseURL, "nobody", realtime.ClientSecretRequest{})
	if e, ok := errors.AsType[*realtime.Error](err); !ok || e.Status != 401 || e.Code != "invalid_credential" {
		t.Errorf("error is %v", err)
	}
	empty := InProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	if _, err := MintSecret(t.Context(), empty, baseURL, "k", realtime.ClientSecretRequest{}); !errors.Is(err, ErrReply) {
		t.Errorf("error is %v", err)
	}
}

func TestTheCallIDIsTheLastSegmentOfTheLocation(t *testing.T) {
	for location, want := range map[string]string{
		"/v1/realtime/calls/rtc_1": "rtc_1", "https://api.example/v1/realtime/calls/rtc_u1_2": "rtc_u1_2", "": "", "/": "",
		"/v1/realtime/calls/rtc_1/": "rtc_1", "/calls/rtc_1?x=y": "rtc_1", ":": "",
	} {
		if got := callIDOf(location); got != want {
			t.Errorf("%q: %q", location, got)
		}
	}
}

func TestAConfigPrintsWithoutItsToken(t *testing.T) {
	cfg := Config{BaseURL: baseURL, Token: "canary", Model: "m"}
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "cfg", cfg)
	fmt.Fprintf(&b, "%v %+v %#v %s", cfg, cfg, cfg, &cfg)
	if strings.Contains(b.String(), "canary") {
		t.Error(b.String())
	}
}
