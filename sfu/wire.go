package sfu

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/pion/transport/v5"
)

// wire is one bound UDP socket. What arrives is pushed to its receiver; a socket that one goroutine reads and hands on
// directly costs no wake-up per packet.
type wire interface {
	local() netip.AddrPort
	// send does not keep b and never waits: what the kernel has no room for is lost, and counted, as on any network.
	send(b []byte, to netip.AddrPort) error
	// close may return while the last packet is still being handed on.
	close() error
}

// receiver takes packets, one at a time. b is valid until return.
type receiver interface {
	receive(b []byte, from netip.AddrPort)
}

// wires open sockets. shared: many peers send through it, which makes it worth batching.
type wires interface {
	open(addr netip.Addr, port int, shared bool, to receiver) (wire, error)
	close() error
}

// maxDatagram is the largest packet that is taken in. ICE, DTLS and SRTP keep to the path's MTU.
const maxDatagram = 2048

// SocketStats are what an engine's UDP sockets did since the start.
type SocketStats struct {
	Received, Sent         uint64 // datagrams
	ReadCalls, WriteCalls  uint64 // of the operating system; far fewer than datagrams when they come in batches
	SendDropped            uint64 // the kernel had no room
	Oversized              uint64 // longer than 2048 bytes, dropped
	Unclaimed              uint64 // from nobody that is known, dropped
	QueueFull              uint64 // control packets (ICE, DTLS, RTCP) that their peer did not take in time
	Direct, DirectRejected uint64 // SRTP packets decrypted where they were read; those that failed authentication or came twice
}

// socketCounters are the live form of SocketStats.
type socketCounters struct {
	received, sent, readCalls, writeCalls, sendDropped, oversized, unclaimed, queueFull, direct, directRejected atomic.Uint64
}

func (c *socketCounters) stats() SocketStats {
	return SocketStats{
		Received: c.received.Load(), Sent: c.sent.Load(), ReadCalls: c.readCalls.Load(), WriteCalls: c.writeCalls.Load(),
		SendDropped: c.sendDropped.Load(), Oversized: c.oversized.Load(), Unclaimed: c.unclaimed.Load(),
		QueueFull: c.queueFull.Load(), Direct: c.direct.Load(), DirectRejected: c.directRejected.Load(),
	}
}

// plainWires are sockets of any network: a goroutine and a call per packet each. They serve virtual networks, and
// systems without the calls that batching needs.
type plainWires struct {
	net   transport.Net
	count *socketCounters
	wg    sync.WaitGroup
}

func (w *plainWires) open(addr netip.Addr, port int, shared bool, to receiver) (wire, error) {
	c, err := w.net.ListenUDP("udp", &net.UDPAddr{IP: addr.AsSlice(), Port: port, Zone: addr.Zone()})
	if err != nil {
		return nil, err
	}
	if shared {
		_ = c.SetReadBuffer(socketBuffer) // the kernel caps it silently
		_ = c.SetWriteBuffer(socketBuffer)
	}
	u, ok := c.LocalAddr().(*net.UDPAddr)
	if !ok {
		_ = c.Close()
		return nil, fmt.Errorf("%w: the network gave a socket at %v", ErrBadConfig, c.LocalAddr())
	}
	p := &plainWire{conn: c, addr: unmapped(u.AddrPort()), count: w.count}
	p.fast, _ = c.(*net.UDPConn)
	w.wg.Go(func() { p.read(to) })
	return p, nil
}

// close waits for the readers; the sockets are closed before.
func (w *plainWires) close() error {
	w.wg.Wait()
	return nil
}

type plainWire struct {
	conn  transport.UDPConn
	fast  *net.UDPConn // conn, when it is a real one: no allocation per packet
	addr  netip.AddrPort
	count *socketCounters
	over  atomic.Bool
}

// readFailures in a row mean that a socket is broken.
const readFailures = 100

func (p *plainWire) local() netip.AddrPort { return p.addr }

func (p *plainWire) close() error {
	p.over.Store(true)
	return p.conn.Close()
}

func (p *plainWire) send(b []byte, to netip.AddrPort) (err error) {
	if p.fast != nil {
		_, err = p.fast.WriteToUDPAddrPort(b, to)
	} else {
		_, err = p.conn.WriteTo(b, net.UDPAddrFromAddrPort(to))
	}
	p.count.writeCalls.Add(1)
	if err == nil {
		p.count.sent.Add(1)
	}
	return err
}

func (p *plainWire) read(to receiver) {
	b := make([]byte, maxDatagram+1)
	for failures := 0; failures < readFailures; {
		n, from, err := p.readOne(b)
		if p.over.Load() {
			return
		}
		if err != nil {
			failures++ // some systems report what became of packets sent earlier
			continue
		}
		failures = 0
		p.count.readCalls.Add(1)
		p.count.received.Add(1)
		if n > maxDatagram {
			p.count.oversized.Add(1)
			continue
		}
		to.receive(b[:n], unmapped(from))
	}
}

func (p *plainWire) readOne(b []byte) (int, netip.AddrPort, error) {
	if p.fast != nil {
		return p.fast.ReadFromUDPAddrPort(b)
	}
	n, from, err := p.conn.ReadFrom(b)
	if u, ok := from.(*net.UDPAddr); ok && err == nil {
		return n, u.AddrPort(), nil
	}
	return n, netip.AddrPort{}, err
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
