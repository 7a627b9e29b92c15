package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/signaling/sdpfrag"
	"hovor/signaling/socket"
)

// socketServer says session.created, answers one session.update, and ends as it is told.
type socketServer struct {
	*server
	req signaling.SocketRequest
	end error
}

func (s *socketServer) Socket(ctx context.Context, c signaling.Caller, r signaling.SocketRequest, sock signaling.Socket) error {
	if !c.Bearer.Equal("demo-alice") {
		return signaling.ErrBadCredential
	}
	s.req = r
	say := func(e realtime.Event) {
		raw, _ := realtime.Encode(e)
		_ = sock.Write(raw)
	}
	session := realtime.Session{Model: r.Model}
	say(&realtime.SessionCreated{Session: session.WithDefaults()})
	for {
		raw, err := sock.Read(ctx)
		if err != nil {
			return err
		}
		if ev, _ := realtime.Decode(realtime.FromClient, raw); ev != nil {
			say(&realtime.SessionUpdated{Session: session.Merge(ev.(*realtime.SessionUpdate).Session).WithDefaults()})
			if s.end != nil {
				return s.end
			}
		}
	}
}

func TestASocketIsDialledAsAServerAndAsABrowser(t *testing.T) {
	for _, asBrowser := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &socketServer{server: newServer(nil)}
			events := make(chan realtime.Event, 8)
			c, err := DialSocket(t.Context(), SocketConfig{
				BaseURL: "http://gw.example/v1/realtime/", Token: "demo-alice", Model: "a model&x", AsBrowser: asBrowser,
				NetDial: Pipe(signaling.NewHandler(s, signaling.HandlerConfig{})), Event: func(_ []byte, ev realtime.Event) { events <- ev },
			})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Run(t.Context()) }()
			if _, ok := (<-events).(*realtime.SessionCreated); !ok {
				t.Error("no session.created")
			}
			if err := c.Send(&realtime.SessionUpdate{Session: realtime.Session{Type: "realtime"}}); err != nil {
				t.Fatal(err)
			}
			if u, ok := (<-events).(*realtime.SessionUpdated); !ok || u.Session.Model != "a model&x" {
				t.Errorf("no session.updated")
			}
			c.Close()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if s.req.Model != "a model&x" || asBrowser && c.Conn().Subprotocol() != "realtime" {
				t.Errorf("%+v, subprotocol %q", s.req, c.Conn().Subprotocol())
			}
		})
	}
}

func TestRow6_16_ASocketEndsWithTheServersCodeAndReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &socketServer{server: newServer(nil), end: &realtime.Error{Status: 503, Type: realtime.TypeServer, Code: realtime.CodeUnavailable, Message: "m"}}
		var types []string
		c, err := DialSocket(t.Context(), SocketConfig{
			BaseURL: "http://gw.example/v1/realtime", Token: "demo-alice", CallID: "call_1",
			NetDial: Pipe(signaling.NewHandler(s, signaling.HandlerConfig{})), Event: func(_ []byte, ev realtime.Event) { types = append(types, ev.EventType()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Send(&realtime.SessionUpdate{Session: realtime.Session{Type: "realtime"}})
		err = c.Run(t.Context())
		if e, ok := errors.AsType[*socket.CloseError](err); !ok || e.Code != socket.CodeTryLater || e.Reason != "server_error.unavailable" {
			t.Errorf("run: %v", err)
		}
		if fmt.Sprint(types) != "[session.created session.updated error]" || s.req.CallID != "call_1" {
			t.Errorf("%v %+v", types, s.req)
		}
		if err := c.SendRaw([]byte("{}")); !errors.Is(err, socket.ErrClosed) {
			t.Errorf("send after the end: %v", err)
		}
	})
}

func TestARefusedSocketIsTheServersError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &socketServer{server: newServer(nil)}
		pipe := Pipe(signaling.NewHandler(s, signaling.HandlerConfig{}))
		for _, c := range []struct {
			name   string
			cfg    SocketConfig
			status int
			code   string
		}{
			{"a foreign key", SocketConfig{BaseURL: "http://gw.example/v1/realtime", Token: "canary", Model: "m", NetDial: pipe}, 401, "invalid_credential"},
			{"nothing asked for", SocketConfig{BaseURL: "http://gw.example/v1/realtime", Token: "demo-alice", NetDial: pipe}, 400, "missing_required_parameter"},
			{"another place", SocketConfig{BaseURL: "http://gw.example/v1/nothing", Token: "demo-alice", Model: "m", NetDial: pipe}, 404, "not_found"},
		} {
			_, err := DialSocket(t.Context(), c.cfg)
			if e, ok := errors.AsType[*realtime.Error](err); !ok || e.Status != c.status || e.Code != c.code || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if _, err := DialSocket(t.Context(), SocketConfig{BaseURL: "ftp://gw.example"}); !errors.Is(err, ErrConfig) {
			t.Errorf("%v", err)
		}
		nobody := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
		if _, err := DialSocket(t.Context(), SocketConfig{BaseURL: "http://gw.example/?key=canary", NetDial: nobody}); !errors.Is(err, ErrTransport) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v", err)
		}
	})
	cfg := SocketConfig{BaseURL: "wss://gw.example/?key=canary", Token: "canary"}
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "cfg", cfg)
	fmt.Fprintf(&b, "%v %+v %#v", cfg, cfg, cfg)
	if strings.Contains(b.String(), "canary") {
		t.Error(b.String())
	}
}

func TestTheEndOfTheContextEndsASocketInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &socketServer{server: newServer(nil)}
		c, err := DialSocket(t.Context(), SocketConfig{BaseURL: "http://gw.example/v1/realtime", Token: "demo-alice", Model: "m", NetDial: Pipe(signaling.NewHandler(s, signaling.HandlerConfig{}))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := c.Run(ctx); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// restarting answers a PATCH as a server whose ICE session was "one" and becomes "two".
type restarting struct{ got []signaling.PatchRequest }

func (p *restarting) patch(w http.ResponseWriter, r *http.Request) {
	var body [4096]byte
	n, _ := r.Body.Read(body[:])
	f, err := sdpfrag.Parse(string(body[:n]))
	if err != nil {
		panic(err)
	}
	switch etag := r.Header.Get("If-Match"); etag {
	case `"one"`:
		w.WriteHeader(http.StatusNoContent)
	case "*":
		theirs := sdpfrag.Fragment{Media: []sdpfrag.Media{{Line: "audio 9 UDP/TLS/RTP/SAVPF 111", Mid: "0", Credentials: sdpfrag.Credentials{Ufrag: "new0", Pwd: "newnewnewnewnewnewnewnew"}, Candidates: []string{"candidate:9 1 udp 1 192.0.2.7 7 typ host"}}}}
		w.Header().Set("ETag", `"two"`)
		_, _ = w.Write([]byte(theirs.Text()))
	default:
		signaling.WriteError(w, signaling.ErrPrecondition)
	}
	p.got = append(p.got, signaling.PatchRequest{IfMatch: r.Header.Get("If-Match"), Fragment: f})
}

func TestRow5_2_AConnTricklesAndRestarts(t *testing.T) {
	const ours = "v=0\r\na=group:BUNDLE 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=ice-ufrag:ours\r\na=ice-pwd:oursoursoursoursoursours\r\na=candidate:1 1 udp 1 192.0.2.1 1 typ host\r\n"
	const theirs = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=ice-ufrag:old0\r\na=ice-pwd:oldoldoldoldoldoldoldold\r\na=candidate:1 1 udp 1 192.0.2.9 1 typ host\r\na=sendrecv\r\n"
	p := &restarting{}
	c := &Conn{cfg: Config{BaseURL: baseURL, HTTP: InProcess(http.HandlerFunc(p.patch))}, callID: "call_1", session: iceSession{etag: `"one"`, remote: theirs}}
	f, err := sdpfrag.FromSDP(ours)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Trickle(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	answer, err := c.Restart(t.Context(), ours)
	if err != nil || strings.Contains(answer, "old") || !strings.Contains(answer, "a=ice-ufrag:new0") || !strings.Contains(answer, "192.0.2.7") || !strings.Contains(answer, "a=sendrecv") {
		t.Errorf("%v\n%s", err, answer)
	}
	if len(p.got) != 2 || p.got[1].Fragment.Current().Ufrag != "ours" || p.got[1].Fragment.Group != "BUNDLE 0" || c.session.etag != `"two"` {
		t.Errorf("%+v, then %s", p.got, c.session.etag)
	}
	err = c.Trickle(t.Context(), f) // this server knows "one" only
	if e, ok := errors.AsType[*realtime.Error](err); !ok || e.Status != 412 {
		t.Errorf("%v", err)
	}
	if _, err := c.Restart(t.Context(), "v=0"); !errors.Is(err, sdpfrag.ErrSyntax) {
		t.Errorf("%v", err)
	}
	for _, none := range []*Conn{{cfg: c.cfg, callID: "call_1"}, {cfg: c.cfg, session: iceSession{etag: "x"}}} {
		if err := none.Trickle(t.Context(), f); !errors.Is(err, ErrConfig) {
			t.Errorf("%v", err)
		}
	}
}
