package socket

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Conn is one open WebSocket. Run owns it; Read is for one goroutine, Write and Close for any, also before Run.
type Conn struct {
	ws  *websocket.Conn
	cfg Config

	in   chan []byte   // from the reader to Read, unbuffered: an unread message holds the peer back
	wake chan struct{} // for the writer: there is something to do
	bye  chan struct{} // closed when the close frame is on its way, or cannot be: what comes now is not read any more
	done chan struct{} // closed when the socket is over

	byeOnce sync.Once

	mu       sync.Mutex // guards what follows
	queue    [][]byte
	queued   int     // bytes in queue
	farewell []byte  // the close frame; nil while the socket is open
	cause    error   // why it is over, or going to be
	pong     *string // what the last ping wants back
	stats    Stats
}

// Stats are counters since the start.
type Stats struct {
	Read, Written int // messages
	Dropped       int // messages that were queued and never sent
	MostQueued    int // bytes
}

// New takes over an open WebSocket. It starts nothing: call Run.
func New(ws *websocket.Conn, cfg Config) *Conn {
	c := &Conn{
		ws: ws, cfg: cfg.withDefaults(),
		in: make(chan []byte), wake: make(chan struct{}, 1), bye: make(chan struct{}), done: make(chan struct{}),
	}
	ws.SetReadLimit(c.cfg.MaxMessage)
	return c
}

// Read is the next message, text or binary; the caller owns it. Errors: ctx's, or why the socket is over: ErrClosed (a
// *CloseError when the peer said why), ErrHalfOpen, ErrTooLarge, ErrSlowReader.
func (c *Conn) Read(ctx context.Context) ([]byte, error) {
	select {
	case msg := <-c.in:
		return msg, nil
	default:
	}
	select {
	case msg := <-c.in:
		return msg, nil
	case <-c.done:
		return nil, c.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write queues one text message and never blocks; the socket keeps the slice. Errors: ErrClosed, ErrSlowReader when the
// queue is full: what waits is dropped and the socket closes, because a conversation with a hole in it is worth nothing.
func (c *Conn) Write(msg []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	if len(c.queue) > 0 && c.queued+len(msg) > c.cfg.MaxQueue {
		c.stats.Dropped += len(c.queue) + 1
		c.queue, c.queued = nil, 0
		c.leave(ErrSlowReader, CodePolicy, "slow_reader")
		return ErrSlowReader
	}
	c.queue = append(c.queue, msg)
	c.queued += len(msg)
	c.stats.MostQueued = max(c.stats.MostQueued, c.queued)
	c.nudge()
	return nil
}

// Close sends what is queued, then code and reason, and does not wait. The first Close counts. Every code is sent as it is
// except those that may not be (CodeNone), which become CodeInternal.
func (c *Conn) Close(code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.leave(ErrClosed, code, reason)
	}
}

// leave makes the socket go; c.mu is held.
func (c *Conn) leave(cause error, code int, reason string) {
	if code == CodeNone || code < 1000 || code > 4999 || code == websocket.CloseNoStatusReceived || code == websocket.CloseTLSHandshake {
		code = CodeInternal
	}
	c.cause = cause
	c.farewell = websocket.FormatCloseMessage(code, clip(reason))
	c.nudge()
}

// clip keeps a reason within a close frame, whole characters only.
func clip(reason string) string {
	if len(reason) <= maxReason {
		return strings.ToValidUTF8(reason, "?")
	}
	return strings.ToValidUTF8(reason[:maxReason], "")
}

func (c *Conn) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// deaf makes the reader throw away what comes.
func (c *Conn) deaf() { c.byeOnce.Do(func() { close(c.bye) }) }

// fail ends the socket without a farewell.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = err
	}
}

// Err is why the socket is over, or leaving; nil while it is open.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// Done is closed when the socket is over.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Stats may be called at any time.
func (c *Conn) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Subprotocol is what was agreed on in the handshake.
func (c *Conn) Subprotocol() string { return c.ws.Subprotocol() }

// Run reads and writes until the socket is over: closed from here or from there, broken, or ctx ended, which closes it with
// CodeGoingAway. It returns nil after a farewell that is none of trouble, and the cause otherwise.
func (c *Conn) Run(ctx context.Context) error {
	var reader, writer sync.WaitGroup
	read := make(chan struct{})
	reader.Go(func() {
		defer close(read)
		c.fail(c.read())
		_ = c.ws.NetConn().SetWriteDeadline(time.Now().Add(c.cfg.CloseWait)) // nobody is left to take a long message
	})
	writer.Go(func() { c.write(ctx, read) })
	writer.Wait()
	c.deaf()
	_ = c.ws.Close() // makes the reader return, if it has not
	reader.Wait()
	c.mu.Lock()
	c.stats.Dropped += len(c.queue)
	c.queue = nil
	c.mu.Unlock()
	close(c.done)
	return trouble(c.Err())
}

// trouble is err without the ordinary ends.
func trouble(err error) error {
	if e, ok := errors.AsType[*CloseError](err); ok {
		switch e.Code {
		case CodeNormal, CodeGoingAway, websocket.CloseNoStatusReceived:
			return nil
		}
		return err
	}
	if err == ErrClosed {
		return nil
	}
	return err
}

// brokenBy is a network error as one of ours.
func brokenBy(err error) error {
	return fmt.Errorf("%w: %w", &CloseError{Code: CodeNone}, err)
}
