package sfu

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/vnettest"
)

// ufragOf is the first user fragment of a description.
func ufragOf(sdp string) string {
	_, rest, _ := strings.Cut(sdp, "a=ice-ufrag:")
	ufrag, _, _ := strings.Cut(rest, "\r\n")
	return ufrag
}

func TestACallOutlivesItsPathByARestart(t *testing.T) {
	for name, away := range map[string]time.Duration{"on a good path": 0, "after seven seconds of nothing": 7 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := vnettest.New(t, vnettest.Link{Delay: 20 * time.Millisecond}, 1)
				a, b := n.Host("10.0.0.1"), n.Host("10.0.0.2")
				client, server := newTestEngine(t, a), newTestEngine(t, b)
				open := make(chan struct{})
				var up, down atomic.Int64
				said := make(chan string, 4)
				c := connect(t, client, server,
					Handlers{Open: func() { close(open) }, Packet: func(*rtp.Packet, time.Time) { down.Add(1) }},
					Handlers{Packet: func(*rtp.Packet, time.Time) { up.Add(1) }, Message: func(b []byte) { said <- string(b) }})
				<-open
				n.SetBoth(a, b, vnettest.Link{Delay: 20 * time.Millisecond, Down: away > 0})
				time.Sleep(away)
				if s := c.answerer.State(); (s == StateDisconnected) != (away > 0) {
					t.Errorf("state %v after %v", s, away)
				}
				n.SetBoth(a, b, vnettest.Link{Delay: 20 * time.Millisecond})
				offer, err := c.offerer.RestartOffer(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				answer, err := c.answerer.Restart(t.Context(), offer)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.offerer.SetAnswer(t.Context(), answer); err != nil {
					t.Fatal(err)
				}
				before, after := ufragOf(c.answerer.LocalSDP()), ufragOf(answer)
				if node, ok := NodeOf(after); before == after || !ok || node != "n1" {
					t.Errorf("user fragment %q, then %q", before, after)
				}
				if ufragOf(offer) == ufragOf(c.offerer.LocalSDP()) || !strings.Contains(answer, "typ host") {
					t.Error("the restart has nothing new")
				}
				time.Sleep(time.Second)
				wrote := up.Load()
				for i := range 50 {
					p := &rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: uint32(i) * 960}, Payload: []byte{0x78, 1, 2}}
					_ = c.offerer.WriteRTP(p)
					_ = c.answerer.WriteRTP(p)
					time.Sleep(20 * time.Millisecond)
				}
				time.Sleep(time.Second)
				if up.Load()-wrote != 50 || down.Load() != 50 {
					t.Errorf("%d packets up and %d down after the restart", up.Load()-wrote, down.Load())
				}
				if err := c.offerer.Send([]byte("still here")); err != nil {
					t.Fatal(err)
				}
				if got := <-said; got != "still here" {
					t.Errorf("heard %q", got)
				}
				for _, p := range []*Peer{c.offerer, c.answerer} {
					if s := p.State(); s != StateConnected {
						t.Errorf("state %v", s)
					}
				}
			})
		})
	}
}

func TestARestartIsForAcceptedPeersThatLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{}, 1)
		client, server := newTestEngine(t, n.Host("10.0.0.1")), newTestEngine(t, n.Host("10.0.0.2"))
		o, err := client.Offer(t.Context(), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := server.Accept(t.Context(), o.LocalSDP(), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Restart(t.Context(), o.LocalSDP()); !errors.Is(err, ErrWrongState) {
			t.Errorf("of an offering peer: %v", err)
		}
		if _, err := p.Restart(t.Context(), "hello"); !errors.Is(err, ErrNotSDP) {
			t.Errorf("with no description: %v", err)
		}
		_ = p.Close()
		_ = o.Close()
		if _, err := p.Restart(context.Background(), o.LocalSDP()); !errors.Is(err, ErrWrongState) {
			t.Errorf("of a closed peer: %v", err)
		}
	})
}
