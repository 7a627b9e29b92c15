package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// pipeListener hands out connections that live in the test's bubble.
type pipeListener struct {
	conns chan net.Conn
	over  chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error {
	select {
	case <-l.over:
	default:
		close(l.over)
	}
	return nil
}

func (pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func TestARequestThatNeverArrivesWholeIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l := pipeListener{make(chan net.Conn), make(chan struct{})}
		over := make(chan error, 1)
		go func() {
			over <- serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err != nil {
					w.WriteHeader(http.StatusBadRequest)
				}
			}))
		}()
		client, server := net.Pipe()
		l.conns <- server
		begin := time.Now()
		if _, err := io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = io.Copy(io.Discard, client)
		}()
		select {
		case <-gone:
		case <-time.After(10 * time.Minute):
			t.Error("the connection is still held")
			_ = client.Close()
			<-gone
		}
		if took := time.Since(begin); took < 30*time.Second {
			t.Errorf("let go after %v, which a slow line would not survive", took)
		}
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}
