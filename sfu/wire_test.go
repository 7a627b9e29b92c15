package sfu

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pion/transport/v5/stdnet"
	"go.uber.org/goleak"
)

// eachWires runs a test over every kind of socket that this system has.
func eachWires(t *testing.T, test func(t *testing.T, w wires, count *socketCounters)) {
	n, err := stdnet.NewNet()
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(*socketCounters) (wires, error){
		"plain":      func(c *socketCounters) (wires, error) { return newWires(Config{Net: n}, n, c) },
		"one pump":   func(c *socketCounters) (wires, error) { return newWires(Config{pumps: 1}, n, c) },
		"many pumps": func(c *socketCounters) (wires, error) { return newWires(Config{pumps: 3}, n, c) },
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			count := new(socketCounters)
			w, err := open(count)
			if err != nil {
				t.Fatal(err)
			}
			test(t, w, count)
			if err := w.close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

type receiverFunc func(b []byte, from netip.AddrPort)

func (f receiverFunc) receive(b []byte, from netip.AddrPort) { f(b, from) }

func TestSocketsCarryEveryPacketInOrder(t *testing.T) {
	eachWires(t, func(t *testing.T, w wires, count *socketCounters) {
		const senders, packets = 5, 400
		for _, host := range []string{"127.0.0.1", "::1"} {
			addr := netip.MustParseAddr(host)
			var server wire
			ready := make(chan struct{})
			server, err := w.open(addr, 0, true, receiverFunc(func(b []byte, from netip.AddrPort) {
				<-ready
				if err := server.send(b, from); err != nil {
					t.Errorf("send back: %v", err)
				}
			}))
			if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
				t.Logf("no %s here", host)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			close(ready)
			var wg sync.WaitGroup
			for range senders {
				back := make(chan uint32, packets)
				c, err := w.open(addr, 0, false, receiverFunc(func(b []byte, _ netip.AddrPort) { back <- binary.BigEndian.Uint32(b) }))
				if err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					defer c.close()
					const window = 50 // within what the kernel holds for a socket
					for i := range uint32(packets) {
						if err := c.send(binary.BigEndian.AppendUint32(nil, i), server.local()); err != nil {
							t.Errorf("send: %v", err)
						}
						if i < window {
							continue
						}
						if !next(t, back, i-window) {
							return
						}
					}
					for i := range uint32(window) {
						if !next(t, back, packets-window+i) {
							return
						}
					}
				})
			}
			wg.Wait()
			_ = server.close()
			_ = server.close() // twice does no harm
		}
		if s := count.stats(); s.SendDropped != 0 || s.Received != s.Sent || s.Received < 2*senders*packets {
			t.Errorf("stats %+v", s)
		}
	})
}

func next(t *testing.T, back chan uint32, want uint32) bool {
	select {
	case got := <-back:
		if got != want {
			t.Errorf("packet %d came back, want %d", got, want)
		}
		return got == want
	case <-time.After(20 * time.Second):
		t.Errorf("packet %d did not come back", want)
		return false
	}
}

func TestSocketsTellOfAPortInUse(t *testing.T) {
	eachWires(t, func(t *testing.T, w wires, _ *socketCounters) {
		addr := netip.MustParseAddr("127.0.0.1")
		nobody := receiverFunc(func([]byte, netip.AddrPort) {})
		first, err := w.open(addr, 0, true, nobody)
		if err != nil {
			t.Fatal(err)
		}
		defer first.close()
		for _, shared := range []bool{true, false} {
			if second, err := w.open(addr, int(first.local().Port()), shared, nobody); !errors.Is(err, syscall.EADDRINUSE) {
				t.Errorf("opened %v twice: %v, %v", first.local(), second, err)
			}
		}
	})
}

func TestSocketsDropWhatIsTooLong(t *testing.T) {
	eachWires(t, func(t *testing.T, w wires, count *socketCounters) {
		got := make(chan int, 10)
		s, err := w.open(netip.MustParseAddr("127.0.0.1"), 0, true, receiverFunc(func(b []byte, _ netip.AddrPort) { got <- len(b) }))
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(s.local()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, n := range []int{maxDatagram + 1, 9000, maxDatagram} {
			if _, err := c.Write(make([]byte, n)); err != nil {
				t.Fatal(err)
			}
		}
		if n := <-got; n != maxDatagram {
			t.Errorf("%d bytes came through", n)
		}
		if s := count.stats(); s.Oversized != 2 {
			t.Errorf("stats %+v", s)
		}
	})
}
