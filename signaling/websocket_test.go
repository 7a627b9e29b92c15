package signaling

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"hovor/signaling/client"
	"hovor/signaling/realtime"
	"hovor/signaling/socket"
)

// socketed is a service whose sockets do what a test says.
type socketed struct {
	*fakeService
	req    SocketRequest
	serve  func(ctx context.Context, s Socket) error
	ended  chan error // what Read said at the end, for the default serve
	opened int
}

func newSocketed() *socketed {
	s := &socketed{fakeService: newFake(), ended: make(chan error, 8)}
	s.serve = s.echo
	return s
}

func (s *socketed) Socket(ctx context.Context, c Caller, r SocketRequest, sock Socket) error {
	if _, err := s.who(c); err != nil {
		return err
	}
	if r.CallID != "" && r.CallID != "call_1" {
		return ErrCallNotFound
	}
	s.req = r
	s.opened++
	return s.serve(ctx, InDialect(sock, r.Dialect))
}

// echo says session.created, and answers every session.update and every mistake.
func (s *socketed) echo(ctx context.Context, sock Socket) error {
	say := func(e realtime.Event) error {
		raw, err := realtime.Encode(e)
		if err != nil {
			return err
		}
		return sock.Write(raw)
	}
	session := realtime.Session{Model: s.req.Model, ID: "sess_1"}
	if s.req.CallID == "" {
		if err := say(&realtime.SessionCreated{Session: session.WithDefaults()}); err != nil {
			return err
		}
	}
	for {
		raw, err := sock.Read(ctx)
		if err != nil {
			s.ended <- err
			return err
		}
		ev, err := realtime.Decode(realtime.FromClient, raw)
		switch e := ev.(type) {
		case *realtime.SessionUpdate:
			session = session.Merge(e.Session)
			_ = say(&realtime.SessionUpdated{Session: session.WithDefaults()})
		case *realtime.ConversationItemCreate:
			e.Item.ID = "item_1"
			_ = say(&realtime.ConversationItemAdded{Item: e.Item})
			_ = say(&realtime.ConversationItemDone{Item: e.Item})
		case nil:
			_ = say(ReplyTo(err).Event())
		}
	}
}

// dialing is a handler behind a pipe, and a client that speaks to it.
type dialing struct {
	t        *testing.T
	handler  http.Handler
	protocol []string
	header   http.Header
}

func (d dialing) to(target string) (*websocket.Conn, *http.Response, error) {
	dialer := websocket.Dialer{NetDialContext: client.Pipe(d.handler), Subprotocols: d.protocol}
	return dialer.DialContext(d.t.Context(), "ws://gw.example"+target, d.header)
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// types reads events until the socket ends, and returns their types and the farewell.
func types(ws *websocket.Conn) (list []string, code int, reason string) {
	for {
		_, raw, err := ws.ReadMessage()
		if e, ok := errors.AsType[*websocket.CloseError](err); ok {
			return list, e.Code, e.Text
		}
		if err != nil {
			return list, -1, err.Error()
		}
		typ, _, _ := realtime.Peek(raw)
		list = append(list, typ)
	}
}

func TestRow3_7_ASocketSpeaksTheProtocolFromTheFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSocketed()
		ws, res, err := dialing{t, NewHandler(s, HandlerConfig{}), nil, bearer("demo-alice")}.to("/v1/realtime?model=gpt-realtime")
		if err != nil || res.Header.Get("Sec-Websocket-Protocol") != "" {
			t.Fatalf("%v %v", err, res)
		}
		for _, send := range []string{`{"type":"session.update","session":{"type":"realtime"}}`, `not JSON`, `{"type":"response.dance","event_id":"mine"}`} {
			_ = ws.WriteMessage(websocket.TextMessage, []byte(send))
		}
		go func() {
			time.Sleep(time.Second)
			_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
		}()
		list, _, _ := types(ws)
		if fmt.Sprint(list) != "[session.created session.updated error error]" {
			t.Errorf("events %v", list)
		}
		if err := <-s.ended; !errors.Is(err, socket.ErrClosed) {
			t.Errorf("the service read %v", err)
		}
		if s.req != (SocketRequest{Model: "gpt-realtime"}) {
			t.Errorf("request %+v", s.req)
		}
		_ = ws.Close()
	})
}

func TestRow3_7_ABrowserAuthenticatesBySubprotocolAndGetsOneBack(t *testing.T) {
	const key = "openai-insecure-api-key.demo-alice"
	for _, c := range []struct {
		name     string
		offered  []string
		header   http.Header
		answered string
		dialect  realtime.Dialect
		status   int
	}{
		{"agents-js", []string{"realtime", key, "openai-agents-sdk.0.20.0"}, nil, "realtime", realtime.GA, 101},
		{"the openai SDK", []string{"openai-organization.o", "openai-project.p", "realtime", key}, nil, "realtime", realtime.GA, 101},
		{"a beta client", []string{"realtime", key, "openai-beta.realtime-v1"}, nil, "realtime", realtime.Beta, 101},
		{"a beta client without realtime", []string{key, "openai-beta.realtime-v1"}, nil, "openai-beta.realtime-v1", realtime.Beta, 101},
		{"header and subprotocol agree", []string{"realtime", key}, bearer("demo-alice"), "realtime", realtime.GA, 101},
		{"they do not agree", []string{"realtime", key}, bearer("demo-bob"), "", 0, 401},
		{"two keys", []string{"realtime", key, "openai-insecure-api-key.other"}, nil, "", 0, 401},
		{"an empty key", []string{"realtime", "openai-insecure-api-key."}, nil, "", 0, 401},
		{"a foreign key", []string{"realtime", "openai-insecure-api-key.guess"}, nil, "", 0, 401},
		{"no key", []string{"realtime"}, nil, "", 0, 401},
		{"nothing that can be answered", []string{key}, nil, "", 0, 400},
		{"only routing", []string{"openai-project.p", key}, nil, "", 0, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSocketed()
				var log bytes.Buffer
				h := NewHandler(s, HandlerConfig{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
				ws, res, err := dialing{t, h, c.offered, c.header}.to("/v1/realtime?model=m")
				if res == nil || res.StatusCode != c.status {
					t.Fatalf("%v %v", err, res)
				}
				if err != nil {
					return
				}
				if got := res.Header.Values("Sec-Websocket-Protocol"); len(got) != 1 || got[0] != c.answered {
					t.Errorf("answered %q", got)
				}
				_ = ws.Close()
				synctest.Wait()
				<-s.ended
				time.Sleep(time.Minute)
				if s.req.Dialect != c.dialect || strings.Contains(log.String(), "demo-alice") {
					t.Errorf("%s, log %s", s.req.Dialect, log.String())
				}
			})
		})
	}
}

func TestASocketIsOpenedForExactlyOneThing(t *testing.T) {
	for _, c := range []struct {
		query, code, param string
		status             int
		want               SocketRequest
	}{
		{"model=m", "", "", 101, SocketRequest{Model: "m"}},
		{"call_id=call_1", "", "", 101, SocketRequest{CallID: "call_1"}},
		{"intent=transcription", "", "", 101, SocketRequest{Intent: "transcription"}},
		{"model=m&unknown=1&call_id=", "", "", 101, SocketRequest{Model: "m"}},
		{"", "missing_required_parameter", "", 400, SocketRequest{}},
		{"model=", "missing_required_parameter", "", 400, SocketRequest{}},
		{"model=m&call_id=call_1", "missing_required_parameter", "", 400, SocketRequest{}},
		{"model=m&intent=transcription", "missing_required_parameter", "", 400, SocketRequest{}},
		{"model=m&model=n", "duplicate_parameter", "model", 400, SocketRequest{}},
		{"intent=conversation", "invalid_value", "intent", 400, SocketRequest{}},
		{"call_id=call_2", "call_id_not_found", "", 404, SocketRequest{}},
		{"call_id=%3Cscript%3E", "call_id_not_found", "", 404, SocketRequest{}},
		{"model=" + strings.Repeat("m", 300), "invalid_value", "model", 400, SocketRequest{}},
		{"model=%zz", "invalid_value", "", 400, SocketRequest{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSocketed()
			ws, res, err := dialing{t, NewHandler(s, HandlerConfig{}), nil, bearer("demo-alice")}.to("/v1/realtime?" + c.query)
			if res == nil || res.StatusCode != c.status {
				t.Fatalf("%s: %v %v", c.query, err, res)
			}
			if err == nil {
				_ = ws.Close()
				<-s.ended
				if s.req != c.want {
					t.Errorf("%s: %+v", c.query, s.req)
				}
				return
			}
			var got struct {
				Error struct{ Code, Param, Message string }
			}
			body := text(t, res)
			if json.Unmarshal([]byte(body), &got) != nil || got.Error.Code != c.code || got.Error.Param != c.param || got.Error.Message == "" {
				t.Errorf("%s: %s", c.query, body)
			}
		})
	}
}

func TestRow6_23_ASidebandStartsSilentAndIsToldWhyItCannotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSocketed()
		h := NewHandler(s, HandlerConfig{})
		ws, _, err := dialing{t, h, nil, bearer("demo-alice")}.to("/v1/realtime?call_id=call_1")
		if err != nil {
			t.Fatal(err)
		}
		// The service answers the handshake by its first Read; nothing comes until the sideband asks.
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"session.update","session":{"type":"realtime"}}`))
		_, raw, err := ws.ReadMessage()
		if typ, _, _ := realtime.Peek(raw); err != nil || typ != "session.updated" {
			t.Errorf("first came %s %v", raw, err)
		}
		_ = ws.Close()
		<-s.ended

		_, res, _ := dialing{t, h, nil, bearer("demo-alice")}.to("/v1/realtime?call_id=call_gone")
		if body := text(t, res); res.StatusCode != 404 || !strings.Contains(body, "call_id_not_found") || !strings.Contains(body, "ended") {
			t.Errorf("%d %s", res.StatusCode, body)
		}
		_, res, _ = dialing{t, h, nil, bearer("another-project")}.to("/v1/realtime?call_id=call_1")
		if body := text(t, res); res.StatusCode != 401 || !strings.Contains(body, "same host") && !strings.Contains(body, "mint") {
			t.Errorf("%d %s", res.StatusCode, body)
		}
	})
}

func TestAPageIsToldOnTheSocketBecauseItCannotReadTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		header := http.Header{"Origin": {"http://gw.example"}}
		for _, c := range []struct {
			name, target string
			protocol     []string
			code         int
			reason       string
		}{
			{"a foreign key", "/v1/realtime?model=m", []string{"realtime", "openai-insecure-api-key.guess"}, 3000, "authentication_error.invalid_credential"},
			{"no key", "/v1/realtime?model=m", []string{"realtime"}, 3000, "authentication_error.missing_credential"},
			{"nothing asked for", "/v1/realtime", []string{"realtime", "openai-insecure-api-key.demo-alice"}, 1008, "invalid_request_error.missing_required_parameter"},
			{"a call that is over", "/v1/realtime?call_id=call_9", []string{"realtime", "openai-insecure-api-key.demo-alice"}, 1008, "invalid_request_error.call_id_not_found"},
		} {
			ws, _, err := dialing{t, NewHandler(newSocketed(), HandlerConfig{}), c.protocol, header}.to(c.target)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			list, code, reason := types(ws)
			if fmt.Sprint(list) != "[error]" || code != c.code || reason != c.reason {
				t.Errorf("%s: %v, %d %q", c.name, list, code, reason)
			}
			_ = ws.Close()
		}
	})
}

func TestRow6_13_SocketsOfOtherOriginsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for origin, allowed := range map[string]bool{"https://app.example": true, "http://gw.example": true, "https://evil.example": false, "null": false} {
			s := newSocketed()
			h := NewHandler(s, HandlerConfig{AllowedOrigins: []string{"https://app.example"}})
			header := bearer("demo-alice")
			header.Set("Origin", origin)
			ws, res, err := dialing{t, h, nil, header}.to("/v1/realtime?model=m")
			switch {
			case allowed && err == nil:
				_ = ws.Close()
				<-s.ended
			case !allowed && res != nil && res.StatusCode == 403 && strings.Contains(text(t, res), "origin_not_allowed") && s.opened == 0:
			default:
				t.Errorf("%s: %v %v", origin, err, res)
			}
		}
	})
}

func TestAHandshakeThatIsNoneIsToldSo(t *testing.T) {
	h := NewHandler(newSocketed(), HandlerConfig{})
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-Websocket-Version", "13", "Sec-Websocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
	for _, c := range []struct {
		name   string
		h      http.Handler
		header []string
		status int
		code   string
	}{
		{"a plain GET", h, nil, 426, "upgrade_required"},
		{"an old version", h, append(upgrade[:4:4], "Sec-Websocket-Version", "8"), 426, "upgrade_required"},
		{"no key", h, upgrade[:6], 400, "upgrade_required"},
		{"a connection that cannot be taken over", h, upgrade, 400, "upgrade_required"},
		{"a server without sockets", NewHandler(newFake(), HandlerConfig{}), upgrade, 501, "not_supported"},
	} {
		r := ask(c.h, "GET", "/v1/realtime?model=m", "", c.header...)
		if body := text(t, r); r.StatusCode != c.status || !strings.Contains(body, c.code) {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, body)
		}
	}
}

func TestHowASocketEndsIsSaidByCodeAndReason(t *testing.T) {
	say := func(s Socket) { _ = s.Write([]byte(`{"type":"hovor.state","state":"ended"}`)) }
	for _, c := range []struct {
		name   string
		serve  func(ctx context.Context, s Socket) error
		events string
		code   int
		reason string
	}{
		{"in order", func(_ context.Context, s Socket) error { say(s); return nil }, "[hovor.state]", 1000, ""},
		{"with a code of the service", func(_ context.Context, s Socket) error { say(s); s.Close(1001, "session_expired"); return nil }, "[hovor.state]", 1001, "session_expired"},
		{"by a typed error", func(_ context.Context, s Socket) error { say(s); return ErrNoTranscription }, "[hovor.state error]", 1008, "invalid_request_error.not_supported"},
		{"by our own fault", func(_ context.Context, s Socket) error { say(s); return errors.New("canary") }, "[hovor.state error]", 1011, "server_error.internal_error"},
		{"by a provider that is not there", func(_ context.Context, s Socket) error {
			say(s)
			return &realtime.Error{Status: 503, Type: "server_error", Code: "unavailable", Message: "m"}
		}, "[hovor.state error]", 1013, "server_error.unavailable"},
		{"by time", func(_ context.Context, s Socket) error { say(s); return context.DeadlineExceeded }, "[hovor.state error]", 3008, "server_error.timeout"},
		{"without a word", func(_ context.Context, s Socket) error { s.Close(1000, "hangup"); return nil }, "[]", 1000, "hangup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSocketed()
				s.serve = c.serve
				ws, _, err := dialing{t, NewHandler(s, HandlerConfig{}), nil, bearer("demo-alice")}.to("/v1/realtime?model=m")
				if err != nil {
					t.Fatal(err)
				}
				list, code, reason := types(ws)
				if fmt.Sprint(list) != c.events || code != c.code || reason != c.reason {
					t.Errorf("%v, %d %q", list, code, reason)
				}
				_ = ws.Close()
			})
		})
	}
}

func TestWhatIsRefusedBeforeTheHandshakeHasAStatus(t *testing.T) {
	for err, status := range map[error]int{ErrNoTranscription: 400, nil: 503, errors.New("canary"): 500, error(&realtime.Error{Status: 429, Type: "rate_limit_error", Code: "too_many_calls", RetryAfter: 5}): 429} {
		synctest.Test(t, func(t *testing.T) {
			s := newSocketed()
			s.serve = func(context.Context, Socket) error { return err }
			_, res, _ := dialing{t, NewHandler(s, HandlerConfig{}), nil, bearer("demo-alice")}.to("/v1/realtime?intent=transcription")
			if res == nil || res.StatusCode != status || strings.Contains(text(t, res), "canary") {
				t.Errorf("%v: %v", err, res)
			}
			if status == 429 && res.Header.Get("Retry-After") != "5" {
				t.Error("no Retry-After")
			}
		})
	}
}

func TestTheContextOfASocketEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSocketed()
		gone := make(chan struct{})
		s.serve = func(ctx context.Context, sock Socket) error {
			_ = sock.Write([]byte("{}"))
			<-ctx.Done() // never reads
			close(gone)
			return ctx.Err()
		}
		ws, _, err := dialing{t, NewHandler(s, HandlerConfig{}), nil, bearer("demo-alice")}.to("/v1/realtime?model=m")
		if err != nil {
			t.Fatal(err)
		}
		_ = ws.Close()
		<-gone
	})
}

func TestRow3_7_ABetaSocketIsSpokenToInBeta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSocketed()
		header := bearer("demo-alice")
		header.Set("OpenAI-Beta", "realtime=v1")
		ws, _, err := dialing{t, NewHandler(s, HandlerConfig{}), nil, header}.to("/v1/realtime?model=m")
		if err != nil {
			t.Fatal(err)
		}
		for _, send := range []string{`{"type":"session.update","session":{"voice":"sage","turn_detection":null}}`, `{"type":"session.update","event_id":"mine","session":{"input_audio_format":"mp3"}}`,
			`{"type":"conversation.item.create","item":{"type":"message","role":"assistant","content":[{"type":"text","text":"a"}]}}`} {
			_ = ws.WriteMessage(websocket.TextMessage, []byte(send))
		}
		var got []string
		for range 4 {
			_, raw, err := ws.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(raw))
		}
		for i, want := range []string{`"input_audio_format":"pcm16"`, `"turn_detection":null`, `"param":"session.input_audio_format"`, `"content":[{"type":"text","text":"a"}]`} {
			if !strings.Contains(got[i], want) {
				t.Errorf("message %d is %s", i, got[i])
			}
		}
		if strings.Contains(got[0], `"audio":`) || !strings.Contains(got[2], `"event_id":"mine"`) || !strings.Contains(got[3], "conversation.item.created") {
			t.Errorf("got %s", got)
		}
		_ = ws.Close()
		<-s.ended
	})
}

func TestAnAppendOf15MiBOfAudioIsTaken(t *testing.T) {
	s := newSocketed()
	got := make(chan int, 1)
	s.serve = func(ctx context.Context, sock Socket) error {
		raw, err := sock.Read(ctx)
		got <- len(raw)
		return err
	}
	server := httptest.NewServer(NewHandler(s, HandlerConfig{}))
	defer server.Close()
	ws, _, err := websocket.DefaultDialer.Dial("ws"+server.URL[4:]+"/v1/realtime?model=m", bearer("demo-alice"))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	message := `{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("AAAA", 15<<20/3) + `"}`
	if err := ws.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n != len(message) {
		t.Errorf("%d of %d bytes", n, len(message))
	}
	if list, code, _ := types(ws); code != 1000 || len(list) != 0 {
		t.Errorf("%v %d", list, code)
	}
}

func TestRow6_6_AMessageBeyondTheLimitEndsTheSocketWith1009(t *testing.T) {
	s := newSocketed()
	server := httptest.NewServer(NewHandler(s, HandlerConfig{Socket: SocketConfig{MaxMessage: 1 << 16}}))
	defer server.Close()
	ws, _, err := websocket.DefaultDialer.Dial("ws"+server.URL[4:]+"/v1/realtime?model=m", bearer("demo-alice"))
	if err != nil {
		t.Fatal(err)
	}
	var sender sync.WaitGroup
	defer sender.Wait()
	sender.Go(func() { _ = ws.WriteMessage(websocket.TextMessage, make([]byte, 4<<20)) })
	if _, code, reason := types(ws); code != socket.CodeTooLarge {
		t.Errorf("%d %q", code, reason)
	}
	_ = ws.Close()
	if err := <-s.ended; !errors.Is(err, socket.ErrTooLarge) {
		t.Errorf("the service read %v", err)
	}
}

func TestRow1_4_ASocketAnswersOnTheBarePathAndWithASlash(t *testing.T) {
	mux := http.NewServeMux()
	h := NewHandler(newSocketed(), HandlerConfig{})
	mux.Handle("/v1/realtime", h)
	mux.Handle("/v1/realtime/", h)
	for _, path := range []string{"/v1/realtime", "/v1/realtime/"} {
		synctest.Test(t, func(t *testing.T) {
			ws, _, err := dialing{t, mux, nil, bearer("demo-alice")}.to(path + "?model=m")
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			_ = ws.Close()
		})
	}
}

// wrapped hides the connection as middleware does, and shows it again through Unwrap.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestASocketOpensThroughMiddleware(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := NewHandler(newSocketed(), HandlerConfig{})
		outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inner.ServeHTTP(wrapped{w}, r) })
		ws, _, err := dialing{t, outer, nil, bearer("demo-alice")}.to("/v1/realtime?model=m")
		if err != nil {
			t.Fatal(err)
		}
		_ = ws.Close()
	})
}

// FuzzSocketMessages sends raw bytes behind a handshake: frames, broken frames, anything.
func FuzzSocketMessages(f *testing.F) {
	f.Add([]byte(`{"type":"session.update","session":{"voice":"v"}}`), true)
	f.Add([]byte(`{"type":"input_audio_buffer.append","audio":"AAAA"}`), true)
	f.Add([]byte(`{"type":"transcription_session.update","session":{}}`), true)
	f.Add([]byte("\x81\x05hello"), false)
	f.Add([]byte("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff"), false)
	f.Add([]byte("\x88\x82\x00\x00\x00\x00\x03\xe8"), false)
	f.Add([]byte("\x01\x80\x00\x00\x00\x00\x80\x80\x00\x00\x00\x00"), false)
	f.Fuzz(func(t *testing.T, data []byte, framed bool) {
		s := newSocketed()
		s.fakeService.secrets = nil
		ws, _, err := dialing{t, NewHandler(s, HandlerConfig{Socket: SocketConfig{MaxMessage: 1 << 16, CloseWait: time.Millisecond}}), nil, bearer("demo-alice")}.to("/v1/realtime?model=m")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if framed {
				_ = ws.WriteMessage(websocket.TextMessage, data)
			} else {
				w := bufio.NewWriter(ws.NetConn())
				_, _ = w.Write(data)
				_ = w.Flush()
			}
			_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
			_ = ws.NetConn().SetDeadline(time.Now().Add(50 * time.Millisecond))
		}()
		for {
			_, raw, err := ws.ReadMessage()
			if err != nil {
				break
			}
			if !json.Valid(raw) {
				t.Fatalf("sent %q", raw)
			}
		}
		_ = ws.Close()
		<-s.ended
	})
}
