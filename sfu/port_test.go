package sfu

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/pion/stun/v4"
)

// deafWire keeps what is sent.
type deafWire struct{ sent []netip.AddrPort }

func (w *deafWire) local() netip.AddrPort { return netip.MustParseAddrPort("192.0.2.1:5000") }
func (w *deafWire) close() error          { return nil }
func (w *deafWire) send(_ []byte, to netip.AddrPort) error {
	w.sent = append(w.sent, to)
	return nil
}

type deafWires struct{ wire deafWire }

func (w *deafWires) open(netip.Addr, int, bool, receiver) (wire, error) { return &w.wire, nil }
func (w *deafWires) close() error                                       { return nil }

func newTestPort(t *testing.T) *port {
	p, err := openPort(new(deafWires), netip.Addr{}, 0, true, new(socketCounters))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// waiting empties a path's queue and tells how many packets there were.
func waiting(t *testing.T, c net.PacketConn) int {
	e := c.(*pathEnd)
	b, n := make([]byte, maxDatagram), 0
	for ; len(e.queue) > 0; n++ {
		if _, _, err := e.ReadFromAddrPort(b); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func stunPacket(t *testing.T, setters ...stun.Setter) []byte {
	m, err := stun.Build(append([]stun.Setter{stun.TransactionID}, setters...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m.Raw
}

func check(t *testing.T, name string) []byte {
	return stunPacket(t, stun.BindingRequest, stun.NewSoftware("x"), stun.NewUsername(name))
}

var dtlsPacket = []byte{23, 254, 253, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0} // application data

func TestPacketsFindTheirPeer(t *testing.T) {
	p := newTestPort(t)
	a, b := p.join("aaaa", &Peer{}), p.join("bbbb", &Peer{})
	x, y := netip.MustParseAddrPort("198.51.100.1:1"), netip.MustParseAddrPort("198.51.100.2:2")
	step := func(what string, packet []byte, from netip.AddrPort, wantA, wantB int) {
		t.Helper()
		p.receive(packet, from)
		if gotA, gotB := waiting(t, a), waiting(t, b); gotA != wantA || gotB != wantB {
			t.Errorf("%s: %d and %d packets, want %d and %d", what, gotA, gotB, wantA, wantB)
		}
	}
	write := func(c net.PacketConn, packet []byte, to netip.AddrPort) {
		t.Helper()
		if _, err := c.(*pathEnd).WriteToAddrPort(packet, to); err != nil {
			t.Fatal(err)
		}
	}
	step("data from a stranger", dtlsPacket, x, 0, 0)
	step("a check for a", check(t, "aaaa:zz"), x, 1, 0)
	step("a check for nobody", check(t, "cccc:zz"), x, 0, 0)
	step("data, before the check is answered", dtlsPacket, x, 0, 0)
	write(a, stunPacket(t, stun.BindingSuccess), x)
	step("data of a", dtlsPacket, x, 1, 0)
	write(b, check(t, "zz:bbbb"), x)
	step("data of a, after b has tried the same address", dtlsPacket, x, 1, 0)
	step("a check for b from the address of a", check(t, "bbbb:zz"), x, 0, 1)
	write(b, stunPacket(t, stun.BindingSuccess), x)
	step("data from the address that b has proved to own", dtlsPacket, x, 0, 1)
	write(a, check(t, "zz:aaaa"), y)
	step("the answer to a check of a", stunPacket(t, stun.BindingSuccess), y, 1, 0)

	_ = a.Close()
	_ = a.Close()
	if _, err := a.WriteTo(dtlsPacket, net.UDPAddrFromAddrPort(y)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
	if _, _, err := a.ReadFrom(make([]byte, 100)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read after the end: %v", err)
	}
	p.remove("bbbb")
	if len(p.byName) != 0 || len(p.byAddr) != 0 {
		t.Errorf("left over: %v, %v", p.byName, p.byAddr)
	}
	if n := p.count.unclaimed.Load(); n != 3 {
		t.Errorf("%d packets of nobody, want 3", n)
	}
}

func TestPathLivesUntilItsLastEnd(t *testing.T) {
	p := newTestPort(t)
	one, two := p.join("aaaa", &Peer{}), p.join("aaaa", &Peer{})
	_ = one.Close()
	p.receive(check(t, "aaaa:zz"), netip.MustParseAddrPort("198.51.100.1:1"))
	if waiting(t, two) != 1 {
		t.Error("the second end got nothing")
	}
	_ = two.Close()
	if len(p.byName) != 0 {
		t.Error("the path is still there")
	}
}

func TestPathQueueIsBounded(t *testing.T) {
	p := newTestPort(t)
	c := p.join("aaaa", &Peer{})
	for range pathQueue + 7 {
		p.receive(check(t, "aaaa:zz"), netip.MustParseAddrPort("198.51.100.1:1"))
	}
	if n, dropped := waiting(t, c), p.count.queueFull.Load(); n != pathQueue || dropped != 7 {
		t.Errorf("%d waited, %d were dropped", n, dropped)
	}
}

func TestMalformedChecksAreNobodys(t *testing.T) {
	whole := check(t, "aaaa:zz")
	for n := range whole {
		if name := checkedFragment(whole[:n]); name != nil && n < len(whole)-1 {
			t.Errorf("%d of %d bytes are a check for %q", n, len(whole), name)
		}
	}
	for i := range whole {
		for _, v := range []byte{0, 1, 0x7f, 0xff} {
			b := append([]byte(nil), whole...)
			b[i] = v
			_ = checkedFragment(b) // must not panic
		}
	}
	if string(checkedFragment(whole)) != "aaaa" {
		t.Errorf("the whole check is for %q", checkedFragment(whole))
	}
}
