package sfu

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/opus"
)

// utterance encodes n frames of a 300 Hz tone with in-band FEC.
func utterance(t testing.TB, n int) []*rtp.Packet {
	t.Helper()
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: 16000, Complexity: 3, FEC: true, LossPercent: 20})
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, TapSamples)
	packets := make([]*rtp.Packet, n)
	for i := range packets {
		for k := range pcm {
			pcm[k] = int16(9000 * math.Sin(2*math.Pi*300*float64(i*TapSamples+k)/TapRate))
		}
		out := make([]byte, opus.MaxPacket)
		size, err := enc.Encode(pcm, out)
		if err != nil {
			t.Fatal(err)
		}
		packets[i] = opusPacket(uint16(i), uint32(i)*frameTicks)
		packets[i].Payload = out[:size]
	}
	return packets
}

// listener is an ear that keeps what it hears.
type listener struct {
	tap    *Tap
	clocks *tapClocks

	sync.Mutex // tests take it when they look

	loud []bool // per frame
	lost []bool
	at   []time.Duration // when it was handed out, since the tap's start
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{clocks: newTapClocks()}
	l.Lock()
	defer l.Unlock()
	tap, err := l.clocks.open(func(f Frame) {
		l.Lock()
		defer l.Unlock()
		if len(f.PCM) != TapSamples || f.Pos != time.Duration(len(l.loud))*frameTime {
			t.Errorf("frame %d: %d samples at %v", len(l.loud), len(f.PCM), f.Pos)
		}
		l.loud = append(l.loud, !isQuiet(f.PCM))
		l.lost = append(l.lost, f.Lost)
		l.at = append(l.at, time.Since(l.tap.Start()))
	})
	if err != nil {
		t.Fatal(err)
	}
	l.tap = tap
	t.Cleanup(l.clocks.stop)
	return l
}

// feed delivers packets at their own times plus delay; a negative delay loses one.
func (l *listener) feed(packets []*rtp.Packet, delay func(i int) time.Duration) {
	type event struct {
		due time.Time
		p   *rtp.Packet
	}
	var events []event
	now := time.Now()
	for i, p := range packets {
		if d := delay(i); d >= 0 {
			events = append(events, event{now.Add(time.Duration(i)*frameTime + d), p})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.due.Compare(b.due) })
	for _, e := range events {
		time.Sleep(time.Until(e.due))
		l.tap.Push(e.p, time.Now())
	}
}

func count(flags []bool) (n int) {
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

func TestTapHandsOutOneFrameEvery20msWhateverComes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name  string
		delay func(int) time.Duration
		loud  [2]int // at least, at most, of 500; the end of speech looks like loss and is concealed for 60 ms
		lost  int    // at most
		late  uint64
	}{
		{"nothing at all", func(int) time.Duration { return -1 }, [2]int{0, 0}, 0, 0},
		{"a perfect line", func(int) time.Duration { return 0 }, [2]int{499, 503}, 0, 0},
		{"20 ms of jitter", func(int) time.Duration { return time.Duration(rng.Int64N(20e6)) }, [2]int{498, 503}, 4, 0},
		{"60 ms of jitter, reordered", func(int) time.Duration { return time.Duration(rng.Int64N(60e6)) }, [2]int{495, 506}, 8, 3},
		{"2 % loss", func(i int) time.Duration {
			if i%50 == 25 {
				return -1
			}
			return 0
		}, [2]int{498, 503}, 10, 0},
		{"every fourth packet lost", func(i int) time.Duration {
			if i%4 == 2 {
				return -1
			}
			return 0
		}, [2]int{490, 503}, 126, 0},
		{"a second lost", func(i int) time.Duration {
			if i >= 100 && i < 150 {
				return -1
			}
			return 0
		}, [2]int{450, 457}, 51, 0},
		{"the path gets 100 ms longer", func(i int) time.Duration {
			if i >= 100 {
				return 100 * time.Millisecond
			}
			return 0
		}, [2]int{498, 506}, 6, 0},
		{"a stall of 400 ms, then all at once", func(i int) time.Duration {
			if i >= 100 && i < 120 {
				return 400*time.Millisecond - time.Duration(i-100)*frameTime
			}
			return 0
		}, [2]int{480, 503}, 21, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newListener(t)
				time.Sleep(time.Until(l.tap.Start()))
				packets := utterance(t, 500)
				l.feed(packets, c.delay)
				time.Sleep(time.Until(l.tap.Start().Add(11 * time.Second)))
				synctest.Wait()
				l.Lock()
				defer l.Unlock()
				if len(l.loud) != 550 {
					t.Errorf("%d frames in 11 s, want 550", len(l.loud))
				}
				for i, at := range l.at {
					if at != time.Duration(i+1)*frameTime {
						t.Fatalf("frame %d was handed out at %v", i, at)
					}
				}
				s := l.tap.Stats()
				t.Logf("%d loud, %d lost, %+v", count(l.loud), count(l.lost[:505]), s)
				if n := count(l.loud); n < c.loud[0] || n > c.loud[1] {
					t.Errorf("%d loud frames, want %v", n, c.loud)
				}
				if n := count(l.lost[:500]); n > c.lost {
					t.Errorf("%d lost frames, want at most %d", n, c.lost)
				}
				if s.Late > c.late {
					t.Errorf("%d packets were late, want at most %d", s.Late, c.late)
				}
			})
		})
	}
}

func TestTapRecoversASingleLossFromTheNextPacket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(t)
		time.Sleep(time.Until(l.tap.Start()))
		packets := utterance(t, 100)
		// The line is 30 ms late from the start of speech on, so that the buffer holds the next packet already.
		l.feed(packets, func(i int) time.Duration {
			switch {
			case i == 60:
				return -1
			case i < 10:
				return 0
			case i < 20:
				return 45 * time.Millisecond
			}
			return 0
		})
		time.Sleep(100 * time.Millisecond)
		if s := l.tap.Stats(); s.Recovered != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestSilenceSuppressionIsSilenceNotLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(t)
		time.Sleep(time.Until(l.tap.Start()))
		packets := utterance(t, 50)
		l.feed(packets, func(int) time.Duration { return 0 })
		seq, ts := uint16(50), uint32(50*frameTicks)
		for range 5 { // a comfort packet every 400 ms
			l.tap.Push(&rtp.Packet{Header: rtp.Header{SequenceNumber: seq, Timestamp: ts}, Payload: []byte{0x08}}, time.Now())
			seq++
			ts += 20 * frameTicks
			time.Sleep(400 * time.Millisecond)
		}
		more := utterance(t, 50)
		for i, p := range more {
			p.SequenceNumber, p.Timestamp = seq+uint16(i), ts+uint32(i)*frameTicks
		}
		l.feed(more, func(int) time.Duration { return 0 })
		synctest.Wait()
		l.Lock()
		defer l.Unlock()
		if n := count(l.lost); n != 0 {
			t.Errorf("%d frames count as lost, %+v", n, l.tap.Stats())
		}
		if n := count(l.loud); n < 99 || n > 104 {
			t.Errorf("%d loud frames, want 100", n)
		}
	})
}

func TestDelayIsGivenBackInQuietMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(t)
		time.Sleep(time.Until(l.tap.Start()))
		enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: 16000})
		if err != nil {
			t.Fatal(err)
		}
		packets := utterance(t, 100)
		out := make([]byte, opus.MaxPacket)
		n, _ := enc.Encode(make([]int16, TapSamples), out)
		for i := 100; i < 1500; i++ {
			p := opusPacket(uint16(i), uint32(i)*frameTicks)
			p.Payload = out[:n]
			packets = append(packets, p)
		}
		l.feed(packets, func(i int) time.Duration {
			if i >= 50 && i < 60 {
				return 100 * time.Millisecond // one hiccup grows the buffer
			}
			return 0
		})
		if s := l.tap.Stats(); s.Skipped < 3 || s.Skipped > 5 || s.Late != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestFlushComesAfterEverythingThatHadArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(t)
		time.Sleep(time.Until(l.tap.Start()))
		packets := utterance(t, 100)
		l.feed(packets[:50], func(i int) time.Duration {
			if i >= 20 {
				return 70 * time.Millisecond
			}
			return 0
		})
		released := time.Now()
		var heard int
		var flushed time.Time
		l.tap.Flush(released, func() {
			l.Lock()
			defer l.Unlock()
			heard, flushed = count(l.loud), time.Now()
		})
		l.tap.Flush(released.Add(500*time.Millisecond), func() {
			if time.Since(released) < 500*time.Millisecond {
				t.Error("a flush in the future came too early")
			}
		})
		time.Sleep(time.Second)
		synctest.Wait()
		if heard < 50 {
			t.Errorf("at the flush %d frames had been heard, want 50", heard)
		}
		if d := flushed.Sub(released); d > 100*time.Millisecond {
			t.Errorf("the flush took %v", d)
		}
		begin := time.Now()
		if err := l.tap.Drain(t.Context()); err != nil || time.Since(begin) > frameTime {
			t.Errorf("Drain with nothing to drain: %v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.tap.Drain(ctx); err == nil {
			t.Error("Drain outlived its context")
		}
		fired := false
		l.tap.Flush(time.Now().Add(time.Hour), func() { fired = true })
		l.tap.Close()
		if !fired {
			t.Error("Close forgot a flush")
		}
		l.Lock()
		defer l.Unlock()
		frames := len(l.loud)
		time.Sleep(time.Second)
		if len(l.loud) != frames {
			t.Error("frames after Close")
		}
	})
}

func TestTapFollowsANewSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(t)
		for i, start := range []uint32{1 << 31, 5, 1<<32 - 9600} {
			packets := utterance(t, 50)
			for _, p := range packets {
				p.SSRC = uint32(i)
				p.Timestamp += start
			}
			l.feed(packets, func(int) time.Duration { return 0 })
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		l.Lock()
		defer l.Unlock()
		if n := count(l.loud); n < 148 || n > 156 {
			t.Errorf("%d loud frames, want 150; %+v", n, l.tap.Stats())
		}
	})
}

func TestGarbageDoesNotStopTheTap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(t)
		rng := rand.New(rand.NewPCG(5, 6))
		for range 2000 {
			p := &rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(rng.Uint32()), Timestamp: rng.Uint32()}}
			if rng.IntN(2) == 0 {
				p.Timestamp = uint32(rng.IntN(200_000))
			}
			p.Payload = make([]byte, rng.IntN(300))
			for i := range p.Payload {
				p.Payload[i] = byte(rng.Uint32())
			}
			l.tap.Push(p, time.Now())
			time.Sleep(time.Duration(rng.Int64N(30e6)))
		}
		time.Sleep(time.Second)
		l.tap.Close()
		if len(l.jb().q) > jitterSlots {
			t.Error("the buffer grew without bound")
		}
	})
}

func (l *listener) jb() *jitterBuffer { return &l.tap.jb }

func TestManyTapsShareAFewClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clocks := newTapClocks()
		defer clocks.stop()
		counts := make([]atomic.Int64, 40)
		var taps []*Tap
		for i := range counts {
			tap, err := clocks.open(func(Frame) { counts[i].Add(1) })
			if err != nil {
				t.Fatal(err)
			}
			taps = append(taps, tap)
			time.Sleep(7 * time.Millisecond)
		}
		for _, tap := range taps[:20] {
			tap.Close()
		}
		time.Sleep(time.Millisecond) // off the clocks' grid
		synctest.Wait()
		before := make([]int64, len(counts))
		for i := range counts {
			before[i] = counts[i].Load()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for i := range counts {
			if want := before[i] + 50*int64(i/20); counts[i].Load() != want {
				t.Errorf("tap %d: %d frames, want %d", i, counts[i].Load(), want)
			}
		}
	})
}

func TestTapAllocatesNothing(t *testing.T) {
	packets := utterance(t, 200)
	tap, err := newTap(func(Frame) {})
	if err != nil {
		t.Fatal(err)
	}
	tap.start = time.Now()
	i := 0
	step := func() {
		i++
		p := packets[i%len(packets)]
		p.SequenceNumber, p.Timestamp = uint16(i), uint32(i)*frameTicks
		now := tap.start.Add(time.Duration(i) * frameTime)
		tap.Push(p, now.Add(-10*time.Millisecond))
		tap.advance(now)
	}
	for range 300 {
		step()
	}
	if n := testing.AllocsPerRun(500, step); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
	if s := tap.Stats(); s.Concealed+s.Late+s.Skipped != 0 {
		t.Errorf("stats %+v", s)
	}
}

func BenchmarkTap(b *testing.B) {
	packets := utterance(b, 200)
	tap, err := newTap(func(Frame) {})
	if err != nil {
		b.Fatal(err)
	}
	tap.start = time.Now()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		p := packets[i%len(packets)]
		p.SequenceNumber, p.Timestamp = uint16(i), uint32(i)*frameTicks
		now := tap.start.Add(time.Duration(i) * frameTime)
		tap.Push(p, now.Add(-10*time.Millisecond))
		tap.advance(now)
	}
}
