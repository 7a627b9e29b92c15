package bridge

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"
	"golang.org/x/sys/unix"

	"hovor/sfu"
	"hovor/sfu/g711"
	"hovor/sfu/opus"
	"hovor/sfu/resample"
)

var costCodecs = []struct {
	name  string
	codec sfu.Codec
}{{"Opus", sfu.Codec{}}, {"PCMU", pcmu}}

// station is one session's bridge with everything that a frame needs, driven by hand instead of by time.
type station struct {
	player  *Player
	mic     *Mic
	frame   []int16
	packets []*rtp.Packet
	n       int
	at      time.Time
}

func newStation(t testing.TB, codec sfu.Codec) *station {
	s := &station{frame: voice(480), at: time.Now()}
	s.player = newPlayer(t, PlayerConfig{Codec: codec, Out: sfu.NewDownlink(nowhere{})})
	s.mic = newMic(t, MicConfig{Codec: codec, Handle: func(Chunk) {}})
	s.packets = spoken(t, codec, voice(24000*4))
	for range 50 { // a second ahead, so that it never runs dry
		write(t, s.player, 1, "item", s.frame)
	}
	return s
}

type nowhere struct{}

func (nowhere) WriteRTP(*rtp.Packet) error { return nil }

// down is 20 ms towards the person, up 20 ms towards the provider.
func (s *station) down() {
	_, _ = s.player.Write(1, "item", s.frame)
	s.player.playNow()
}

func (s *station) up() {
	p := s.packets[s.n%len(s.packets)]
	p.SequenceNumber, p.Timestamp = uint16(s.n), uint32(s.n*s.mic.clock/50)
	s.n++
	s.at = s.at.Add(frameTime)
	s.mic.Push(p, s.at)
}

func TestAFrameAllocatesNothing(t *testing.T) {
	for _, c := range costCodecs {
		t.Run(c.name, func(t *testing.T) {
			s := newStation(t, c.codec)
			for range 100 {
				s.down()
				s.up()
			}
			if a := testing.AllocsPerRun(500, s.down); a != 0 {
				t.Errorf("towards the person: %v allocations a frame", a)
			}
			if a := testing.AllocsPerRun(500, s.up); a != 0 {
				t.Errorf("towards the provider: %v allocations a frame", a)
			}
			lossy := func() { // every other packet is lost, and given up by the next
				s.n++
				s.up()
				s.mic.mu.Lock()
				for len(s.mic.held) > 0 {
					s.mic.giveUp()
				}
				s.mic.mu.Unlock()
			}
			lossy()
			if a := testing.AllocsPerRun(500, lossy); a != 0 {
				t.Errorf("with loss: %v allocations a frame", a)
			}
		})
	}
}

// Bursts and their clearing go through shared memory: a queue that was full once costs nothing afterwards.
func TestQueuesGiveTheirMemoryBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, PlayerConfig{Out: Packets(func(*rtp.Packet, time.Time) {})})
		write(t, p, 1, "a", voice(24000*60))
		p.Clear()
		if p.q.head != nil || p.q.n != 0 {
			t.Error("something is left after Clear")
		}
		write(t, p, 2, "b", voice(24000*2))
		pass(time.Minute)
		if p.q.head != nil || p.q.n != 0 {
			t.Error("something is left after playing")
		}
	})
}

// bare is the codec's and resampler's own work for the same frame each way.
func bare(t testing.TB, codec sfu.Codec, packets []*rtp.Packet) (down, up func()) {
	frame := voice(480)
	if codec.MimeType == "" {
		c := Speech()
		c.SampleRate = 24000
		enc, err := opus.NewEncoder(c)
		if err != nil {
			t.Fatal(err)
		}
		dec, err := opus.NewDecoder(24000)
		if err != nil {
			t.Fatal(err)
		}
		out, pcm, n := make([]byte, opus.MaxPacket), make([]int16, 2880), 0
		return func() { _, _ = enc.Encode(frame, out) },
			func() { _, _ = dec.Decode(packets[n%len(packets)].Payload, pcm); n++ }
	}
	to, err := resample.New(24000, 8000)
	if err != nil {
		t.Fatal(err)
	}
	from, err := resample.New(8000, 24000)
	if err != nil {
		t.Fatal(err)
	}
	low, high, octets := make([]int16, 0, 512), make([]int16, 0, 1024), make([]byte, 160)
	in := make([]int16, 160)
	return func() { low = to.Append(low[:0], frame); g711.MuLaw.Encode(octets, low) },
		func() { g711.MuLaw.Decode(in, octets); high = from.Append(high[:0], in) }
}

// BenchmarkSession is 20 ms of one session, both directions, against the codec's and resampler's own cost: the ratio
// that must stay within 1.2. Both are measured in turns and in CPU time of this thread, so that a noisy machine hits
// both, and little.
func BenchmarkSession(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, c := range costCodecs {
		b.Run(c.name, func(b *testing.B) {
			s := newStation(b, c.codec)
			down, up := bare(b, c.codec, s.packets)
			var ours, own []float64
			b.ReportAllocs()
			for b.Loop() {
				begin := threadTime()
				for range 50 {
					s.down()
					s.up()
				}
				middle := threadTime()
				for range 50 {
					down()
					up()
				}
				ours = append(ours, float64(middle-begin)/50)
				own = append(own, float64(threadTime()-middle)/50)
			}
			slices.Sort(ours)
			slices.Sort(own)
			b.ReportMetric(ours[len(ours)/2]/1000, "bridge_µs/frame")
			b.ReportMetric(own[len(own)/2]/1000, "codec_µs/frame")
			b.ReportMetric(ours[len(ours)/2]/own[len(own)/2], "ratio")
			b.ReportMetric(ours[len(ours)/2]*50/1e7, "core_%/session")
		})
	}
}

// threadTime is the CPU time that this thread has used.
func threadTime() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano())
}

// BenchmarkPlayerFrame and BenchmarkMicFrame are the stages alone.
func BenchmarkPlayerFrame(b *testing.B) {
	for _, c := range costCodecs {
		b.Run(c.name, func(b *testing.B) {
			s := newStation(b, c.codec)
			b.ReportAllocs()
			for b.Loop() {
				s.down()
			}
		})
	}
}

func BenchmarkMicFrame(b *testing.B) {
	for _, c := range costCodecs {
		b.Run(c.name, func(b *testing.B) {
			s := newStation(b, c.codec)
			b.ReportAllocs()
			for b.Loop() {
				s.up()
			}
		})
	}
}

// BenchmarkBurst takes a whole answer of a minute at once, and clears it.
func BenchmarkBurst(b *testing.B) {
	p := newPlayer(b, PlayerConfig{Out: Packets(func(*rtp.Packet, time.Time) {})})
	minute := voice(24000 * 60)
	for epoch := uint64(1); b.Loop(); epoch++ {
		if _, err := p.Write(epoch, "item", minute); err != nil {
			b.Fatal(err)
		}
		p.Clear()
	}
}

// BenchmarkLive plays 100 sessions by the real clock for three seconds: the CPU of a frame with its wake-up, and how
// late packets leave.
func BenchmarkLive(b *testing.B) {
	const sessions, length = 100, 3 * time.Second
	for _, c := range costCodecs {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				var mu sync.Mutex
				var late []time.Duration
				var done sync.WaitGroup
				pcm := voice(24000 * int(length/time.Second))
				before := processTime()
				for range sessions {
					var p *Player
					done.Add(1)
					p = newPlayer(b, PlayerConfig{Codec: c.codec, Drained: func(Account) { done.Done() },
						Out: Packets(func(_ *rtp.Packet, at time.Time) {
							mu.Lock()
							late = append(late, at.Sub(p.due.Add(-frameTime)))
							mu.Unlock()
						})})
					if _, err := p.Write(1, "item", pcm); err != nil {
						b.Fatal(err)
					}
					p.End(1, "item")
					<-time.After(frameTime / sessions) // spread over a frame, as calls are
				}
				done.Wait()
				used := processTime() - before
				slices.Sort(late)
				b.ReportMetric(float64(used.Microseconds())/float64(len(late)), "cpu_µs/frame")
				b.ReportMetric(float64(late[len(late)/2].Microseconds())/1000, "late_p50_ms")
				b.ReportMetric(float64(late[len(late)*99/100].Microseconds())/1000, "late_p99_ms")
			}
		})
	}
}

// processTime is the CPU time that the process has used.
func processTime() time.Duration {
	var r unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
