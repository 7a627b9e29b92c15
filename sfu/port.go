package sfu

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"time"
)

// port is one UDP socket at one local address, and the paths of the peers that use it.
//
// A connectivity check finds its path by the ICE user fragment that it names, everything else by the address it comes
// from. An address belongs to the path that wrote to it first, until another path answers a check from there: its far
// side has then proved to know the password.
type port struct {
	wire  wire
	addr  *net.UDPAddr // of wire
	count *socketCounters

	mu     sync.Mutex // guards what follows
	byName map[string]*path
	byAddr map[netip.AddrPort]*path
}

func openPort(w wires, addr netip.Addr, number int, shared bool, count *socketCounters) (*port, error) {
	p := &port{count: count, byName: make(map[string]*path), byAddr: make(map[netip.AddrPort]*path)}
	var err error
	if p.wire, err = w.open(addr, number, shared, p); err != nil {
		return nil, err
	}
	p.addr = net.UDPAddrFromAddrPort(p.wire.local())
	return p, nil
}

func (p *port) close() error { return p.wire.close() }

// receive takes one packet off the wire.
func (p *port) receive(b []byte, from netip.AddrPort) {
	if c := p.find(b, from); c != nil {
		c.deliver(b, from)
		return
	}
	p.count.unclaimed.Add(1)
}

func (p *port) find(b []byte, from netip.AddrPort) *path {
	name := checkedFragment(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if name != nil {
		return p.byName[string(name)]
	}
	return p.byAddr[from]
}

// join gives a peer's ICE agent its end of the path; every call counts, and wants its Close.
func (p *port) join(fragment string, peer *Peer) net.PacketConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.byName[fragment]
	if c == nil {
		c = &path{port: p, peer: peer, fragment: fragment, queue: make(chan *controlPacket, pathQueue)}
		p.byName[fragment] = c
	}
	c.ends++
	return &pathEnd{path: c, over: make(chan struct{})}
}

// leave forgets one end of a path, and the path with the last.
func (p *port) leave(c *path) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.ends--; c.ends == 0 {
		p.forget(c)
	}
}

// remove forgets a path whatever ends it still has.
func (p *port) remove(fragment string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.byName[fragment]; c != nil {
		p.forget(c)
	}
}

// forget takes a path out of both maps. The caller holds mu.
func (p *port) forget(c *path) {
	if c.gone {
		return
	}
	c.gone = true
	delete(p.byName, c.fragment)
	for _, a := range c.addrs {
		if p.byAddr[a] == c {
			delete(p.byAddr, a)
		}
	}
	c.addrs = nil
}

// claim notes that c writes b to an address; false: the path is gone.
func (p *port) claim(c *path, b []byte, to netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.gone {
		return false
	}
	owner := p.byAddr[to]
	if owner == c || owner != nil && !isCheckSuccess(b) {
		return true
	}
	p.byAddr[to] = c
	c.addrs = append(c.addrs, to)
	return true
}

// pathQueue bounds the control packets that wait for a peer's ICE agent: a burst of the event channel.
const pathQueue = 256

// path is what one peer has of a port. The ICE agent reads control packets from it; media never gets that far.
type path struct {
	port     *port
	peer     *Peer
	fragment string
	queue    chan *controlPacket
	sign     lifeSign

	ends  int              // guarded by port.mu, as are
	gone  bool             // …
	addrs []netip.AddrPort // … those that may be in byAddr
}

type controlPacket struct {
	n    int
	from netip.AddrPort
	buf  [maxDatagram]byte
}

var controlPackets = sync.Pool{New: func() any { return new(controlPacket) }}

// deliver hands media to the peer at once, and queues everything else.
func (c *path) deliver(b []byte, from netip.AddrPort) {
	at := time.Now()
	switch c.peer.arrived(b, at) {
	case handedOn:
		if c.sign.due(at) {
			c.push(bindingIndication, from)
		}
	case forLibrary:
		c.push(b, from)
	}
}

// push queues a packet for the ICE agent.
func (c *path) push(b []byte, from netip.AddrPort) {
	pkt := controlPackets.Get().(*controlPacket)
	pkt.n, pkt.from = copy(pkt.buf[:], b), from
	select {
	case c.queue <- pkt:
	default:
		controlPackets.Put(pkt)
		c.port.count.queueFull.Add(1)
	}
}

// pathEnd is a path as the ICE agent sees it: a net.PacketConn, with the library's allocation-free variants.
type pathEnd struct {
	*path
	over chan struct{}
	once sync.Once
}

func (e *pathEnd) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	select {
	case pkt := <-e.queue:
		n, from := copy(b, pkt.buf[:pkt.n]), pkt.from
		controlPackets.Put(pkt)
		return n, from, nil
	case <-e.over:
		return 0, netip.AddrPort{}, net.ErrClosed
	}
}

func (e *pathEnd) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	to = unmapped(to)
	if !e.port.claim(e.path, b, to) {
		// Not io.ErrClosedPipe: the library would pass that up, and SCTP, which may be writing in the instant of an ICE
		// restart, would take it for the end of the event channel. A packet that finds no path is lost like any other.
		return 0, net.ErrClosed
	}
	e.peer.leaving(b)
	if err := e.port.wire.send(b, to); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (e *pathEnd) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := e.ReadFromAddrPort(b)
	if err != nil {
		return 0, nil, err
	}
	return n, net.UDPAddrFromAddrPort(from), nil
}

func (e *pathEnd) WriteTo(b []byte, to net.Addr) (int, error) {
	u, ok := to.(*net.UDPAddr)
	if !ok {
		return 0, net.InvalidAddrError("not a UDP address")
	}
	return e.WriteToAddrPort(b, u.AddrPort())
}

// Close ends this end's reads.
func (e *pathEnd) Close() error {
	e.once.Do(func() {
		close(e.over)
		e.port.leave(e.path)
	})
	return nil
}

func (e *pathEnd) LocalAddr() net.Addr { return e.port.addr }

// Deadlines: Close is what the library ends reads with, and writes do not wait.
func (e *pathEnd) SetDeadline(time.Time) error      { return nil }
func (e *pathEnd) SetReadDeadline(time.Time) error  { return nil }
func (e *pathEnd) SetWriteDeadline(time.Time) error { return nil }

// peerPorts are the ports of one peer in the form in which its ICE agent wants them (ice.UDPMux).
type peerPorts struct {
	peer  *Peer
	ports []*port
}

func (m peerPorts) GetListenAddresses() []net.Addr {
	addrs := make([]net.Addr, len(m.ports))
	for i, p := range m.ports {
		addrs[i] = p.addr
	}
	return addrs
}

func (m peerPorts) GetConn(fragment string, addr net.Addr) (net.PacketConn, error) {
	for _, p := range m.ports {
		if p.addr == addr || p.addr.String() == addr.String() {
			return p.join(fragment, m.peer), nil
		}
	}
	return nil, &net.AddrError{Err: "no media port", Addr: addr.String()}
}

func (m peerPorts) RemoveConnByUfrag(fragment string) {
	for _, p := range m.ports {
		p.remove(fragment)
	}
}

// Close does nothing: the ports are the engine's, or end with their peer.
func (m peerPorts) Close() error { return nil }

// STUN, RFC 8489 section 5 and 14.3.
const (
	stunHeader        = 20
	stunCookie        = 0x2112A442
	stunBinding       = 0x0001
	stunBindingAnswer = 0x0101
	stunUsername      = 0x0006
)

func stunType(b []byte) (typ uint16, ok bool) {
	if len(b) < stunHeader || binary.BigEndian.Uint32(b[4:]) != stunCookie {
		return 0, false
	}
	return binary.BigEndian.Uint16(b), true
}

// isCheckSuccess: a connectivity check is answered, so it was authentic.
func isCheckSuccess(b []byte) bool {
	t, ok := stunType(b)
	return ok && t == stunBindingAnswer
}

// checkedFragment is our user fragment in a connectivity check: what stands before the colon of its user name
// (RFC 8445 section 7.2.2). nil for any other packet.
func checkedFragment(b []byte) []byte {
	if t, ok := stunType(b); !ok || t != stunBinding {
		return nil
	}
	for a := b[stunHeader:]; len(a) >= 4; {
		n := int(binary.BigEndian.Uint16(a[2:]))
		if len(a) < 4+n {
			return nil
		}
		if binary.BigEndian.Uint16(a) == stunUsername {
			name, _, _ := bytes.Cut(a[4:4+n], []byte{':'})
			return name
		}
		a = a[min(4+(n+3)&^3, len(a)):]
	}
	return nil
}
