package sfu

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"
)

// recorder is a browser's end: it keeps what was written to it.
type recorder struct {
	mu   sync.Mutex
	got  []rtp.Packet
	at   []time.Time
	fail error
}

func (r *recorder) WriteRTP(p *rtp.Packet) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, rtp.Packet{Header: p.Header, Payload: append([]byte(nil), p.Payload...)})
	r.at = append(r.at, time.Now())
	return r.fail
}

// voices are the second payload byte, which tests use to know whose audio a packet is.
func (r *recorder) voices() string {
	s := ""
	for _, p := range r.got {
		s += string(p.Payload[1])
	}
	return s
}

// talker is an upstream's audio stream.
type talker struct {
	seq uint16
	ts  uint32
}

// say makes the next packet; mark begins a talk spurt.
func (s *talker) say(voice byte, mark bool) *rtp.Packet {
	s.seq++
	s.ts += frameTicks
	p := opusPacket(s.seq, s.ts)
	p.Marker = mark
	p.Payload[1] = voice
	return p
}

// pause lets the stream's clock run without packets.
func (s *talker) pause(d time.Duration) { s.ts += uint32(d * opusClock / time.Second) }

// speak sends n packets in real time.
func speak(d *Downlink, s *talker, voice byte, n int, mark bool) {
	for i := range n {
		d.Forward(s.say(voice, mark && i == 0), time.Now())
		time.Sleep(frameTime)
	}
}

func TestWhatWasCutNeverLeavesAndWhatIsNewDoes(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(d *Downlink, s *talker)
		want string
	}{
		{"before any event", func(d *Downlink, s *talker) { speak(d, s, 'a', 3, true) }, "aaa"},
		{"the old answer goes on after a cut", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, true)
			d.Cut()
			speak(d, s, 'a', 5, false)
		}, "aa"},
		{"event first, then audio", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, true)
			d.Cut()
			speak(d, s, 'a', 4, false)
			d.Begin(2, "b")
			s.pause(time.Second)
			speak(d, s, 'b', 3, true)
		}, "aabbb"},
		{"the old answer's tail arrives after the new event", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, true)
			d.Cut()
			d.Begin(2, "b")
			speak(d, s, 'a', 3, false)
			s.pause(time.Second)
			speak(d, s, 'b', 3, true)
		}, "aabbb"},
		{"audio first, then its event", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, true)
			d.Cut()
			speak(d, s, 'a', 2, false)
			s.pause(time.Second)
			speak(d, s, 'b', 2, true)
			d.Begin(2, "b")
			speak(d, s, 'b', 2, false)
		}, "aabbbb"},
		{"a pause inside the old answer is no new answer", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, true)
			d.Cut()
			s.pause(200 * time.Millisecond)
			speak(d, s, 'a', 3, true)
			time.Sleep(400 * time.Millisecond)
			d.Begin(2, "b")
			s.pause(time.Second)
			speak(d, s, 'b', 2, true)
		}, "aabb"},
		{"no marker, only a timestamp jump", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, false)
			d.Cut()
			speak(d, s, 'a', 2, false)
			d.Begin(2, "b")
			s.pause(time.Second)
			speak(d, s, 'b', 2, false)
		}, "aabb"},
		{"neither marker nor jump, only silence on the line", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, false)
			d.Cut()
			speak(d, s, 'a', 2, false)
			time.Sleep(time.Second)
			d.Begin(2, "b")
			speak(d, s, 'b', 2, false)
		}, "aabb"},
		{"an upstream that never pauses gets in 100 ms after the event", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, false)
			d.Cut()
			speak(d, s, 'a', 2, false)
			d.Begin(2, "b")
			speak(d, s, 'b', 10, false)
		}, "aabbbb"},
		{"marks on every packet mean nothing", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			for range 2 {
				speak(d, s, 'a', 1, true)
			}
			d.Cut()
			for range 3 {
				speak(d, s, 'a', 1, true)
			}
			d.Begin(2, "b")
			s.pause(time.Second)
			for range 2 {
				speak(d, s, 'b', 1, true)
			}
		}, "aabb"},
		{"the event of a cut answer comes late", func(d *Downlink, s *talker) {
			d.Begin(2, "a")
			speak(d, s, 'a', 1, true)
			d.Cut()
			d.Begin(1, "old")
			d.Begin(2, "a")
			s.pause(time.Second)
			speak(d, s, 'a', 2, true)
		}, "a"},
		{"a packet of the old answer is overtaken by the new one", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 1, true)
			d.Cut()
			late := s.say('a', false)
			d.Begin(2, "b")
			s.pause(time.Second)
			speak(d, s, 'b', 1, true)
			d.Forward(late, time.Now())
			speak(d, s, 'b', 1, false)
		}, "abb"},
		{"the old answer, held up by the network, is no new answer", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 2, true)
			d.Cut()
			time.Sleep(time.Second)
			speak(d, s, 'a', 2, false)
			d.Begin(2, "b")
			s.pause(time.Second)
			speak(d, s, 'b', 2, true)
		}, "aabb"},
		{"two cuts in a row", func(d *Downlink, s *talker) {
			d.Begin(1, "a")
			speak(d, s, 'a', 1, true)
			d.Cut()
			d.Begin(2, "b")
			d.Cut()
			s.pause(time.Second)
			speak(d, s, 'b', 2, true)
			time.Sleep(heldAlive) // an upstream stops one answer before it begins the next
			d.Begin(3, "c")
			s.pause(time.Second)
			speak(d, s, 'c', 2, true)
		}, "acc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{}
				d := NewDownlink(r)
				c.run(d, &talker{seq: 65530, ts: 1<<32 - 5000})
				if got := r.voices(); got != c.want {
					t.Errorf("the browser got %q, want %q", got, c.want)
				}
				for i := 1; i < len(r.got); i++ {
					a, b := r.got[i-1], r.got[i]
					if b.SequenceNumber != a.SequenceNumber+1 {
						t.Errorf("packet %d: sequence %d after %d", i, b.SequenceNumber, a.SequenceNumber)
					}
					passed := uint32(r.at[i].Sub(r.at[i-1]) * opusClock / time.Second)
					if dts := b.Timestamp - a.Timestamp; a.Payload[1] != b.Payload[1] && dts != max(passed, frameTicks) {
						t.Errorf("packet %d: timestamp moved by %d, time by %d", i, dts, passed)
					}
					if b.Marker != (a.Payload[1] != b.Payload[1]) {
						t.Errorf("packet %d: marker %v", i, b.Marker)
					}
				}
				s := d.Stats()
				if s.Forwarded != uint64(len(r.got)) || s.GapFrames != 0 {
					t.Errorf("stats %+v", s)
				}
			})
		})
	}
}

func TestLossUpstreamStaysVisibleDownstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		d := NewDownlink(r)
		s := &talker{}
		d.Begin(1, "a")
		speak(d, s, 'a', 2, true)
		s.say('a', false) // lost
		s.say('a', false) // lost
		late := s.say('a', false)
		speak(d, s, 'a', 1, false)
		d.Forward(late, time.Now())
		var seqs []uint16
		for _, p := range r.got {
			seqs = append(seqs, p.SequenceNumber)
		}
		if fmt.Sprint(seqs) != "[1 2 6 5]" {
			t.Errorf("sequence numbers %v", seqs)
		}
		if s := d.Stats(); s.GapFrames != 3 || s.Forwarded != 4 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestHeardIsWhatWasWrittenMinusWhatStillWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		d := NewDownlink(r)
		s := &talker{}
		check := func(when string, item string, sent, heard time.Duration) {
			t.Helper()
			if h := d.Heard(); h.ItemID != item || h.Sent != sent || h.Heard != heard {
				t.Errorf("%s: %+v, want %s %v %v", when, h, item, sent, heard)
			}
		}
		const ms = time.Millisecond
		d.SetPlayout(100 * ms)
		d.Begin(1, "a")
		check("before any audio", "a", 0, 0)
		speak(d, s, 'a', 2, true) // 40 ms have passed
		check("still in the buffer", "a", 40*ms, 0)
		speak(d, s, 'a', 48, false) // one second has passed
		check("after a second", "a", time.Second, 900*ms)
		d.SetPlayout(40 * ms)
		check("the client says 40 ms", "a", time.Second, 960*ms)
		time.Sleep(30 * ms)
		check("the buffer runs dry", "a", time.Second, 990*ms)
		time.Sleep(time.Second)
		check("all was heard", "a", time.Second, time.Second)

		// A burst: half a second of audio at once is heard in half a second.
		for i := range 25 {
			d.Forward(s.say('a', i == 0), time.Now())
		}
		check("burst", "a", 1500*ms, 960*ms)
		time.Sleep(300 * ms)
		h := d.Cut()
		if h != (Heard{ItemID: "a", Epoch: 1, Sent: 1500 * ms, Heard: 1260 * ms}) {
			t.Errorf("cut: %+v", h)
		}
		speak(d, s, 'a', 5, false) // dropped: not sent, not heard
		time.Sleep(time.Second)
		if h := d.Heard(); h.Sent != 1500*ms {
			t.Errorf("after the cut: %+v", h)
		}

		d.Begin(2, "b")
		check("a new item", "b", 0, 0)
		s.pause(time.Second)
		speak(d, s, 'b', 10, true)
		d.End("b")
		speak(d, s, 'b', 2, false) // the tail belongs to it
		check("after the end", "b", 240*ms, 200*ms)
		s.pause(time.Second)
		time.Sleep(time.Second)
		speak(d, s, 'c', 2, true) // overtakes its event
		check("not yet announced", "b", 240*ms, 240*ms)
		d.Begin(3, "c")
		check("announced late", "c", 40*ms, 0)

		r.fail = fmt.Errorf("gone")
		speak(d, s, 'c', 2, false)
		if h := d.Heard(); h.Sent != 40*ms {
			t.Errorf("what could not be written counts as sent: %+v", h)
		}
		if s := d.Stats(); s.WriteErrors != 2 {
			t.Errorf("stats %+v", s)
		}
	})
}

// checker fails when a packet of an epoch that was cut leaves.
type checker struct {
	t     *testing.T
	floor atomic.Int64 // the newest epoch that was cut
	sent  atomic.Int64
}

func (c *checker) WriteRTP(p *rtp.Packet) error {
	if e := int64(p.Payload[1]) | int64(p.Payload[2])<<8; e <= c.floor.Load() {
		c.t.Errorf("a packet of epoch %d left after epoch %d was cut", e, c.floor.Load())
	}
	c.sent.Add(1)
	return nil
}

// An upstream announces an answer, sends it until it hears of the cut, and begins the next one a turn later; its events
// and its audio race on our side. Time is virtual, so that a machine's stall is no pause of the upstream; the two
// goroutines still run at once.
func TestCutRacesWithTheMediaGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answers = 200
		c := &checker{t: t}
		d := NewDownlink(c)
		announced := make(chan int64, 1)
		var cut atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(announced)
			s := &talker{}
			for e := int64(1); e <= answers; e++ {
				time.Sleep(heldAlive + time.Millisecond)
				announced <- e
				s.pause(time.Second)
				for first := true; cut.Load() < e; first = false {
					p := s.say(byte(e), first)
					p.Payload[2] = byte(e >> 8)
					d.Forward(p, time.Now())
				}
			}
		})
		rng := rand.New(rand.NewPCG(1, 2))
		for e := range announced {
			d.Begin(uint64(e), "item")
			for range rng.IntN(50) {
				d.Heard()
			}
			if h := d.Cut(); h.Epoch != uint64(e) {
				t.Fatalf("cut %d returned %+v", e, h)
			}
			c.floor.Store(e) // from here on it is a mistake
			for range rng.IntN(20) {
				d.Heard()
			}
			cut.Store(e)
		}
		wg.Wait()
		if c.sent.Load() == 0 {
			t.Error("nothing was ever sent")
		}
		t.Logf("%d packets sent, %+v", c.sent.Load(), d.Stats())
	})
}

func TestForwarderJoinsSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		f := NewForwarder(r)
		for i := range 3 {
			p := opusPacket(uint16(65534+i), uint32(i)*frameTicks)
			p.SSRC, p.Extension, p.ExtensionProfile = 1, true, 0xBEDE
			f.Forward(p)
			time.Sleep(frameTime)
		}
		f.Forward(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: 1, SSRC: 1}}) // padding only
		p := opusPacket(2, 3*frameTicks)
		p.SSRC = 1
		f.Forward(p)
		time.Sleep(2 * time.Second)
		for i := range 2 {
			p := opusPacket(uint16(40000+i), 7_000_000+uint32(i)*frameTicks)
			p.SSRC = 2
			f.Forward(p)
			time.Sleep(frameTime)
		}
		got := ""
		for _, p := range r.got {
			got += fmt.Sprintf("%d/%d/%v ", p.SequenceNumber, p.Timestamp, p.Marker)
			if p.Extension {
				t.Error("an extension of the source was carried over")
			}
		}
		want := "65534/0/true 65535/960/false 0/1920/false 1/2880/false 2/98880/true 3/99840/false "
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestThePacketPathAllocatesNothing(t *testing.T) {
	w := writerFunc(func(*rtp.Packet) error { return nil })
	d, f := NewDownlink(w), NewForwarder(w)
	d.Begin(1, "a")
	s := &talker{}
	p := s.say('a', true)
	now := time.Now()
	for name, fn := range map[string]func(){
		"Downlink.Forward": func() { p.SequenceNumber++; p.Timestamp += frameTicks; d.Forward(p, now) },
		"Forwarder":        func() { p.SequenceNumber++; p.Timestamp += frameTicks; f.ForwardAt(p, now) },
	} {
		if n := testing.AllocsPerRun(1000, fn); n != 0 {
			t.Errorf("%s: %v allocations per packet", name, n)
		}
	}
	d.Cut()
	if n := testing.AllocsPerRun(1000, func() { p.SequenceNumber++; d.Forward(p, now) }); n != 0 {
		t.Errorf("a shut Downlink: %v allocations per packet", n)
	}
}

type writerFunc func(*rtp.Packet) error

func (f writerFunc) WriteRTP(p *rtp.Packet) error { return f(p) }
