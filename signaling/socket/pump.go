package socket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/gorilla/websocket"
)

// read hands messages to Read until the connection ends, and tells why it did.
func (c *Conn) read() error {
	alive := func() { _ = c.ws.SetReadDeadline(time.Now().Add(c.cfg.DeadAfter)) }
	c.ws.SetPongHandler(func(string) error { alive(); return nil })
	c.ws.SetPingHandler(func(data string) error { alive(); c.answerPing(data); return nil })
	c.ws.SetCloseHandler(func(int, string) error { return nil }) // the writer answers it
	for {
		msg, err := c.next(alive)
		if err != nil {
			return c.why(err)
		}
		select {
		case c.in <- msg:
			c.mu.Lock()
			c.stats.Read++
			c.mu.Unlock()
		case <-c.bye: // read on only to meet the peer's close frame
		}
	}
}

// answerPing leaves the pong to the writer: a reader that writes could wait for a peer that does the same. Of pings that come
// faster than they can be answered the last is (RFC 6455 section 5.5.3).
func (c *Conn) answerPing(data string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pong = &data
	c.nudge()
}

func (c *Conn) takePong() *string {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pong
	c.pong = nil
	return p
}

// next reads one message, however slowly it comes, as long as something comes.
func (c *Conn) next(alive func()) ([]byte, error) {
	if !c.leaving() {
		alive()
	}
	_, r, err := c.ws.NextReader()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for {
		n, err := io.CopyN(&b, r, 64<<10)
		if errors.Is(err, io.EOF) {
			return b.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		if n > 0 && !c.leaving() {
			alive()
		}
	}
}

func (c *Conn) leaving() bool {
	select {
	case <-c.bye:
		return true
	default:
		return false
	}
}

func (c *Conn) why(err error) error {
	var timeout net.Error
	switch e := (*websocket.CloseError)(nil); {
	case errors.As(err, &e):
		return &CloseError{Code: e.Code, Reason: e.Text}
	case errors.Is(err, websocket.ErrReadLimit):
		return ErrTooLarge
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrHalfOpen
	}
	return brokenBy(err)
}

// write sends what is queued, pings, and at last the close frame. It returns when there is nothing left to write: the
// socket has failed, or the peer has answered the close frame or had its time to.
func (c *Conn) write(ctx context.Context, read <-chan struct{}) {
	ping := time.NewTicker(c.cfg.PingEvery)
	defer ping.Stop()
	for {
		select {
		case <-c.wake:
		case <-ping.C:
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.cfg.WriteWait))
		case <-ctx.Done():
			c.Close(CodeGoingAway, "going_away")
		case <-read:
			c.lastWords()
			return
		}
		if p := c.takePong(); p != nil {
			_ = c.ws.WriteControl(websocket.PongMessage, []byte(*p), time.Now().Add(c.cfg.WriteWait))
		}
		farewell, ok := c.flush()
		if !ok {
			return
		}
		if farewell != nil {
			c.sayBye(farewell, read)
			return
		}
	}
}

// flush writes the queue; false when the connection does not take it. It returns the close frame when that is next.
func (c *Conn) flush() ([]byte, bool) {
	for {
		c.mu.Lock()
		if len(c.queue) == 0 {
			farewell := c.farewell
			c.mu.Unlock()
			return farewell, true
		}
		msg := c.queue[0]
		c.queue[0] = nil
		c.queue = c.queue[1:]
		c.queued -= len(msg)
		c.stats.Written++
		c.mu.Unlock()

		_ = c.ws.SetWriteDeadline(time.Now().Add(c.cfg.WriteWait))
		if err := c.ws.WriteMessage(websocket.TextMessage, msg); err != nil {
			var timeout net.Error
			switch {
			case errors.Is(err, websocket.ErrCloseSent): // by the reader, which is about to tell of a message that is too large
			case errors.As(err, &timeout) && timeout.Timeout():
				c.fail(ErrSlowReader)
			default:
				c.fail(brokenBy(err))
			}
			return nil, false
		}
	}
}

// sayBye sends the close frame and waits a moment for the peer's.
func (c *Conn) sayBye(farewell []byte, read <-chan struct{}) {
	c.deaf()
	deadline := time.Now().Add(c.cfg.CloseWait)
	_ = c.ws.SetReadDeadline(deadline)
	if c.ws.WriteControl(websocket.CloseMessage, farewell, deadline) != nil {
		return
	}
	late := time.NewTimer(c.cfg.CloseWait)
	defer late.Stop()
	select {
	case <-read:
	case <-late.C:
	}
}

// lastWords answers the peer's close frame, or tells a peer whose connection may still work why it ends: it was silent too
// long, or sent too much. The rest of what was too much is read away for a moment, because closing a connection with unread
// bytes resets it, and the peer would never see the close frame that gorilla has sent for us.
func (c *Conn) lastWords() {
	deadline := time.Now().Add(c.cfg.CloseWait)
	say := func(frame []byte) { _ = c.ws.WriteControl(websocket.CloseMessage, frame, deadline) }
	c.mu.Lock()
	err, farewell := c.cause, c.farewell
	c.mu.Unlock()
	bye, said := errors.AsType[*CloseError](err)
	switch {
	case farewell != nil: // both sides left at the same time
		say(farewell)
	case said && bye.Code != CodeNone:
		say(websocket.FormatCloseMessage(bye.Code, ""))
	case errors.Is(err, ErrHalfOpen):
		say(websocket.FormatCloseMessage(CodePolicy, "no_pong"))
	case errors.Is(err, ErrTooLarge):
		_ = c.ws.NetConn().SetReadDeadline(deadline)
		_, _ = io.Copy(io.Discard, io.LimitReader(c.ws.NetConn(), 4*c.cfg.MaxMessage))
	}
}
