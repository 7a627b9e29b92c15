package client

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Pipe is a NetDial that serves h directly, without the operating system's network, so that WebSockets can live in a
// testing/synctest bubble. Whatever the address, h answers. What it starts ends with the connection.
func Pipe(h http.Handler) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		l := &pipeListener{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
		l.conn <- &pipeConn{Conn: far, gone: l.close}
		go func() { _ = (&http.Server{Handler: h}).Serve(l) }() // ends when the connection is closed
		return near, nil
	}
}

// pipeListener accepts one connection and is closed with it.
type pipeListener struct {
	conn   chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) close() { l.once.Do(func() { close(l.closed) }) }

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error { l.close(); return nil }

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

type pipeConn struct {
	net.Conn
	gone func()
}

// Close also ends the listener.
func (c *pipeConn) Close() error {
	c.gone()
	return c.Conn.Close()
}
