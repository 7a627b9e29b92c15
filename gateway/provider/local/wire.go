package local

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// wire is the connection under a WebSocket, which a script can break in ways that the WebSocket knows nothing of. A nil wire
// cannot be broken.
type wire struct {
	mu   sync.Mutex // guards what follows
	conn *brokenConn
}

type wireKey struct{}

// wireOf finds the connection of a request.
func wireOf(ctx context.Context) *wire {
	w, _ := ctx.Value(wireKey{}).(*wire)
	return w
}

func (w *wire) taken() *brokenConn {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conn
}

// cut closes the connection without a close frame.
func (w *wire) cut() {
	if c := w.taken(); c != nil {
		_ = c.Close()
	}
}

// hang keeps the connection open: what is written vanishes, and what comes is never read.
func (w *wire) hang() {
	if c := w.taken(); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hung = true
		_ = c.Conn.SetReadDeadline(time.Time{})
	}
}

// breakableWriter notes the connection when it is taken over.
type breakableWriter struct {
	http.ResponseWriter
	wire *wire
}

// Unwrap is for http.ResponseController.
func (w *breakableWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is what the WebSocket's upgrade calls.
func (w *breakableWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early := make([]byte, buffered.Reader.Buffered())
	if _, err := io.ReadFull(buffered.Reader, early); err != nil {
		return nil, nil, err
	}
	c := &brokenConn{Conn: conn, early: bytes.NewReader(early)}
	w.wire.mu.Lock()
	w.wire.conn = c
	w.wire.mu.Unlock()
	return c, bufio.NewReadWriter(bufio.NewReader(c), bufio.NewWriter(c)), nil
}

// brokenConn is a connection that can hang.
type brokenConn struct {
	net.Conn
	early *bytes.Reader // was read before the connection was taken over

	mu   sync.Mutex // guards hung
	hung bool
}

func (c *brokenConn) isHung() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hung
}

// Read implements net.Conn. On a hung connection what comes is thrown away.
func (c *brokenConn) Read(b []byte) (int, error) {
	if c.early.Len() > 0 {
		return c.early.Read(b)
	}
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.isHung() {
			return n, err
		}
	}
}

// SetReadDeadline implements net.Conn. A hung connection does not notice that its client has fallen silent too.
func (c *brokenConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hung {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

// Write implements net.Conn. On a hung connection what is sent vanishes.
func (c *brokenConn) Write(b []byte) (int, error) {
	if c.isHung() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}
