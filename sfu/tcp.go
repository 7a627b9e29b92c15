package sfu

import (
	"net"
	"time"

	"github.com/pion/ice/v4"
)

// peerTCP is the shared ICE-TCP listener as one peer's ICE agent sees it. A call may change from UDP to TCP and back,
// so its media is decrypted in one place whatever way it comes.
type peerTCP struct {
	ice.TCPMux
	peer *Peer
}

func (m peerTCP) GetConnByUfrag(fragment string, v6 bool, local net.IP) (net.PacketConn, error) {
	c, err := m.TCPMux.GetConnByUfrag(fragment, v6, local)
	if err != nil {
		return nil, err
	}
	return &tcpPath{PacketConn: c, peer: m.peer}, nil
}

// LocalAddr is where the listener is bound: the library offers TCP candidates for that address only.
func (m peerTCP) LocalAddr() net.Addr {
	if l, ok := m.TCPMux.(interface{ LocalAddr() net.Addr }); ok {
		return l.LocalAddr()
	}
	return nil
}

type tcpPath struct {
	net.PacketConn
	peer *Peer
	sign lifeSign
}

func (c *tcpPath) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(b)
		if err != nil {
			return n, from, err
		}
		at := time.Now()
		switch c.peer.arrived(b[:n], at) {
		case forLibrary:
			return n, from, nil
		case handedOn:
			if c.sign.due(at) {
				return copy(b, bindingIndication), from, nil
			}
		}
	}
}

func (c *tcpPath) WriteTo(b []byte, to net.Addr) (int, error) {
	c.peer.leaving(b)
	return c.PacketConn.WriteTo(b, to)
}
