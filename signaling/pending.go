package signaling

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"hovor/signaling/realtime"
	"hovor/signaling/realtime/dialect"
	"hovor/signaling/socket"
)

// pending is a Socket whose handshake is answered when the Service first reads or writes, so that what it refuses before is
// an HTTP reply with a status.
type pending struct {
	h        *handler
	w        *reply
	r        *http.Request
	protocol string

	ctx    context.Context // ends with the socket
	cancel context.CancelFunc
	run    sync.WaitGroup

	once sync.Once
	conn *socket.Conn // nil until the handshake is answered
	err  error        // why it could not be
}

func newPending(h *handler, w *reply, r *http.Request, protocol string) *pending {
	p := &pending{h: h, w: w, r: r, protocol: protocol}
	p.ctx, p.cancel = context.WithCancel(r.Context())
	return p
}

// open answers the handshake, once.
func (p *pending) open() (*socket.Conn, error) {
	p.once.Do(p.upgrade)
	return p.conn, p.err
}

func (p *pending) upgrade() {
	up := websocket.Upgrader{
		CheckOrigin: func(*http.Request) bool { return true }, // the door has checked it, by its own rule
		Error:       func(http.ResponseWriter, *http.Request, int, error) {},
	}
	header := http.Header{}
	if p.protocol != "" {
		header.Set("Sec-Websocket-Protocol", p.protocol)
	}
	ws, err := up.Upgrade(hijackable{p.w.ResponseWriter}, p.r, header)
	if err != nil {
		p.err = errHandshake
		return
	}
	p.w.status = http.StatusSwitchingProtocols
	p.conn = socket.New(ws, p.h.socket)
	p.run.Go(func() {
		defer p.cancel()
		if err := p.conn.Run(p.r.Context()); err != nil {
			p.h.log.Info("socket ended", "cause", err, "dropped", p.conn.Stats().Dropped)
		}
	})
}

// Read implements Socket.
func (p *pending) Read(ctx context.Context) ([]byte, error) {
	c, err := p.open()
	if err != nil {
		return nil, err
	}
	return c.Read(ctx)
}

// Write implements Socket.
func (p *pending) Write(msg []byte) error {
	c, err := p.open()
	if err != nil {
		return err
	}
	return c.Write(msg)
}

// Close implements Socket.
func (p *pending) Close(code int, reason string) {
	if c, err := p.open(); err == nil {
		c.Close(code, reason)
	}
}

// finish ends what the Service has left: it refuses a handshake that was never answered, or closes the socket, and waits
// until it is gone.
func (p *pending) finish(err error, d realtime.Dialect) {
	defer p.cancel()
	unanswered := false
	p.once.Do(func() { unanswered, p.err = true, socket.ErrClosed })
	if unanswered {
		if err == nil {
			err = errSocketUnused
		}
		if isPage(p.r) {
			p.err = nil
			p.upgrade()
		} else {
			p.err = err
		}
	}
	if p.err != nil { // no handshake after all
		p.w.fail(p.err)
		return
	}
	p.farewell(err, d)
	p.run.Wait()
}

// farewell says why: as an error event, which every client shows, and in the close frame, which not every one does.
func (p *pending) farewell(err error, d realtime.Dialect) {
	switch {
	case errors.Is(err, context.Canceled) && p.r.Context().Err() != nil:
		p.conn.Close(socket.CodeGoingAway, "going_away")
		return
	case err == nil, p.conn.Err() != nil:
		p.conn.Close(socket.CodeNormal, "")
		return
	}
	e := ReplyTo(err)
	p.w.note(e, err)
	if raw, encErr := realtime.Encode(e.Event()); encErr == nil {
		_ = InDialect(p.conn, d).Write(raw)
	}
	p.conn.Close(CloseFor(err))
}

// InDialect is s for a Service that speaks GA only: what is read was translated to GA, what is written is translated to
// what the client speaks, which starts as d and may become beta with a first session.update without type. A message
// that cannot be translated is answered by an error event and not read.
func InDialect(s Socket, d realtime.Dialect) Socket {
	return &translated{Socket: s, edge: dialect.NewEdge(d)}
}

type translated struct {
	Socket
	edge *dialect.Edge
}

// Read implements Socket.
func (t *translated) Read(ctx context.Context) ([]byte, error) {
	for {
		raw, err := t.Socket.Read(ctx)
		if err != nil {
			return nil, err
		}
		ga, err := t.edge.In(raw)
		if err == nil {
			return ga, nil
		}
		if raw, err = realtime.Encode(ReplyTo(err).Event()); err != nil {
			return nil, err
		}
		if err := t.Write(raw); err != nil {
			return nil, err
		}
	}
}

// Write implements Socket.
func (t *translated) Write(msg []byte) error {
	out, err := t.edge.Out(msg)
	if err != nil {
		return err
	}
	for _, m := range out {
		if err := t.Socket.Write(m); err != nil {
			return err
		}
	}
	return nil
}
