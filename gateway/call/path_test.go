package call

import (
	"testing"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/call/conversation"
	"hovor/sfu"
)

// nowhere takes packets.
type nowhere struct{ n int }

func (w *nowhere) WriteRTP(*rtp.Packet) error { w.n++; return nil }

func TestThePacketPathAllocatesNothing(t *testing.T) {
	up, down := &nowhere{}, &nowhere{}
	u := &uplink{}
	u.forward.Store(sfu.NewForwarder(up))
	d := &downlink{Downlink: sfu.NewDownlink(down), begin: time.Now(), post: func(conversation.FirstAudio) {}}
	d.beginItem(conversation.Begin{Epoch: 1, ItemID: "item"}, 0)
	p := &rtp.Packet{Header: rtp.Header{Version: 2}, Payload: []byte{0x78, 1, 2, 3}}
	at := time.Now()
	if n := testing.AllocsPerRun(1000, func() {
		p.SequenceNumber++
		p.Timestamp += 960
		at = at.Add(20 * time.Millisecond)
		u.packet(p, at)
		d.packet(p, at)
	}); n != 0 {
		t.Errorf("%v allocations per packet and direction", n)
	}
	if up.n != down.n || up.n < 1000 {
		t.Errorf("%d up, %d down", up.n, down.n)
	}
	if got := time.Duration(u.received.Load()); got != time.Duration(up.n)*20*time.Millisecond {
		t.Errorf("%v received in %d packets", got, up.n)
	}
}

func TestOneSourceCannotFillTheMailboxForTheOthers(t *testing.T) {
	m := newMailbox()
	for m.post(fromClient, nil) {
	}
	if !m.post(fromProvider, nil) || !m.post(fromHouse, nil) {
		t.Error("a flood of the client pushed others out")
	}
	if n := m.drops(fromClient); n != 1 || m.drops(fromClient) != 0 {
		t.Errorf("dropped %d", n)
	}
	m.taken(<-m.ch)
	if !m.post(fromClient, nil) {
		t.Error("a letter that was taken still takes its place")
	}
}
