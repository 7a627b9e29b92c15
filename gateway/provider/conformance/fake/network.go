package fake

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Network is one listener and the way to it.
type Network struct {
	Delay  time.Duration // one way
	Window int           // bytes under way before a writer waits; 0 = 256 KiB

	down   atomic.Bool
	refuse atomic.Bool
	accept chan net.Conn
	done   chan struct{}
	once   sync.Once

	mu    sync.Mutex // guards what follows
	conns []*conn
	dials int
}

// NewNetwork makes a network.
func NewNetwork() *Network {
	return &Network{accept: make(chan net.Conn, 16), done: make(chan struct{})}
}

// Down makes everything that is sent from now on vanish; false lets it through again.
func (n *Network) Down(on bool) { n.down.Store(on) }

// Refuse makes nobody listen.
func (n *Network) Refuse(on bool) { n.refuse.Store(on) }

// Cut resets every open connection.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		_ = c.Close()
	}
	n.conns = nil
}

// Dials is how many connections were asked for.
func (n *Network) Dials() int { n.mu.Lock(); defer n.mu.Unlock(); return n.dials }

// Dial opens a connection.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	n.dials++
	n.mu.Unlock()
	if n.refuse.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	if n.down.Load() {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	}
	a, b := newHalf(n), newHalf(n)
	near, far := &conn{in: a, out: b}, &conn{in: b, out: a}
	n.mu.Lock()
	n.conns = append(n.conns, near, far)
	n.mu.Unlock()
	select {
	case n.accept <- far:
		return near, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Accept waits for a connection.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.accept:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close ends the listener.
func (n *Network) Close() error { n.once.Do(func() { close(n.done) }); return nil }

// Addr is a name.
func (n *Network) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "fake" }

// half is one direction.
type half struct {
	n *Network

	mu     sync.Mutex // guards what follows
	queue  []parcel
	size   int
	closed bool
	change chan struct{} // closed and made anew at each change
}

type parcel struct {
	due  time.Time
	data []byte
}

func newHalf(n *Network) *half { return &half{n: n, change: make(chan struct{})} }

func (h *half) changed() { close(h.change); h.change = make(chan struct{}) }

func (h *half) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.changed()
	}
}

type conn struct {
	in, out     *half
	read, write deadline
}

// deadline wakes whoever waits when it moves.
type deadline struct {
	mu     sync.Mutex
	at     time.Time
	change chan struct{}
}

func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = t
	if d.change != nil {
		close(d.change)
	}
	d.change = make(chan struct{})
}

func (d *deadline) get() (time.Time, chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.change == nil {
		d.change = make(chan struct{})
	}
	return d.at, d.change
}

// wait blocks until something changes, until due, or until the deadline.
func (d *deadline) wait(change <-chan struct{}, due time.Time) error {
	at, moved := d.get()
	next := due
	if !at.IsZero() {
		if !time.Now().Before(at) {
			return os.ErrDeadlineExceeded
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	var timer <-chan time.Time
	if !next.IsZero() {
		t := time.NewTimer(time.Until(next))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-change:
	case <-moved:
	case <-timer:
	}
	return nil
}

func (c *conn) Read(b []byte) (int, error) {
	for {
		h := c.in
		h.mu.Lock()
		var due time.Time
		if len(h.queue) > 0 {
			p := &h.queue[0]
			if due = p.due; !due.After(time.Now()) {
				k := copy(b, p.data)
				p.data = p.data[k:]
				h.size -= k
				if len(p.data) == 0 {
					h.queue = h.queue[1:]
				}
				h.changed()
				h.mu.Unlock()
				return k, nil
			}
		} else if h.closed {
			h.mu.Unlock()
			return 0, io.EOF
		}
		change := h.change
		h.mu.Unlock()
		if err := c.read.wait(change, due); err != nil {
			return 0, err
		}
	}
}

func (c *conn) Write(b []byte) (int, error) {
	h := c.out
	window := h.n.Window
	if window == 0 {
		window = 256 << 10
	}
	for {
		h.mu.Lock()
		switch {
		case h.closed:
			h.mu.Unlock()
			return 0, io.ErrClosedPipe
		case h.n.down.Load():
			h.mu.Unlock()
			return len(b), nil
		case h.size < window:
			h.queue = append(h.queue, parcel{time.Now().Add(h.n.Delay), append([]byte(nil), b...)})
			h.size += len(b)
			h.changed()
			h.mu.Unlock()
			return len(b), nil
		}
		change := h.change
		h.mu.Unlock()
		if err := c.write.wait(change, time.Time{}); err != nil {
			return 0, err
		}
	}
}

func (c *conn) Close() error {
	c.in.mu.Lock()
	c.in.queue = nil
	c.in.closed = true
	c.in.changed()
	c.in.mu.Unlock()
	if !c.out.n.down.Load() { // what is under way arrives; on a dead network nobody learns of it
		c.out.close()
	}
	return nil
}

func (c *conn) LocalAddr() net.Addr                { return address{} }
func (c *conn) RemoteAddr() net.Addr               { return address{} }
func (c *conn) SetDeadline(t time.Time) error      { c.read.set(t); c.write.set(t); return nil }
func (c *conn) SetReadDeadline(t time.Time) error  { c.read.set(t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { c.write.set(t); return nil }
