package sfu

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// Packets pile up behind a receiver that is held; then the calls that move them are counted.
func TestPacketsThatWaitTogetherMoveTogether(t *testing.T) {
	const packets = 60 // within one batch
	count := new(socketCounters)
	w, err := newPumps(1, count)
	if err != nil {
		t.Fatal(err)
	}
	held, release := make(chan struct{}), make(chan struct{})
	var server wire
	var once sync.Once
	server, err = w.open(netip.MustParseAddr("127.0.0.1"), 0, true, receiverFunc(func(b []byte, from netip.AddrPort) {
		once.Do(func() {
			close(held)
			<-release
		})
		if err := server.send(b, from); err != nil {
			t.Errorf("send: %v", err)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(server.local()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range uint32(packets) {
		if _, err := c.Write(binary.BigEndian.AppendUint32(nil, i)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			<-held
		}
	}
	close(release)
	b := make([]byte, 10)
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	for i := range uint32(packets) {
		if n, err := c.Read(b); err != nil || n != 4 || binary.BigEndian.Uint32(b) != i {
			t.Fatalf("packet %d: %d bytes, %v, %v", i, n, b[:4], err)
		}
	}
	if err := errors.Join(server.close(), w.close()); err != nil { // so that the count is final
		t.Error(err)
	}
	// One packet, then all others; each read and sent with one call.
	if s := count.stats(); s.Received != packets || s.Sent != packets || s.ReadCalls != 2 || s.WriteCalls != 2 {
		t.Errorf("stats %+v", s)
	}
}

func TestSendingAndReceivingAllocatesNothing(t *testing.T) {
	w, err := newPumps(1, new(socketCounters))
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	got := make(chan struct{}, 1)
	server, err := w.open(netip.MustParseAddr("127.0.0.1"), 0, true, receiverFunc(func([]byte, netip.AddrPort) { got <- struct{}{} }))
	if err != nil {
		t.Fatal(err)
	}
	defer server.close()
	c, err := w.open(netip.MustParseAddr("127.0.0.1"), 0, false, receiverFunc(func([]byte, netip.AddrPort) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	b, to := make([]byte, 100), server.local()
	if n := testing.AllocsPerRun(500, func() {
		if err := c.send(b, to); err != nil {
			t.Fatal(err)
		}
		<-got
	}); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
}
