package sfu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/vnettest"
)

// newTestEngine is an engine on a virtual host, closed with the test.
func newTestEngine(t testing.TB, host *vnettest.Host, change ...func(*Config)) *Engine {
	t.Helper()
	cfg := Config{NodeID: "n1", Net: host, UDPListen: "0.0.0.0:5000"}
	for _, f := range change {
		f(&cfg)
	}
	e, err := NewEngine(cfg)
	if err != nil {
		t.Fatalf("NewEngine: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return e
}

// call is an offering and an answering peer that have been introduced to each other; both run until the test ends.
type call struct {
	offerer, answerer *Peer
	wg                sync.WaitGroup
}

func connect(t testing.TB, from, to *Engine, offering, answering Handlers) *call {
	t.Helper()
	ctx := t.Context()
	o, err := from.Offer(ctx, offering)
	if err != nil {
		t.Fatalf("Offer: %v", err)
	}
	a, err := to.Accept(ctx, o.LocalSDP(), answering)
	if err != nil {
		t.Fatalf("Accept: %v", err)
	}
	if err := o.SetAnswer(ctx, a.LocalSDP()); err != nil {
		t.Fatalf("SetAnswer: %v", err)
	}
	c := &call{offerer: o, answerer: a}
	for _, p := range []*Peer{o, a} {
		c.wg.Go(func() { _ = p.Run(ctx) })
	}
	return c
}

func TestHandshakeTakesThreeRoundTripsAndTellsItsPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const oneWay = 50 * time.Millisecond
		n := vnettest.New(t, vnettest.Link{Delay: oneWay}, 1)
		client := newTestEngine(t, n.Host("10.0.0.1"))
		server := newTestEngine(t, n.Host("10.0.0.2"))
		start := time.Now()
		var states []State
		phases := make(map[Phase]time.Duration)
		opened := make(chan time.Duration, 1)
		c := connect(t, client, server, Handlers{
			State: func(s State) { states = append(states, s) },
			Phase: func(p Phase, d time.Duration) { phases[p] = d },
			Open:  func() { opened <- time.Since(start) },
		}, Handlers{})
		at := <-opened
		synctest.Wait()
		t.Logf("open after %v, phases %v, states %v", at, phases, states)
		if at > 4*2*oneWay+10*time.Millisecond {
			t.Errorf("the event channel opened after %v, want at most 4 round trips", at)
		}
		if phases[PhaseDTLS] > 3*2*oneWay+10*time.Millisecond {
			t.Errorf("connected after %v, want at most 3 round trips", phases[PhaseDTLS])
		}
		if got := fmt.Sprint(states); got != "[connecting connected]" {
			t.Errorf("states %v", got)
		}
		if c.offerer.Codec().MimeType != "audio/opus" || c.answerer.Codec().PayloadType != 111 {
			t.Errorf("codecs %+v %+v", c.offerer.Codec(), c.answerer.Codec())
		}
	})
}

func TestEventsFlowBothWaysAndTheChannelRefusesWhatItCannotCarry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{Delay: 20 * time.Millisecond}, 1)
		client := newTestEngine(t, n.Host("10.0.0.1"))
		server := newTestEngine(t, n.Host("10.0.0.2"))
		var mu sync.Mutex
		var got, echoed []string
		var answerer atomic.Pointer[Peer]
		c := connect(t, client, server, Handlers{
			Message: func(b []byte) {
				mu.Lock()
				defer mu.Unlock()
				echoed = append(echoed, string(b[:min(len(b), 20)]))
			},
		}, Handlers{
			Message: func(b []byte) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprintf("%.20s/%d", b, len(b)))
				_ = answerer.Load().Send(b)
			},
		})
		answerer.Store(c.answerer)
		if err := c.offerer.Send([]byte("early")); !errors.Is(err, ErrNotOpen) {
			t.Errorf("Send before open: %v", err)
		}
		time.Sleep(time.Second)
		big := strings.Repeat("x", 200_000)
		for _, m := range []string{`{"type":"a"}`, "", big} {
			if err := c.offerer.Send([]byte(m)); err != nil {
				t.Errorf("Send: %v", err)
			}
		}
		time.Sleep(5 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if want := fmt.Sprintf("[%s/12 /0 %.20s/200000]", `{"type":"a"}`, big); fmt.Sprint(got) != want {
			t.Errorf("server got %v", got)
		}
		if len(echoed) != 3 {
			t.Errorf("client got %v", echoed)
		}
		if err := c.offerer.Send(make([]byte, 2<<20)); !errors.Is(err, ErrMessageTooLarge) {
			t.Errorf("Send of 2 MB: %v", err)
		}
		var err error
		for range 20 {
			if err = c.offerer.Send(make([]byte, 100_000)); err != nil {
				break
			}
		}
		if !errors.Is(err, ErrQueueFull) {
			t.Errorf("Send without end: %v", err)
		}
		if s := c.offerer.Stats(); s.MessagesDropped != 2 || s.QueuedBytes == 0 || s.QueuedBytes > sendQueue {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestAnEventLargerThanAnnouncedIsDroppedAndTheChannelGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{Delay: 20 * time.Millisecond}, 1)
		client := newTestEngine(t, n.Host("10.0.0.1"))
		server := newTestEngine(t, n.Host("10.0.0.2"))
		var mu sync.Mutex
		var got []string
		c := connect(t, client, server, Handlers{}, Handlers{
			Message: func(b []byte) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, string(b))
			},
			TooLarge: func(limit int) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprint("more than ", limit))
			},
		})
		time.Sleep(time.Second)
		c.offerer.channel.maxSend.Store(1 << 20) // a client that does not care for a=max-message-size
		for _, m := range []string{"before", strings.Repeat("x", maxReceiveDefault+1), "after"} {
			if err := c.offerer.Send([]byte(m)); err != nil {
				t.Errorf("Send: %v", err)
			}
			time.Sleep(2 * time.Second)
		}
		mu.Lock()
		defer mu.Unlock()
		if want := fmt.Sprintf("[before more than %d after]", maxReceiveDefault); fmt.Sprint(got) != want {
			t.Errorf("the server got %.200v", got)
		}
		if s := c.answerer.State(); s != StateConnected {
			t.Errorf("the call is %v", s)
		}
	})
}

func TestHangUpIsSeenAfterOneWayDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const oneWay = 40 * time.Millisecond
		n := vnettest.New(t, vnettest.Link{Delay: oneWay}, 1)
		client := newTestEngine(t, n.Host("10.0.0.1"))
		server := newTestEngine(t, n.Host("10.0.0.2"))
		var closedAt time.Time
		c := connect(t, client, server, Handlers{}, Handlers{State: func(s State) {
			if s == StateClosed {
				closedAt = time.Now()
			}
		}})
		time.Sleep(2 * time.Second)
		hangUp := time.Now()
		_ = c.offerer.Close()
		c.wg.Wait()
		synctest.Wait()
		if d := closedAt.Sub(hangUp); d != oneWay {
			t.Errorf("the far side noticed after %v, want %v", d, oneWay)
		}
	})
}

func TestLostPathFailsAfterFifteenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{Delay: 10 * time.Millisecond}, 1)
		hc, hs := n.Host("10.0.0.1"), n.Host("10.0.0.2")
		client, server := newTestEngine(t, hc), newTestEngine(t, hs)
		c := connect(t, client, server, Handlers{}, Handlers{})
		time.Sleep(2 * time.Second)
		n.SetBoth(hc, hs, vnettest.Link{Down: true})
		cut := time.Now()
		for c.answerer.State() == StateConnected {
			time.Sleep(100 * time.Millisecond)
		}
		lost := time.Since(cut)
		for c.answerer.State() == StateDisconnected {
			time.Sleep(100 * time.Millisecond)
		}
		failed := time.Since(cut)
		t.Logf("disconnected after %v, over after %v", lost, failed)
		if lost > 8*time.Second || failed > 18*time.Second {
			t.Errorf("disconnected after %v, over after %v", lost, failed)
		}
	})
}

func opusPacket(seq uint16, ts uint32) *rtp.Packet {
	return &rtp.Packet{
		Header:  rtp.Header{Version: 2, SequenceNumber: seq, Timestamp: ts},
		Payload: append([]byte{0x78}, make([]byte, 79)...), // hybrid, 20 ms
	}
}

func TestStopsBeforeAnybodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{}, 1)
		e := newTestEngine(t, n.Host("10.0.0.1"))
		p, err := e.Offer(t.Context(), Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := p.Run(ctx); !errors.Is(err, ErrWrongState) {
			t.Errorf("second Run: %v", err)
		}
		if _, err := e.Offer(t.Context(), Handlers{}); err != nil { // closed with the engine
			t.Fatal(err)
		}
	})
}
