package socket

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// pair is two ends of one WebSocket without a network, so that it can live in a bubble of virtual time: ours is run, theirs
// is bare.
func pair(t *testing.T, cfg Config) (ours *Conn, ended chan error, theirs *websocket.Conn, cancel func()) {
	t.Helper()
	server, client := net.Pipe()
	upgraded := make(chan *websocket.Conn)
	l := &oneConn{conn: server, closed: make(chan struct{})}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		upgraded <- ws
	})}
	go func() { _ = s.Serve(l) }()
	d := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
	var err error
	dialed := make(chan struct{})
	go func() { theirs, _, err = d.Dial("ws://gw.example/", nil); close(dialed) }()
	ours = New(<-upgraded, cfg)
	<-dialed
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	go func() { ended <- ours.Run(ctx) }()
	t.Cleanup(func() { stop(); _ = theirs.Close(); <-ours.Done(); _ = s.Close() })
	return ours, ended, theirs, stop
}

type oneConn struct {
	mu     sync.Mutex
	conn   net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	l.mu.Lock()
	c := l.conn
	l.conn = nil
	l.mu.Unlock()
	if c != nil {
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}
func (l *oneConn) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// drain reads what the other side sends until it closes, and returns the messages and the farewell.
func drain(ws *websocket.Conn) (got []string, code int, reason string) {
	for {
		_, msg, err := ws.ReadMessage()
		if e, ok := errors.AsType[*websocket.CloseError](err); ok {
			return got, e.Code, e.Text
		}
		if err != nil {
			return got, -1, err.Error()
		}
		got = append(got, string(msg))
	}
}

func TestMessagesGoBothWaysInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, ended, theirs, _ := pair(t, Config{})
		for _, m := range []string{"a", "b", "c"} {
			if err := ours.Write([]byte(m)); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			_ = theirs.WriteMessage(websocket.TextMessage, []byte("x"))
			_ = theirs.WriteMessage(websocket.BinaryMessage, []byte("y"))
		}()
		for _, want := range []string{"x", "y"} {
			if got, err := ours.Read(t.Context()); err != nil || string(got) != want {
				t.Errorf("read %q, %v", got, err)
			}
		}
		ours.Close(CodeNormal, "done")
		ours.Close(CodeInternal, "too late")
		got, code, reason := drain(theirs)
		if strings.Join(got, "") != "abc" || code != CodeNormal || reason != "done" {
			t.Errorf("they read %v, %d %q", got, code, reason)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := ours.Read(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("read after the end: %v", err)
		}
		if err := ours.Write(nil); !errors.Is(err, ErrClosed) {
			t.Errorf("write after the end: %v", err)
		}
	})
}

func TestRow6_16_TheFarewellOfThePeerComesThroughWithCodeAndReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, ended, theirs, _ := pair(t, Config{})
		go func() {
			_ = theirs.WriteMessage(websocket.TextMessage, []byte("last"))
			_ = theirs.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4001, "bye"), time.Now().Add(time.Second))
			drain(theirs)
		}()
		if got, err := ours.Read(t.Context()); err != nil || string(got) != "last" {
			t.Errorf("%q %v", got, err)
		}
		_, err := ours.Read(t.Context())
		if e, ok := errors.AsType[*CloseError](err); !ok || e.Code != 4001 || e.Reason != "bye" || !errors.Is(err, ErrClosed) {
			t.Errorf("read: %v", err)
		}
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("run: %v", err)
		}
	})
}

func TestAConnectionThatBreaksIsAnErrorOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, ended, theirs, _ := pair(t, Config{})
		_ = theirs.NetConn().Close()
		_, err := ours.Read(t.Context())
		if e, ok := errors.AsType[*CloseError](err); !ok || e.Code != CodeNone {
			t.Errorf("read: %v", err)
		}
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("run: %v", err)
		}
	})
}

func TestAHalfOpenConnectionIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, ended, theirs, _ := pair(t, Config{})
		go func() { // takes every byte, and answers nothing
			b := make([]byte, 1024)
			for {
				if _, err := theirs.NetConn().Read(b); err != nil {
					return
				}
			}
		}()
		start := time.Now()
		if _, err := ours.Read(t.Context()); !errors.Is(err, ErrHalfOpen) {
			t.Errorf("read: %v", err)
		}
		if err := <-ended; !errors.Is(err, ErrHalfOpen) {
			t.Errorf("run: %v", err)
		}
		if took := time.Since(start); took != 45*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestAQuietPeerThatAnswersPingsStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, _, theirs, _ := pair(t, Config{})
		go drain(theirs) // answers pings by itself
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := ours.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
		if err := ours.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestASlowReaderLosesTheSocketAndNobodyWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, ended, theirs, _ := pair(t, Config{MaxQueue: 1000})
		msg := []byte(strings.Repeat("m", 400))
		start, refused := time.Now(), 0
		for range 10 {
			if err := ours.Write(msg); errors.Is(err, ErrSlowReader) {
				refused++
			}
			synctest.Wait()
		}
		if time.Since(start) != 0 || refused == 0 {
			t.Errorf("%d refused after %v", refused, time.Since(start))
		}
		if s := ours.Stats(); s.Dropped == 0 || s.MostQueued > 1000 {
			t.Errorf("stats %+v", s)
		}
		got, code, reason := drain(theirs) // it wakes up, and learns why
		if code != CodePolicy || reason != "slow_reader" || len(got) > 3 {
			t.Errorf("%d messages, then %d %q", len(got), code, reason)
		}
		if err := <-ended; !errors.Is(err, ErrSlowReader) {
			t.Errorf("run: %v", err)
		}
	})
}

func TestAPeerThatTakesNoByteIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, ended, _, _ := pair(t, Config{})
		_ = ours.Write([]byte("nobody reads this"))
		start := time.Now()
		if err := <-ended; !errors.Is(err, ErrSlowReader) {
			t.Errorf("run: %v", err)
		}
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestOneMessageMayAlwaysWaitHoweverLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, _, theirs, _ := pair(t, Config{MaxQueue: 10})
		if err := ours.Write([]byte(strings.Repeat("m", 100))); err != nil {
			t.Fatal(err)
		}
		if _, msg, err := theirs.ReadMessage(); err != nil || len(msg) != 100 {
			t.Errorf("%d bytes, %v", len(msg), err)
		}
	})
}

func TestRow6_6_AMessageThatIsTooLargeIsToldByTheCloseCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, ended, theirs, _ := pair(t, Config{MaxMessage: 1000})
		go func() { _ = theirs.WriteMessage(websocket.TextMessage, make([]byte, 100_000)) }()
		_, code, _ := drain(theirs)
		if code != CodeTooLarge {
			t.Errorf("closed with %d", code)
		}
		if _, err := ours.Read(t.Context()); !errors.Is(err, ErrTooLarge) {
			t.Errorf("read: %v", err)
		}
		_ = theirs.Close()
		if err := <-ended; !errors.Is(err, ErrTooLarge) {
			t.Errorf("run: %v", err)
		}
	})
}

func TestTheEndOfTheContextIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ended, theirs, cancel := pair(t, Config{})
		cancel()
		if _, code, reason := drain(theirs); code != CodeGoingAway || reason != "going_away" {
			t.Errorf("%d %q", code, reason)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAPeerThatDoesNotSayGoodbyeIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, ended, theirs, _ := pair(t, Config{})
		var flood sync.WaitGroup
		flood.Go(func() { // and never answers
			for theirs.WriteMessage(websocket.TextMessage, []byte("more")) == nil {
				time.Sleep(10 * time.Millisecond)
			}
		})
		go func() {
			b := make([]byte, 1024)
			for {
				if _, err := theirs.NetConn().Read(b); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		start := time.Now()
		ours.Close(CodeNormal, "")
		<-ended
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("after %v", took)
		}
		flood.Wait()
	})
}

func TestAReasonFitsTheFrameAndACodeMayBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, _, theirs, _ := pair(t, Config{})
		ours.Close(CodeNone, strings.Repeat("č", 100))
		_, code, reason := drain(theirs)
		if code != CodeInternal || len(reason) != 122 {
			t.Errorf("%d, %d bytes of reason", code, len(reason))
		}
	})
}
