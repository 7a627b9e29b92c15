package sfu

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/pion/ice/v4"
	"github.com/pion/transport/v5"
	"github.com/pion/webrtc/v4"
)

// Socket buffers: a burst of a few thousand calls within one scheduling stall must fit.
const (
	socketBuffer = 4 << 20
	// tcpWriteBuffer bounds what a stalled ICE-TCP client may hold, and keeps its writes from blocking others.
	tcpWriteBuffer  = 256 << 10
	tcpReadPackets  = 64
	samePortRetries = 16
)

// sockets are what accepted peers share: one UDP socket per local address, all with one port number; and one TCP
// listener.
//
// One socket per address, not one wildcard socket: a packet then leaves from the address it came to, and ICE knows
// which of its candidates a packet belongs to.
type sockets struct {
	net      transport.Net
	wires    wires
	count    *socketCounters
	addr     net.Addr
	ports    []*port
	tcp      ice.TCPMux
	loopback bool
	v6       bool
}

// listen binds the UDP and the TCP port. A free UDP port (number 0) whose TCP twin is taken is given back for another.
func listen(n transport.Net, w wires, count *socketCounters, cfg Config, log pionLoggers) (s *sockets, err error) {
	for range samePortRetries {
		if s, err = listenOnce(n, w, count, cfg, log); !errors.Is(err, ErrPortInUse) {
			break
		}
		if _, port, _ := splitHostPort(cfg.UDPListen); port != 0 {
			break
		}
	}
	return s, err
}

func listenOnce(n transport.Net, w wires, count *socketCounters, cfg Config, log pionLoggers) (*sockets, error) {
	host, port, err := splitHostPort(cfg.UDPListen)
	if err != nil {
		return nil, fmt.Errorf("%w: UDP address %q: %w", ErrBadConfig, cfg.UDPListen, err)
	}
	addrs, err := localAddrs(n, host, cfg.Loopback)
	if err != nil {
		return nil, fmt.Errorf("UDP address %q: %w", cfg.UDPListen, err)
	}
	s := &sockets{net: n, wires: w, count: count, loopback: cfg.Loopback || host.IsLoopback()}
	if s.ports, err = bindAll(w, addrs, port, count); err != nil {
		return nil, err
	}
	s.addr = s.ports[0].addr
	for _, p := range s.ports {
		s.v6 = s.v6 || p.wire.local().Addr().Is6()
	}
	if cfg.TCPListen == "" {
		return s, nil
	}
	if err := s.listenTCP(n, cfg, log); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// listenTCP opens the ICE-TCP listener. Port 0 takes the UDP port.
func (s *sockets) listenTCP(n transport.Net, cfg Config, log pionLoggers) error {
	host, port, err := splitHostPort(cfg.TCPListen)
	if err != nil {
		return fmt.Errorf("%w: TCP address %q: %w", ErrBadConfig, cfg.TCPListen, err)
	}
	if port == 0 {
		port = s.ports[0].addr.Port
	}
	addr := &net.TCPAddr{Port: port}
	if host.IsValid() {
		addr.IP = host.AsSlice()
	}
	l, err := n.ListenTCP("tcp", addr)
	if err != nil {
		return bindError("tcp", addr, err)
	}
	s.tcp = ice.NewTCPMuxDefault(ice.TCPMuxParams{
		Listener: l, Logger: log.NewLogger("ice"), ReadBufferSize: tcpReadPackets, WriteBufferSize: tcpWriteBuffer,
	})
	return nil
}

// openOwn opens one socket per usable local address, for one peer.
func (s *sockets) openOwn() ([]*port, error) {
	addrs, err := localAddrs(s.net, netip.Addr{}, s.loopback)
	if err != nil {
		return nil, err
	}
	var ports []*port
	var errs []error
	for _, a := range addrs {
		if a.Is6() && !s.v6 {
			continue
		}
		p, err := openPort(s.wires, a, 0, false, s.count)
		if err != nil {
			errs = append(errs, err) // an address may have gone since the interfaces were read
			continue
		}
		ports = append(ports, p)
	}
	if len(ports) == 0 {
		return nil, fmt.Errorf("open a media socket: %w", errors.Join(errs...))
	}
	return ports, nil
}

// networks are the candidate types to gather. An offering peer has UDP sockets of its own and no TCP.
func (s *sockets) networks(offering bool) []webrtc.NetworkType {
	types := []webrtc.NetworkType{webrtc.NetworkTypeUDP4}
	if s.v6 {
		types = append(types, webrtc.NetworkTypeUDP6)
	}
	if s.tcp != nil && !offering {
		types = append(types, webrtc.NetworkTypeTCP4)
		if s.v6 {
			types = append(types, webrtc.NetworkTypeTCP6)
		}
	}
	return types
}

func (s *sockets) close() error {
	var errs []error
	for _, p := range s.ports {
		errs = append(errs, p.close())
	}
	if s.tcp != nil {
		errs = append(errs, s.tcp.Close())
	}
	return errors.Join(errs...)
}

// bindAll binds every address on one port. Port 0: any port that is free on all of them.
func bindAll(w wires, addrs []netip.Addr, number int, count *socketCounters) ([]*port, error) {
	var err error
	for range samePortRetries {
		var ports []*port
		if ports, err = bindOnce(w, addrs, number, count); err == nil {
			return ports, nil
		}
		if number != 0 || !errors.Is(err, ErrPortInUse) {
			break
		}
	}
	return nil, err
}

func bindOnce(w wires, addrs []netip.Addr, number int, count *socketCounters) ([]*port, error) {
	ports := make([]*port, 0, len(addrs))
	for _, a := range addrs {
		p, err := openPort(w, a, number, true, count)
		if err != nil {
			for _, p := range ports {
				_ = p.close()
			}
			return nil, bindError("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, uint16(number))), err) // from ParseUint
		}
		ports = append(ports, p)
		number = p.addr.Port
	}
	return ports, nil
}

// bindError names the port when somebody else holds it.
func bindError(network string, addr net.Addr, err error) error {
	// A virtual network has an error of its own, told apart only by its text.
	if errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), "address already in use") {
		return fmt.Errorf("%w: %s %s: choose another media port or stop the program that holds it", ErrPortInUse, network, addr)
	}
	return fmt.Errorf("listen on %s %s: %w", network, addr, err)
}

// localAddrs are the addresses to bind: the one that was asked for, or those of all interfaces.
func localAddrs(n transport.Net, host netip.Addr, loopback bool) ([]netip.Addr, error) {
	if host.IsValid() && !host.IsUnspecified() {
		return []netip.Addr{host}, nil
	}
	ifaces, err := n.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("read the network interfaces: %w", err)
	}
	var out []netip.Addr
	for _, ifc := range ifaces {
		if ifc.Flags&net.FlagUp == 0 {
			continue
		}
		list, err := ifc.Addrs()
		if err != nil {
			continue
		}
		for _, a := range list {
			ip := addrOf(a)
			if !useful(ip) || ip.IsLoopback() && !loopback || ip.Is6() && host.Is4() {
				continue
			}
			out = append(out, ip)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no network interface has a usable address", ErrBadConfig)
	}
	return out, nil
}

// useful leaves out what no candidate should name: link-local addresses, and IPv6's loopback beside 127.0.0.1.
func useful(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsValid() && !ip.IsUnspecified() && !ip.IsLinkLocalUnicast() && !ip.IsMulticast() && ip != netip.IPv6Loopback()
}

func addrOf(a net.Addr) netip.Addr {
	var ip net.IP
	switch a := a.(type) {
	case *net.IPNet:
		ip = a.IP
	case *net.IPAddr:
		ip = a.IP
	case *net.UDPAddr:
		ip = a.IP
	}
	addr, _ := netip.AddrFromSlice(ip)
	return addr.Unmap()
}

// splitHostPort reads "host:port"; an empty host is no address.
func splitHostPort(s string) (netip.Addr, int, error) {
	h, p, err := net.SplitHostPort(s)
	if err != nil {
		return netip.Addr{}, 0, err
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return netip.Addr{}, 0, fmt.Errorf("%q is not a port", p)
	}
	switch h {
	case "":
		return netip.Addr{}, int(port), nil
	case "localhost":
		h = "127.0.0.1"
	}
	host, err := netip.ParseAddr(h)
	if err != nil {
		return netip.Addr{}, 0, fmt.Errorf("%q is not an IP address", h)
	}
	return host.Unmap(), int(port), nil
}
