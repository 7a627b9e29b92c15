package vnettest

import (
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/pion/logging"
	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/vnet"
)

// Link is one direction between two hosts. The zero value loses nothing and delivers after a microsecond: no network
// is faster than the program, and what both ends do at one moment then never crosses what the other receives.
type Link struct {
	Delay   time.Duration // one way
	Jitter  time.Duration // added per packet, evenly distributed from 0 to this
	Loss    float64       // share of packets lost, 0 to 1
	Reorder bool          // let jitter reorder packets; otherwise the link keeps their order
	Down    bool          // lose everything
}

// Network is a set of hosts that reach each other over links. All methods are safe for concurrent use.
type Network struct {
	tb     testing.TB
	router *vnet.Router
	seed   uint64
	quit   chan struct{}
	wg     sync.WaitGroup

	mu       sync.Mutex
	standard Link
	links    map[path]Link
	pipes    map[path]*pipe
	stopped  bool
}

type path struct{ from, to netip.Addr }

// New lays a network whose hosts are all joined by the given link, in both directions. seed makes loss and jitter the
// same in every run. The network ends with the test.
func New(tb testing.TB, link Link, seed uint64) *Network {
	tb.Helper()
	router, err := vnet.NewRouter(&vnet.RouterConfig{CIDR: "10.0.0.0/8", LoggerFactory: quiet{}})
	if err != nil {
		tb.Fatalf("virtual router: %v", err)
	}
	n := &Network{
		tb: tb, router: router, seed: seed, quit: make(chan struct{}),
		standard: link, links: make(map[path]Link), pipes: make(map[path]*pipe),
	}
	if err := router.Start(); err != nil {
		tb.Fatalf("virtual router: %v", err)
	}
	tb.Cleanup(n.stop)
	return n
}

// Host adds a host. ip is in 10.0.0.0/8. The result is the Net of an engine that runs on it.
func (n *Network) Host(ip string) *Host {
	n.tb.Helper()
	nic, err := vnet.NewNet(&vnet.NetConfig{StaticIPs: []string{ip}})
	if err != nil {
		n.tb.Fatalf("virtual host %s: %v", ip, err)
	}
	if err := n.router.AddNet(nic); err != nil {
		n.tb.Fatalf("virtual host %s: %v", ip, err)
	}
	return &Host{Net: nic, network: n, ip: netip.MustParseAddr(ip)}
}

// Set changes the link from one host to another, for packets sent from now on.
func (n *Network) Set(from, to *Host, link Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[path{from.ip, to.ip}] = link
}

// SetBoth changes both directions between two hosts.
func (n *Network) SetBoth(a, b *Host, link Link) {
	n.Set(a, b, link)
	n.Set(b, a, link)
}

// Carried tells how many packets one direction has delivered (or has still under way) and lost.
func (n *Network) Carried(from, to *Host) (carried, lost int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.pipes[path{from.ip, to.ip}]; p != nil {
		return p.carried, p.lost
	}
	return 0, 0
}

func (n *Network) stop() {
	n.mu.Lock()
	n.stopped = true
	n.mu.Unlock()
	close(n.quit)
	n.wg.Wait()
	_ = n.router.Stop()
}

// Host is the network stack of one machine.
type Host struct {
	*vnet.Net

	network *Network
	ip      netip.Addr
}

// IP is the host's address.
func (h *Host) IP() netip.Addr { return h.ip }

// ListenUDP opens a socket whose packets take the network's links.
func (h *Host) ListenUDP(network string, addr *net.UDPAddr) (transport.UDPConn, error) {
	c, err := h.Net.ListenUDP(network, addr)
	if err != nil {
		return nil, err
	}
	return &socket{UDPConn: c, host: h}, nil
}

// ListenPacket is ListenUDP by name.
func (h *Host) ListenPacket(network, address string) (net.PacketConn, error) {
	addr, err := h.ResolveUDPAddr(network, address)
	if err != nil {
		return nil, err
	}
	return h.ListenUDP(network, addr)
}

type socket struct {
	transport.UDPConn

	host *Host
}

func (s *socket) WriteTo(b []byte, to net.Addr) (int, error) {
	u, ok := to.(*net.UDPAddr)
	if !ok {
		return 0, net.InvalidAddrError("not a UDP address")
	}
	return s.host.network.send(s, b, u)
}

func (s *socket) WriteToUDP(b []byte, to *net.UDPAddr) (int, error) {
	return s.host.network.send(s, b, to)
}

// send puts a packet on its link.
func (n *Network) send(s *socket, b []byte, to *net.UDPAddr) (int, error) {
	dst, _ := netip.AddrFromSlice(to.IP)
	key := path{s.host.ip, dst.Unmap()}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopped {
		return 0, io.ErrClosedPipe
	}
	link, ok := n.links[key]
	if !ok {
		link = n.standard
	}
	p := n.pipes[key]
	if p == nil {
		p = &pipe{rng: rand.New(rand.NewPCG(n.seed, hash(key))), wake: make(chan struct{}, 1)}
		n.pipes[key] = p
		n.wg.Go(func() { p.run(&n.mu, n.quit) })
	}
	// Both draws are made for every packet, so that a change of one figure leaves the other's pattern alone.
	lose, jitter := p.rng.Float64() < link.Loss, time.Duration(p.rng.Float64()*float64(link.Jitter))
	if lose || link.Down {
		p.lost++
		return len(b), nil
	}
	p.carried++
	p.put(parcel{due: time.Now().Add(max(link.Delay, time.Microsecond) + jitter), from: s, to: to, data: append([]byte(nil), b...)}, link.Reorder)
	return len(b), nil
}

// hash makes the directions' random sequences differ.
func hash(p path) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range append(p.from.AsSlice(), p.to.AsSlice()...) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// quiet drops the router's log lines.
type quiet struct{}

func (quiet) NewLogger(string) logging.LeveledLogger { return silent{} }

type silent struct{}

func (silent) Trace(string)          {}
func (silent) Tracef(string, ...any) {}
func (silent) Debug(string)          {}
func (silent) Debugf(string, ...any) {}
func (silent) Info(string)           {}
func (silent) Infof(string, ...any)  {}
func (silent) Warn(string)           {}
func (silent) Warnf(string, ...any)  {}
func (silent) Error(string)          {}
func (silent) Errorf(string, ...any) {}
