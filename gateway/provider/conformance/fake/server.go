package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// server is what both fake providers are built on: one HTTP server on a network, one goroutine per connection that runs what
// the connection's events and timers ask for, one after the other.
type server struct {
	tb  testing.TB
	Net *Network

	mu      sync.Mutex // guards what follows
	refuse  func(w http.ResponseWriter, r *http.Request) bool
	mangle  func(n int, raw []byte) [][]byte
	links   []*link
	headers []http.Header
	urls    []string
	mute    bool // does not answer pings
	deaf    bool // does not read
}

// link is one connection.
type link struct {
	s    *server
	ws   *websocket.Conn
	work chan func()
	ctx  context.Context // the connection's life
	stop context.CancelFunc
	done chan struct{}
	n    int // events sent
}

// newServer starts one; open is called for every connection, on its goroutine, and gives what takes its messages.
func newServer(tb testing.TB, open func(l *link) func(raw []byte)) *server {
	s := &server{tb: tb, Net: NewNetwork()}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	var wg sync.WaitGroup
	h := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		refuse := s.refuse
		s.headers, s.urls = append(s.headers, r.Header.Clone()), append(s.urls, r.URL.String())
		s.mu.Unlock()
		if refuse != nil && refuse(w, r) {
			return
		}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		ctx, stop := context.WithCancel(context.Background())
		l := &link{s: s, ws: ws, work: make(chan func(), 4096), ctx: ctx, stop: stop, done: make(chan struct{})}
		s.mu.Lock()
		if s.mute {
			ws.SetPingHandler(func(string) error { return nil })
		}
		s.links = append(s.links, l)
		s.mu.Unlock()
		wg.Go(func() { l.run(ctx) })
		l.read(open(l))
	})}
	wg.Go(func() { _ = h.Serve(s.Net) })
	tb.Cleanup(func() {
		_ = h.Close()
		s.mu.Lock()
		links := s.links
		s.mu.Unlock()
		for _, l := range links {
			l.stop()
			<-l.done
		}
		wg.Wait()
	})
	return s
}

func (l *link) read(message func(raw []byte)) {
	defer close(l.done)
	defer l.stop()
	defer l.ws.Close()
	for {
		l.s.mu.Lock()
		deaf := l.s.deaf
		l.s.mu.Unlock()
		if deaf {
			<-l.ctx.Done()
			return
		}
		_, raw, err := l.ws.ReadMessage()
		if err != nil {
			return
		}
		l.post(func() { message(raw) })
	}
}

func (l *link) run(ctx context.Context) {
	for {
		select {
		case f := <-l.work:
			f()
		case <-ctx.Done():
			_ = l.ws.Close()
			return
		}
	}
}

func (l *link) post(f func()) {
	select {
	case l.work <- f:
	default:
		l.s.tb.Error("the fake provider cannot keep up")
	}
}

// after runs f on the connection's goroutine in a while.
func (l *link) after(d time.Duration, f func()) { time.AfterFunc(d, func() { l.post(f) }) }

// send sends one message, through the mangle.
func (l *link) send(v any) {
	raw, ok := v.([]byte)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			l.s.tb.Errorf("fake provider: %v", err)
			return
		}
	}
	l.s.mu.Lock()
	mangle := l.s.mangle
	l.s.mu.Unlock()
	l.n++
	out := [][]byte{raw}
	if mangle != nil {
		out = mangle(l.n, raw)
	}
	for _, raw := range out {
		_ = l.ws.WriteMessage(websocket.TextMessage, raw) // the other side may be gone
	}
}

// Refuse answers handshakes with a status, a header and a body; 0 lets them in again.
func (s *server) Refuse(status int, retryAfter, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
		if status == 0 {
			return false
		}
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
		return true
	}
}

// Handle lets h decide about handshakes; true: it has answered.
func (s *server) Handle(h func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	s.refuse = h
	s.mu.Unlock()
}

// Mangle puts f between the server and its connections: what it gives for the n-th message of a connection is sent instead.
func (s *server) Mangle(f func(n int, raw []byte) [][]byte) { s.mu.Lock(); s.mangle = f; s.mu.Unlock() }

// Silent accepts connections from now on and never says anything.
func (s *server) Silent() {
	s.Mangle(func(int, []byte) [][]byte { return nil })
}

// Cut resets the newest connection.
func (s *server) Cut() { s.Net.Cut() }

// Deaf stops reading, with the next message.
func (s *server) Deaf() { s.mu.Lock(); s.deaf = true; s.mu.Unlock() }

// Mute stops answering pings on connections from now on.
func (s *server) Mute() { s.mu.Lock(); s.mute = true; s.mu.Unlock() }

// Hang closes the newest connection with a close frame.
func (s *server) Hang(code int, text string) {
	l := s.last()
	if l == nil {
		s.tb.Fatal("nobody is connected")
	}
	l.post(func() {
		_ = l.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(time.Second))
		_ = l.ws.Close()
	})
}

// Count is how many connections there were.
func (s *server) Count() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.links) }

// Left reports whether the newest connection is over.
func (s *server) Left() bool {
	l := s.last()
	if l == nil {
		return false
	}
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// Headers and URLs are those of the handshakes so far.
func (s *server) Headers() []http.Header { s.mu.Lock(); defer s.mu.Unlock(); return s.headers }

// URLs are those of the handshakes so far.
func (s *server) URLs() []string { s.mu.Lock(); defer s.mu.Unlock(); return s.urls }

func (s *server) last() *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links) == 0 {
		return nil
	}
	return s.links[len(s.links)-1]
}

func id(prefix string, n int) string { return fmt.Sprintf("%s_%04d", prefix, n) }
