package sfu

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/vnettest"
)

// relay is the gateway's media path with nothing around it: a peer towards the client, a peer towards the upstream.
type relay struct {
	client, upstream *Engine // the far ends
	caller, provider *Peer   // their peers
	down             *Downlink
	up               *Forwarder
	tap              *Tap
	stop             func()
}

// newRelay connects client ↔ relay ↔ upstream and waits until both legs are open.
func newRelay(t *testing.T, n *vnettest.Network, hosts [3]*vnettest.Host, caller, provider func(*rtp.Packet, time.Time), ear func(Frame)) *relay {
	t.Helper()
	r := &relay{client: newTestEngine(t, hosts[0]), upstream: newTestEngine(t, hosts[2])}
	middle := newTestEngine(t, hosts[1])
	ctx := t.Context()

	toProvider, err := middle.Offer(ctx, Handlers{Packet: func(p *rtp.Packet, at time.Time) { r.down.Forward(p, at) }})
	if err != nil {
		t.Fatal(err)
	}
	if ear != nil {
		if r.tap, err = middle.NewTap(ear); err != nil {
			t.Fatal(err)
		}
	}
	if r.caller, err = r.client.Offer(ctx, Handlers{Packet: caller}); err != nil {
		t.Fatal(err)
	}
	toCaller, err := middle.Accept(ctx, r.caller.LocalSDP(), Handlers{Packet: func(p *rtp.Packet, at time.Time) {
		r.up.ForwardAt(p, at)
		if r.tap != nil {
			r.tap.Push(p, at)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.down, r.up = NewDownlink(toCaller), NewForwarder(toProvider)
	if err := r.caller.SetAnswer(ctx, toCaller.LocalSDP()); err != nil {
		t.Fatal(err)
	}
	if r.provider, err = r.upstream.Accept(ctx, toProvider.LocalSDP(), Handlers{Packet: provider}); err != nil {
		t.Fatal(err)
	}
	if err := toProvider.SetAnswer(ctx, r.provider.LocalSDP()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, p := range []*Peer{r.caller, toCaller, toProvider, r.provider} {
		wg.Go(func() { _ = p.Run(ctx) })
	}
	for _, p := range []*Peer{r.caller, toCaller, toProvider, r.provider} {
		for p.State() != StateConnected {
			time.Sleep(10 * time.Millisecond)
		}
	}
	r.stop = func() {
		for _, p := range []*Peer{r.caller, r.provider, toCaller, toProvider} {
			_ = p.Close()
		}
		wg.Wait()
	}
	return r
}

// stamped is a packet that carries its number and the time at which it was sent.
func stamped(i int) *rtp.Packet {
	p := opusPacket(uint16(i), uint32(i)*frameTicks)
	binary.BigEndian.PutUint64(p.Payload[1:], uint64(time.Now().UnixNano()))
	return p
}

func age(p *rtp.Packet, at time.Time) time.Duration {
	return time.Duration(at.UnixNano() - int64(binary.BigEndian.Uint64(p.Payload[1:])))
}

func hosts(n *vnettest.Network) [3]*vnettest.Host {
	return [3]*vnettest.Host{n.Host("10.0.0.1"), n.Host("10.0.0.2"), n.Host("10.0.0.3")}
}

func TestRelayAddsNoTimeToAnyPacketInEitherDirection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const toClient, toUpstream, packets = 40 * time.Millisecond, 7 * time.Millisecond, 1000
		n := vnettest.New(t, vnettest.Link{}, 1)
		h := hosts(n)
		n.SetBoth(h[0], h[1], vnettest.Link{Delay: toClient})
		n.SetBoth(h[1], h[2], vnettest.Link{Delay: toUpstream})
		var mu sync.Mutex
		ages := [2]map[time.Duration]int{{}, {}}
		note := func(i int) func(*rtp.Packet, time.Time) {
			return func(p *rtp.Packet, at time.Time) {
				mu.Lock()
				defer mu.Unlock()
				ages[i][age(p, at)-toClient-toUpstream]++
			}
		}
		r := newRelay(t, n, h, note(0), note(1), nil)
		for i := range packets {
			if err := r.caller.WriteRTP(stamped(i)); err != nil {
				t.Fatal(err)
			}
			if err := r.provider.WriteRTP(stamped(i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(frameTime)
		}
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		for i, way := range []string{"upstream → client", "client → upstream"} {
			if len(ages[i]) != 1 || ages[i][0] != packets {
				t.Errorf("%s: added time → packets: %v, want 0s: %d", way, ages[i], packets)
			}
		}
		if s := r.caller.Stats(); s.PacketsIn != packets || s.PacketsOut != packets || s.LostIn != 0 || s.RTT.Round(time.Millisecond) != 2*toClient {
			t.Errorf("the caller's stats: %+v", s)
		}
		r.stop()
	})
}

func TestAMinuteOfBadNetworkEndsClean(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const packets = 3000
		n := vnettest.New(t, vnettest.Link{Delay: 30 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02}, 7)
		var got [2]atomic.Int64
		var frames atomic.Int64
		last := time.Duration(-1)
		r := newRelay(t, n, hosts(n),
			func(*rtp.Packet, time.Time) { got[0].Add(1) }, func(*rtp.Packet, time.Time) { got[1].Add(1) },
			func(f Frame) {
				if f.Pos != last+frameTime && last >= 0 || len(f.PCM) != TapSamples {
					t.Errorf("frame at %v after %v, %d samples", f.Pos, last, len(f.PCM))
				}
				frames.Add(1)
				last = f.Pos
			})
		synctest.Wait() // a frame that is due at this instant is counted before it
		begun, before := time.Now(), frames.Load()
		for i := range packets {
			_ = r.caller.WriteRTP(stamped(i))
			_ = r.provider.WriteRTP(stamped(i))
			time.Sleep(frameTime)
		}
		synctest.Wait()
		passed, heard := time.Since(begun), frames.Load()-before
		if passed != time.Minute || heard != packets {
			t.Errorf("the tap gave %d frames in %v, want %d in a minute", heard, passed, packets)
		}
		time.Sleep(time.Second)
		for i := range got {
			if g := got[i].Load(); g < packets*93/100 || g > packets*99/100 {
				t.Errorf("direction %d: %d of %d packets arrived over two links with 2 %% loss each", i, g, packets)
			}
		}
		s := r.tap.Stats()
		t.Logf("tap %+v, caller %+v", s, r.caller.Stats())
		if s.Late > 5 || s.Concealed+s.Recovered > packets*4/100 {
			t.Errorf("the tap's stats: %+v", s)
		}
		if c := r.caller.Stats(); c.LostIn != packets-got[0].Load() {
			t.Errorf("the caller lost %d, counts %d", packets-got[0].Load(), c.LostIn)
		}
		r.stop()
		if r.caller.State() != StateClosed || r.provider.State() != StateClosed {
			t.Error("the ends are not closed")
		}
	})
}
