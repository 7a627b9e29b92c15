package socket

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"hovor/gateway/provider"
)

const (
	// maxEvents and maxEventBytes bound what may wait to be written beside audio: a provider that is this far behind is gone.
	maxEvents     = 1024
	maxEventBytes = 16 << 20
	// writeWait is how long one message may take to leave.
	writeWait = 10 * time.Second
	// farewell is how long the closing handshake may take.
	farewell = 250 * time.Millisecond
)

// Conn is one open connection. Write, Audio and Dropped may be called at any time and do not block; Run is called once.
type Conn struct {
	ws    *websocket.Conn
	below atomic.Pointer[lively]
	cfg   Config

	heard  atomic.Int64 // when bytes came last, by the clock of begin
	ponged atomic.Bool  // the far side answers pings
	silent atomic.Bool  // closed for silence
	begin  time.Time

	mu      sync.Mutex // guards what follows
	queue   []message
	events  int
	bytes   int // of events
	audio   int // bytes of audio
	dropped int
	closed  bool
	wake    chan struct{}
}

type message struct {
	raw   []byte
	audio bool
}

// lively notes that bytes came, below TLS and the framing: a long message on a slow line is no silence.
type lively struct {
	net.Conn
	note func()
}

func (l *lively) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if n > 0 {
		l.note()
	}
	return n, err
}

func (c *Conn) note() { c.heard.Store(int64(time.Since(c.begin))) }

// Write queues one event. Errors: provider.ErrNotConnected, ErrFull.
func (c *Conn) Write(raw []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return provider.ErrNotConnected
	case c.events >= maxEvents || c.bytes+len(raw) > maxEventBytes:
		return ErrFull
	}
	c.events++
	c.bytes += len(raw)
	c.put(message{raw: raw})
	return nil
}

// Audio queues audio, in order with the events. It says false when it was dropped because too much waits already.
func (c *Conn) Audio(raw []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.audio+len(raw) > c.cfg.Backlog {
		c.dropped++
		return false
	}
	c.audio += len(raw)
	c.put(message{raw: raw, audio: true})
	return true
}

func (c *Conn) put(m message) {
	c.queue = append(c.queue, m)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Waiting is how many bytes wait to be written.
func (c *Conn) Waiting() int { c.mu.Lock(); defer c.mu.Unlock(); return c.bytes + c.audio }

// Dropped is how many messages of audio were dropped.
func (c *Conn) Dropped() int { c.mu.Lock(); defer c.mu.Unlock(); return c.dropped }

// take gives what waits, and waits for something otherwise; false: it is over.
func (c *Conn) take(done <-chan struct{}) ([]message, bool) {
	for {
		c.mu.Lock()
		q := c.queue
		c.queue, c.events, c.bytes, c.audio = nil, 0, 0, 0
		closed := c.closed
		c.mu.Unlock()
		if len(q) > 0 || closed {
			return q, !closed
		}
		select {
		case <-c.wake:
		case <-done:
			return nil, false
		}
	}
}

// Run reads, writes and watches until ctx ends (then it says goodbye and gives nil) or the connection does (then it gives a
// *provider.Error). handle gets every message, one after the other, owns its bytes and does not block.
func (c *Conn) Run(ctx context.Context, handle func(raw []byte)) error {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { c.write(done) })
	wg.Go(func() { c.watch(ctx, done) })
	err := c.read(handle)
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	close(done)
	_ = c.ws.Close()
	wg.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return c.outcome(err)
}

// Close drops the connection without a word; for one that is not run.
func (c *Conn) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	_ = c.ws.Close()
}

func (c *Conn) read(handle func(raw []byte)) error {
	for {
		_, raw, err := c.ws.ReadMessage() // JSON comes as text, from Google as binary
		if err != nil {
			return err
		}
		handle(raw)
	}
}

func (c *Conn) write(done <-chan struct{}) {
	for {
		q, ok := c.take(done)
		if !ok {
			return
		}
		for _, m := range q {
			_ = c.ws.SetWriteDeadline(time.Now().Add(writeWait))
			if err := c.ws.WriteMessage(websocket.TextMessage, m.raw); err != nil {
				_ = c.ws.Close() // the reader notices
				return
			}
		}
	}
}

// watch pings, closes what has fallen silent, and says goodbye when ctx ends.
func (c *Conn) watch(ctx context.Context, done <-chan struct{}) {
	tick := time.NewTicker(c.cfg.Ping)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			_ = c.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(farewell))
			timer := time.NewTimer(farewell)
			defer timer.Stop()
			select {
			case <-done: // it answered
			case <-timer.C:
				_ = c.ws.Close()
			}
			return
		case <-tick.C:
			limit := deaf
			if c.ponged.Load() {
				limit = c.cfg.Silence
			}
			if time.Since(c.begin)-time.Duration(c.heard.Load()) > limit {
				c.silent.Store(true)
				_ = c.ws.Close()
				return
			}
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.cfg.Ping))
		}
	}
}

// outcome names the end of a connection.
func (c *Conn) outcome(err error) *provider.Error {
	if c.silent.Load() {
		return &provider.Error{Class: provider.Lost, Err: errSilent}
	}
	var closing *websocket.CloseError
	switch {
	case errors.As(err, &closing):
		return FromClose(closing.Code, closing.Text)
	case errors.Is(err, websocket.ErrReadLimit):
		return &provider.Error{Class: provider.BadAnswer, Code: "message_too_large"}
	}
	return &provider.Error{Class: provider.Lost, Err: causeOf(err)}
}

// FromClose names the reason of a close frame. Of the text only known words count; it is not kept.
func FromClose(code int, text string) *provider.Error {
	e := &provider.Error{Class: provider.Lost, Code: "close_" + strconv.Itoa(code)}
	text = strings.ToLower(text)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("session_expired", "maximum duration", "session duration", "deadline"):
		e.Class, e.Code = provider.Expired, "session_expired"
	case code == 3000, code == 4001, has("api key", "api_key", "unauthenticated", "unauthorized", "permission"):
		e.Class = provider.Unauthorized
	case has("quota", "rate limit", "rate_limit", "resource_exhausted", "exhausted"):
		e.Class = provider.RateLimited
	case code == websocket.ClosePolicyViolation, code == websocket.CloseInvalidFramePayloadData, code == websocket.CloseUnsupportedData, code == 4000:
		e.Class = provider.Rejected // OpenAI closes the beta shape with 4000; Google a setup that it does not like with 1007, 1008
	case code == websocket.CloseInternalServerErr, code == websocket.CloseTryAgainLater, code == websocket.CloseServiceRestart:
		e.Class = provider.Overloaded
	case code == websocket.CloseProtocolError:
		e.Class = provider.BadAnswer
	}
	return e
}

// Exchange writes some messages and reads until enough says so or fails. It is for the opening, before Run; it waits no longer
// than ctx.
func (c *Conn) Exchange(ctx context.Context, write [][]byte, enough func(raw []byte) (bool, error)) error {
	stop := context.AfterFunc(ctx, func() { _ = c.ws.Close() })
	defer stop()
	fail := func(err error) error {
		if ctx.Err() != nil {
			return &provider.Error{Class: provider.Timeout, Err: ctx.Err()}
		}
		return c.outcome(err)
	}
	for _, raw := range write {
		if err := c.ws.WriteMessage(websocket.TextMessage, raw); err != nil {
			return fail(err)
		}
	}
	for {
		_, raw, err := c.ws.ReadMessage()
		if err != nil {
			return fail(err)
		}
		if ok, err := enough(raw); ok || err != nil {
			return err
		}
	}
}

// Say writes one message at once, before Run: an answer within an Exchange.
func (c *Conn) Say(raw []byte) error { return c.ws.WriteMessage(websocket.TextMessage, raw) }
