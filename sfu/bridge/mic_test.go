package bridge

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/sfu/g711"
	"hovor/sfu/opus"
)

// provider takes what a microphone hands out.
type provider struct {
	pcm    []int16
	chunks []Chunk // without their slices
	sizes  []int
	at     []time.Time
}

func (u *provider) handle(c Chunk) {
	u.pcm = append(u.pcm, c.PCM...)
	u.sizes = append(u.sizes, len(c.PCM))
	u.at = append(u.at, time.Now())
	c.PCM, c.Data = nil, nil
	u.chunks = append(u.chunks, c)
}

func newMic(t testing.TB, c MicConfig) *Mic {
	t.Helper()
	m, err := NewMic(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// spoken is pcm at 24 kHz as 20 ms packets of the codec, numbered through.
func spoken(t testing.TB, codec sfu.Codec, pcm []int16) []*rtp.Packet {
	t.Helper()
	f, err := formatOf(codec)
	if err != nil {
		t.Fatal(err)
	}
	c := Speech()
	c.LossPercent = 20
	enc, err := newEncoder(f, 24000, c)
	if err != nil {
		t.Fatal(err)
	}
	var packets []*rtp.Packet
	for i := 0; i+480 <= len(pcm); i += 480 {
		payload, err := enc.encode(pcm[i : i+480])
		if err != nil {
			t.Fatal(err)
		}
		n := len(packets)
		packets = append(packets, &rtp.Packet{
			Header:  rtp.Header{SSRC: 7, SequenceNumber: uint16(65500 + n), Timestamp: uint32(4294960000 + n*f.clock()/50)},
			Payload: slices.Clone(payload),
		})
	}
	return packets
}

// voice glides, so that every frame differs from its neighbours.
func voice(n int) []int16 {
	pcm := make([]int16, n)
	phase := 0.0
	for i := range pcm {
		phase += 2 * math.Pi * (180 + 60*math.Sin(float64(i)/9000)) / 24000
		pcm[i] = int16(6000*math.Sin(phase) + 2500*math.Sin(3*phase) + 1000*math.Sin(7*phase))
	}
	return pcm
}

func TestAPacketInOrderIsHandedOutAtOnce(t *testing.T) {
	for name, codec := range map[string]sfu.Codec{"Opus": {}, "PCMU": pcmu, "PCMA": pcma} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &provider{}
				m := newMic(t, MicConfig{Codec: codec, Handle: u.handle})
				packets := spoken(t, codec, tone(48000, 24000, 500))
				rng := rand.New(rand.NewPCG(1, 2))
				for n, p := range packets {
					pass(time.Duration(rng.IntN(40)) * ms) // in order, with jitter: no reason to wait
					m.Push(p, time.Now())
					if len(u.chunks) != n+1 || u.at[n] != time.Now() || u.chunks[n].Pos != time.Duration(n)*20*ms || u.sizes[n] != 480 {
						t.Fatalf("packet %d: %d chunks, the last %+v of %d samples", n, len(u.chunks), u.chunks[n], u.sizes[n])
					}
				}
				if snr := purity(u.pcm[12000:36000], 24000, 500); snr < 20 {
					t.Errorf("signal to noise %.1f dB", snr)
				}
				if s := m.Stats(); s != (MicStats{Packets: 100, Wait: waitMin}) {
					t.Errorf("stats %+v", s)
				}
			})
		})
	}
}

func TestEveryUpstreamFormAndRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, codec := range []sfu.Codec{{}, pcmu, pcma} {
			packets := spoken(t, codec, tone(24000, 24000, 500))
			for _, c := range []MicConfig{
				{Rate: 8000}, {Rate: 16000}, {}, {Rate: 48000}, {Upstream: MuLaw}, {Upstream: ALaw},
				{Chunk: 40 * ms}, {Chunk: 100 * ms, Upstream: MuLaw},
			} {
				var data []byte
				var pcm []int16
				rate, chunk := c.Rate, 20*ms
				if c.Chunk != 0 {
					chunk = c.Chunk
				}
				switch {
				case c.Upstream != PCM16:
					rate = 8000
				case rate == 0:
					rate = 24000
				}
				c.Codec = codec
				c.Handle = func(got Chunk) {
					data = append(data, got.Data...)
					pcm = append(pcm, got.PCM...)
					if samplesTime(len(got.PCM), rate) != chunk {
						t.Errorf("%+v: a chunk of %d samples", c, len(got.PCM))
					}
				}
				m := newMic(t, c)
				for _, p := range packets {
					pass(20 * ms)
					m.Push(p, time.Now())
				}
				back := make([]int16, len(pcm))
				switch c.Upstream {
				case MuLaw:
					g711.MuLaw.Decode(back, data)
				case ALaw:
					g711.ALaw.Decode(back, data)
				default:
					for i := range back {
						back[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
					}
				}
				if len(back) != rate {
					t.Errorf("%v %+v: %d samples, want %d", codec.MimeType, c.Upstream, len(back), rate)
				} else if snr := purity(back[rate/4:rate*3/4], rate, 500); snr < 20 {
					t.Errorf("%v form %d at %d Hz: signal to noise %.1f dB", codec.MimeType, c.Upstream, rate, snr)
				}
				m.Close()
			}
		}
	})
}

func TestOvertakenPacketsArePutInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		packets := spoken(t, sfu.Codec{}, voice(48000))
		want := &provider{}
		m := newMic(t, MicConfig{Handle: want.handle})
		for _, p := range packets {
			m.Push(p, time.Now())
		}
		m.Close()
		got := &provider{}
		m = newMic(t, MicConfig{Handle: got.handle})
		for i := 0; i < len(packets); i += 4 {
			for _, k := range []int{0, 2, 1, 2, 3, 1} { // with copies
				pass(3 * ms)
				m.Push(packets[i+k], time.Now())
			}
			pass(62 * ms)
		}
		if !slices.Equal(got.pcm, want.pcm) {
			t.Error("order matters to what is handed out")
		}
		if s := m.Stats(); s.Packets != 100 || s.Late != 0 || s.Concealed != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// A gap is held open for 20 ms and filled; on a network that overtakes by more, it learns to wait.
func TestAGapIsHeldOpenAsLongAsTheNetworkNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Handle: u.handle})
		packets := spoken(t, sfu.Codec{}, voice(24000*10))
		send := func(i int) {
			pass(20 * ms)
			m.Push(packets[i], time.Now())
		}
		for i := range 10 {
			send(i)
		}
		send(11)
		at := time.Now()
		pass(19 * ms)
		if len(u.chunks) != 10 {
			t.Fatal("the gap was given up early")
		}
		pass(2 * ms)
		if len(u.chunks) != 12 || u.at[11].Sub(at) != 20*ms || !u.chunks[10].Lost || u.chunks[9].Lost {
			t.Fatalf("%d chunks, the last after %v", len(u.chunks), u.at[len(u.at)-1].Sub(at))
		}
		pass(20 * ms)
		m.Push(packets[10], time.Now()) // 41 ms after the gap was noticed
		if s := m.Stats(); s.Late != 1 || s.Wait != 46*ms {
			t.Errorf("stats %+v", s)
		}
		for i := 12; i < 400; i += 4 {
			for _, k := range []int{0, 2, 3, 1} { // 40 ms behind
				send(i + k)
			}
		}
		if s := m.Stats(); s.Late != 1 || s.Recovered+s.Concealed != 1 {
			t.Errorf("it did not learn: %+v", s)
		}
	})
}

func TestLossIsFilledToTheSample(t *testing.T) {
	for name, codec := range map[string]sfu.Codec{"Opus": {}, "PCMU": pcmu} {
		t.Run(name, func(t *testing.T) {
			pcm := voice(24000 * 10)
			packets := spoken(t, codec, pcm)
			run := func(lost func(i int) bool, fill bool) ([]int16, MicStats) {
				var got []int16
				var s MicStats
				synctest.Test(t, func(t *testing.T) {
					u := &provider{}
					m := newMic(t, MicConfig{Codec: codec, Handle: u.handle})
					for i, p := range packets {
						pass(20 * ms)
						if lost(i) {
							if !fill { // what a naive bridge makes of a loss
								m.mu.Lock()
								m.pcm = m.in.silence(m.pcm, frameTime)
								m.handOut()
								m.lastSeq, m.next = p.SequenceNumber, p.Timestamp+uint32(m.clock/50)
								m.mu.Unlock()
							}
							continue
						}
						m.Push(p, time.Now())
					}
					got, s = u.pcm, m.Stats()
				})
				return got, s
			}
			whole, _ := run(func(int) bool { return false }, true)
			for name, lost := range map[string]func(i int) bool{
				"5 % at random":  func(i int) bool { return i > 2 && i < 499 && rand.New(rand.NewPCG(1, uint64(i))).IntN(20) == 0 },
				"20 % at random": func(i int) bool { return i > 2 && i < 499 && rand.New(rand.NewPCG(1, uint64(i))).IntN(5) == 0 },
				"bursts of two":  func(i int) bool { return i > 2 && i%20 < 2 },
			} {
				filled, s := run(lost, true)
				silent, _ := run(lost, false)
				if len(filled) != len(whole) {
					t.Errorf("%s: %d samples, want %d", name, len(filled), len(whole))
					continue
				}
				a, b := distance(filled, whole), distance(silent, whole)
				t.Logf("%-15s filled %.1f dB, silence %.1f dB (recovered %d, concealed %d, missing %v)", name, a, b, s.Recovered, s.Concealed, s.Missing)
				if a < b+1 {
					t.Errorf("%s: filled %.1f dB, silence %.1f dB", name, a, b)
				}
			}
		})
	}
}

// distance is the power of want against that of its difference to got, in dB.
func distance(got, want []int16) float64 {
	var signal, noise float64
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		signal += float64(want[i]) * float64(want[i])
		noise += d * d
	}
	return 10 * math.Log10(signal/math.Max(noise, 1))
}

func TestALongLossBecomesSilenceOfItsLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Codec: pcmu, Handle: u.handle})
		packets := spoken(t, pcmu, voice(24000*2))
		for i, p := range packets {
			pass(20 * ms)
			if i < 20 || i >= 24 {
				m.Push(p, time.Now())
			}
		}
		if len(u.pcm) != 48000 {
			t.Errorf("%d samples, want 48000", len(u.pcm))
		}
		if s := m.Stats(); s.Concealed != 3 || s.Missing != 20*ms {
			t.Errorf("stats %+v", s)
		}
	})
}

// DTX: the sequence goes on, the timestamps jump. The provider must hear the silence while it happens, and in all
// exactly as much as there was.
func TestAPauseIsSilenceInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Handle: u.handle})
		packets := spoken(t, sfu.Codec{}, voice(24000))
		begin := time.Now()
		for i, p := range packets {
			if i == 25 {
				pass(time.Second)
				// Half a second and a second after the last packet the silence is 100 to 120 ms behind.
				if behind := time.Since(begin) - samplesTime(len(u.pcm), 24000); behind < fillLag || behind > fillLag+2*frameTime {
					t.Errorf("the stream is %v behind", behind)
				}
			}
			if i >= 25 {
				p.Timestamp += 48000
			}
			m.Push(p, time.Now())
			pass(20 * ms)
		}
		if len(u.pcm) != 48000 {
			t.Errorf("%d samples for 2 s", len(u.pcm))
		}
		if s := m.Stats(); s.Paused != time.Second || s.Stalled != 0 || s.Missing != 0 || s.Concealed != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// A network that stands still, then delivers everything: no word may be dropped.
func TestAStallLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pcm := voice(48000)
		packets := spoken(t, pcmu, pcm)
		u := &provider{}
		m := newMic(t, MicConfig{Codec: pcmu, Rate: 8000, Handle: u.handle})
		for i, p := range packets {
			if i == 50 {
				pass(300 * ms)
			}
			m.Push(p, time.Now())
			if i < 50 || i > 65 {
				pass(20 * ms)
			}
		}
		s := m.Stats()
		if s.Stalled < 100*ms || s.Stalled > 240*ms || s.Paused != 0 || s.Concealed != 0 || s.Packets != 100 {
			t.Errorf("stats %+v", s)
		}
		if want := 16000 + int(s.Stalled/(20*ms))*160; len(u.pcm) != want {
			t.Errorf("%d samples, want %d", len(u.pcm), want)
		}
	})
}

func TestSilenceGoesOnWhileNobodySends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Handle: u.handle, Chunk: 40 * ms})
		m.Push(spoken(t, sfu.Codec{}, voice(480))[0], time.Now())
		pass(10 * time.Second)
		if n := samplesTime(len(u.pcm), 24000); n < 9800*ms || n > 10*time.Second {
			t.Errorf("%v of stream in 10 s", n)
		}
	})
}

func TestAClockSetAnewIsNoPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Handle: u.handle})
		packets := spoken(t, sfu.Codec{}, voice(24000))
		for i, p := range packets {
			pass(20 * ms)
			switch {
			case i >= 40: // another source
				p.SSRC, p.SequenceNumber, p.Timestamp = 8, uint16(100+i), uint32(i*960)
			case i >= 30: // sequence set anew
				p.SequenceNumber += 20000
			case i >= 20: // ten hours ahead
				p.Timestamp += 10 * 3600 * 48000 % (1 << 31)
			}
			m.Push(p, time.Now())
		}
		if s := m.Stats(); s.Restarts < 3 || s.Packets != 50 || s.Missing > 0 {
			t.Errorf("stats %+v", s)
		}
		if len(u.pcm) != 24000 {
			t.Errorf("%d samples", len(u.pcm))
		}
	})
}

func TestPaddingIsNotLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Handle: u.handle})
		packets := spoken(t, sfu.Codec{}, voice(9600))
		for i, p := range packets {
			pass(20 * ms)
			p.SequenceNumber += uint16(i / 5)
			m.Push(p, time.Now())
			if i%5 == 4 {
				m.Push(&rtp.Packet{Header: rtp.Header{SSRC: 7, SequenceNumber: p.SequenceNumber + 1, Timestamp: p.Timestamp}}, time.Now())
			}
		}
		if s := m.Stats(); s.Packets != 20 || s.Concealed+s.Recovered != 0 || len(u.pcm) != 9600 {
			t.Errorf("%d samples, stats %+v", len(u.pcm), s)
		}
	})
}

func TestGarbageIsConcealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Handle: u.handle})
		packets := spoken(t, sfu.Codec{}, voice(9600))
		packets[10].Payload = []byte{0x79, 1, 2, 3} // two equal frames in three bytes
		for _, p := range packets {
			pass(20 * ms)
			m.Push(p, time.Now())
		}
		if s := m.Stats(); s.Packets != 20 || s.Concealed != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

// Push-to-talk: the commit may not overtake audio that had arrived, nor leave the end of a chunk behind.
func TestFlushComesAfterWhatHadArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Handle: u.handle, Chunk: 100 * ms})
		packets := spoken(t, sfu.Codec{}, voice(24000))
		for _, p := range packets[:7] {
			pass(20 * ms)
			m.Push(p, time.Now())
		}
		var at, took atomic.Int64 // samples handed out when it was called, and when
		flush := func(upTo time.Time) {
			begin := time.Now()
			at.Store(-1)
			m.Flush(upTo, func() { at.Store(int64(len(u.pcm))); took.Store(int64(time.Since(begin))) })
		}
		flush(time.Now())
		if done := at.Load(); done != 7*480 {
			t.Errorf("flushed after %d samples, want %d", done, 7*480)
		}
		// One is missing: the barrier waits for what the gap brings, not for what comes later.
		m.Push(packets[8], time.Now())
		flush(time.Now())
		pass(10 * ms)
		m.Push(packets[9], time.Now())
		if at.Load() >= 0 {
			t.Error("flushed before the gap was given up")
		}
		pass(15 * ms)
		if done := at.Load(); done != 10*480 {
			t.Errorf("flushed after %d samples, want %d", done, 10*480)
		}
		// Ahead of time: audio on its way is waited for.
		flush(time.Now().Add(40 * ms))
		pass(20 * ms)
		m.Push(packets[10], time.Now())
		pass(40 * ms)
		if done, took := at.Load(), time.Duration(took.Load()); done != 11*480 || took != 40*ms {
			t.Errorf("flushed after %d samples and %v", done, took)
		}
		if c := u.chunks[len(u.chunks)-1]; c.Pos+samplesTime(u.sizes[len(u.sizes)-1], 24000) != 220*ms {
			t.Errorf("the stream stands at %+v", c)
		}
	})
}

func TestDiscardDropsWhatWasNotHandedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Codec: pcmu, Rate: 8000, Handle: u.handle, Chunk: 40 * ms})
		pcm := make([]int16, 24000)
		packets := spoken(t, pcmu, pcm)
		for i, p := range packets { // every packet a level of its own
			for k := range p.Payload {
				p.Payload[k] = byte(i)
			}
		}
		for _, i := range []int{0, 1, 2, 4, 5} { // 2 is half a chunk, 4 and 5 wait for 3
			m.Push(packets[i], time.Now())
		}
		m.Discard()
		for _, i := range []int{3, 6, 7} {
			m.Push(packets[i], time.Now())
		}
		var want []int16
		buf := make([]int16, 160)
		for _, i := range []int{0, 1, 6, 7} {
			g711.MuLaw.Decode(buf, packets[i].Payload)
			want = append(want, buf...)
		}
		if !slices.Equal(u.pcm, want) {
			t.Errorf("%d samples were handed out, want %d", len(u.pcm), len(want))
		}
	})
}

func TestAClosedMicrophoneIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &provider{}
		m := newMic(t, MicConfig{Handle: u.handle})
		p := spoken(t, sfu.Codec{}, voice(480))[0]
		m.Push(p, time.Now())
		called := 0
		m.Flush(time.Now().Add(time.Hour), func() { called++ })
		m.Close()
		m.Flush(time.Now(), func() { called++ })
		m.Push(p, time.Now())
		pass(time.Second)
		if len(u.chunks) != 1 || called != 2 {
			t.Errorf("%d chunks, %d flushes", len(u.chunks), called)
		}
	})
}

func TestBadMicConfigurationsAreRefused(t *testing.T) {
	h := func(Chunk) {}
	for i, c := range []MicConfig{
		{}, {Handle: h, Rate: 11025}, {Handle: h, Upstream: 9}, {Handle: h, Chunk: 25 * ms}, {Handle: h, Chunk: time.Second},
		{Handle: h, Codec: sfu.Codec{MimeType: "audio/G722"}},
	} {
		if _, err := NewMic(c); !errors.Is(err, ErrConfig) {
			t.Errorf("configuration %d: %v", i, err)
		}
	}
	if !opus.Silent([]byte{1}) {
		t.Error("DTX is not told")
	}
}
