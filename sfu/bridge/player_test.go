package bridge

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"hovor/sfu"
	"hovor/sfu/g711"
	"hovor/sfu/opus"
)

const ms = time.Millisecond

var (
	pcmu = sfu.Codec{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000, Channels: 1}
	pcma = sfu.Codec{MimeType: webrtc.MimeTypePCMA, ClockRate: 8000, Channels: 1, PayloadType: 8}
)

// sentPacket is a packet as it left.
type sentPacket struct {
	rtp.Header
	payload []byte
	at      time.Time
	item    string // begun last
}

// tape is an Output that remembers.
type tape struct {
	mu      sync.Mutex
	packets []sentPacket
	log     []string
	item    string
}

func (o *tape) Forward(p *rtp.Packet, _ time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.packets = append(o.packets, sentPacket{p.Header, slices.Clone(p.Payload), time.Now(), o.item})
}

func (o *tape) note(s string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, s)
}

func (o *tape) Begin(_ uint64, id string)  { o.note("begin " + id); o.item = id }
func (o *tape) End(id string)              { o.note("end " + id) }
func (o *tape) Cut() sfu.Heard             { o.note("cut"); return sfu.Heard{} }
func (o *tape) SetPlayout(d time.Duration) { o.note("playout " + d.String()) }

func newPlayer(t testing.TB, c PlayerConfig) *Player {
	t.Helper()
	p, err := NewPlayer(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// pass lets time pass, and everything happen that is due by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func tone(n, rate int, hz float64) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return pcm
}

func write(t testing.TB, p *Player, epoch uint64, item string, pcm []int16) {
	t.Helper()
	if n, err := p.Write(epoch, item, pcm); err != nil || n != len(pcm) {
		t.Fatalf("wrote %d of %d: %v", n, len(pcm), err)
	}
}

// TestTheBridgeAddsPacingAndFramingOnly states what a person waits for: nothing but the 20 ms that fill a packet.
func TestTheBridgeAddsPacingAndFramingOnly(t *testing.T) {
	for _, codec := range []sfu.Codec{{}, pcmu, pcma} {
		synctest.Test(t, func(t *testing.T) {
			out := &tape{}
			p := newPlayer(t, PlayerConfig{Out: out, Codec: codec})
			pass(time.Second)
			begin := time.Now()

			write(t, p, 1, "a", tone(479, 24000, 440))
			if len(out.packets) != 0 {
				t.Fatal("a packet left before its frame was complete")
			}
			pass(7 * ms)
			write(t, p, 1, "a", tone(1, 24000, 440))
			if len(out.packets) != 1 {
				t.Fatal("the first packet did not leave with the sample that completed it")
			}
			if added := out.packets[0].at.Sub(begin.Add(7 * ms)); added != 0 {
				t.Errorf("the bridge added %v to the first packet, want 0", added)
			}

			// From then on the schedule: packet n at n times 20 ms, although everything is there at once.
			write(t, p, 1, "a", tone(24000-480, 24000, 440))
			p.End(1, "a")
			pass(2 * time.Second)
			for n, pkt := range out.packets {
				if at := pkt.at.Sub(begin.Add(7 * ms)); at != time.Duration(n)*20*ms {
					t.Fatalf("packet %d left at %v, want exactly %v", n, at, time.Duration(n)*20*ms)
				}
			}
		})
	}
}

func TestABurstOfTenSecondsPlaysInTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		var started, drained time.Time
		var account Account
		p := newPlayer(t, PlayerConfig{Out: out,
			Started: func(uint64, string) { started = time.Now() },
			Drained: func(a Account) { drained, account = time.Now(), a },
		})
		begin := time.Now()
		write(t, p, 1, "a", tone(240000, 24000, 440))
		p.End(1, "a")
		pass(time.Minute)

		if started != begin || drained.Sub(begin) != 10*time.Second {
			t.Errorf("started after %v and drained after %v, want 0 and exactly 10 s", started.Sub(begin), drained.Sub(begin))
		}
		// 500 packets, and one of silence that brings the last 6.5 ms out of the encoder.
		if len(out.packets) != 501 {
			t.Errorf("%d packets, want 501", len(out.packets))
		}
		for n, pkt := range out.packets {
			first := out.packets[0]
			if d := pkt.at.Sub(begin); d != time.Duration(n)*20*ms {
				t.Fatalf("packet %d left at %v", n, d)
			}
			if pkt.SequenceNumber != first.SequenceNumber+uint16(n) || pkt.Timestamp != first.Timestamp+uint32(n)*960 || pkt.SSRC != first.SSRC {
				t.Fatalf("packet %d has sequence %d, timestamp %d", n, pkt.SequenceNumber, pkt.Timestamp)
			}
			if pkt.Marker != (n == 0) {
				t.Fatalf("packet %d has marker %v", n, pkt.Marker)
			}
		}
		want := Account{Epoch: 1, ItemID: "a", Samples: 240000, Sent: 10 * time.Second, Received: 10 * time.Second,
			Heard: 10*time.Second - 80*ms, Complete: true}
		if account != want {
			t.Errorf("account %+v, want %+v", account, want)
		}
		if a, _ := p.Account("a"); a.Heard != a.Sent {
			t.Errorf("long after, %v of %v were heard", a.Heard, a.Sent)
		}
		if !slices.Equal(out.log, []string{"begin a", "end a"}) {
			t.Errorf("out was told %v", out.log)
		}
	})
}

// The schedule is absolute: hours do not drift by a nanosecond, and bursts of every size fit in.
func TestAnHourDoesNotDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		p := newPlayer(t, PlayerConfig{Out: out, Codec: pcmu})
		begin := time.Now()
		second := tone(24000, 24000, 440)
		write(t, p, 1, "a", second)
		for range 3600 {
			write(t, p, 1, "a", second)
			pass(time.Second)
		}
		last := out.packets[len(out.packets)-1]
		if n := len(out.packets); n < 180000 || last.at.Sub(begin) != time.Duration(n-1)*20*ms {
			t.Errorf("packet %d left at %v", n-1, last.at.Sub(begin))
		}
		if s := p.Stats(); s.Spurts != 1 || s.Stalls != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestTimestampsFollowTheClockAndMarkersBeginSpurts(t *testing.T) {
	for name, c := range map[string]struct {
		codec sfu.Codec
		clock uint32
	}{"Opus": {sfu.Codec{}, 48000}, "PCMU": {pcmu, 8000}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &tape{}
				p := newPlayer(t, PlayerConfig{Out: out, Codec: c.codec})
				frames := func(n int) []int16 { return tone(480*n-200, 24000, 440) }
				write(t, p, 1, "a", frames(5))
				p.End(1, "a")
				write(t, p, 1, "b", frames(3)) // follows without a pause: same spurt
				p.End(1, "b")
				pass(time.Second + 3*ms)
				write(t, p, 2, "c", frames(4))
				p.End(2, "c")
				pass(time.Second)
				if len(out.packets) != 12 {
					t.Fatalf("%d packets", len(out.packets))
				}
				for n, pkt := range out.packets[1:] {
					before := out.packets[n]
					if pkt.SequenceNumber != before.SequenceNumber+1 {
						t.Errorf("a hole before packet %d", n+1)
					}
					passed := uint32(pkt.at.Sub(before.at) * time.Duration(c.clock) / time.Second)
					if d := int32(pkt.Timestamp - before.Timestamp - passed); d < -1 || d > 1 {
						t.Errorf("packet %d: the timestamp went on by %d, the time by %d", n+1, pkt.Timestamp-before.Timestamp, passed)
					}
					if pkt.Marker != (n+1 == 8) {
						t.Errorf("packet %d has marker %v", n+1, pkt.Marker)
					}
				}
				if !out.packets[0].Marker {
					t.Error("the first packet has no marker")
				}
			})
		})
	}
}

func TestItemsAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		var log []string
		p := newPlayer(t, PlayerConfig{Out: out,
			Started: func(_ uint64, id string) { log = append(log, "started "+id) },
			Drained: func(a Account) { log = append(log, "drained "+a.ItemID) }})
		p.SetPlayout(50 * ms)
		write(t, p, 1, "a", tone(1000, 24000, 440)) // 3 frames
		write(t, p, 1, "b", tone(4800, 24000, 440)) // 10 frames; ends a
		p.End(1, "b")
		pass(130 * ms) // frames at 0 20 40 | 60 80 100 120
		a, _ := p.Account("a")
		b, _ := p.Account("b")
		if a.Samples != 1000 || !a.Complete || a.Heard != a.Sent || b.Samples != 4*480 || b.Complete {
			t.Errorf("a %+v b %+v", a, b)
		}
		// b's first 80 ms were sent from 60 ms on; at 130 ms the client, 50 ms behind, is 20 ms into them.
		if b.Heard != 20*ms {
			t.Errorf("heard %v of b, want 20 ms", b.Heard)
		}
		pass(time.Second)
		if want := []string{"started a", "drained a", "started b", "drained b"}; !slices.Equal(log, want) {
			t.Errorf("log %v", log)
		}
		if want := []string{"playout 50ms", "begin a", "end a", "begin b", "end b"}; !slices.Equal(out.log, want) {
			t.Errorf("out was told %v", out.log)
		}
	})
}

func TestClearTakesEverythingAndSaysWhatWasHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		var drained []string
		p := newPlayer(t, PlayerConfig{Out: out, Drained: func(a Account) { drained = append(drained, a.ItemID) }})
		write(t, p, 1, "a", tone(24000, 24000, 440))
		p.End(1, "a")
		write(t, p, 1, "b", tone(48000, 24000, 440))
		pass(1510 * ms)

		got := p.Clear()
		sent := len(out.packets)
		if sent != 76 {
			t.Errorf("%d packets in 1510 ms, want 76", sent)
		}
		// The truncation count is what left: 26 frames of b.
		if len(got.Items) != 1 || got.Items[0].ItemID != "b" || got.Items[0].Samples != 26*480 || got.Items[0].Sent != 520*ms {
			t.Fatalf("cleared %+v", got)
		}
		// The last frame left 10 ms ago; with 80 ms in the client, 430 ms were heard.
		if got.Items[0].Heard != 430*ms || got.Items[0].Received != 2*time.Second || got.Generation != 1 {
			t.Errorf("cleared %+v", got)
		}
		// Late audio of the answer is refused, whatever item it names.
		for _, id := range []string{"b", "c"} {
			if n, err := p.Write(1, id, tone(4800, 24000, 440)); n != 0 || !errors.Is(err, ErrStale) {
				t.Errorf("stale audio: %d, %v", n, err)
			}
		}
		p.End(1, "b")
		pass(time.Second)
		if len(out.packets) != sent || !slices.Equal(drained, []string{"a"}) {
			t.Errorf("%d packets after Clear, drained %v", len(out.packets)-sent, drained)
		}

		write(t, p, 2, "d", tone(4800, 24000, 440))
		if len(out.packets) != sent+1 {
			t.Fatal("the new answer did not begin at once")
		}
		old, fresh := out.packets[sent-1], out.packets[sent]
		if !fresh.Marker || fresh.SSRC == old.SSRC || fresh.SequenceNumber != old.SequenceNumber+1 {
			t.Errorf("the new answer begins with %+v after %+v", fresh.Header, old.Header)
		}
		if s := p.Stats(); s.Stale != 400*ms || s.Cleared != 1480*ms {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestAnAnswerThatWasSentButNotHeardIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, PlayerConfig{Out: &tape{}})
		p.SetPlayout(200 * ms)
		write(t, p, 1, "a", tone(4800, 24000, 440)) // 200 ms
		p.End(1, "a")
		write(t, p, 1, "b", tone(2400, 24000, 440)) // 100 ms
		p.End(1, "b")
		pass(320 * ms)
		got := p.Clear()
		if len(got.Items) != 2 || got.Items[0].Heard != 120*ms || got.Items[1].Heard != 0 || !got.Items[1].Complete {
			t.Errorf("cleared %+v", got.Items)
		}
		if got := p.Clear(); len(got.Items) != 0 || got.Generation != 2 {
			t.Errorf("a second Clear returned %+v", got)
		}
	})
}

func TestClearThroughRefusesWhatHasNotComeYet(t *testing.T) {
	p := newPlayer(t, PlayerConfig{Out: &tape{}})
	p.Clear() // nothing was there: nothing becomes stale
	write(t, p, 0, "z", tone(10, 24000, 440))
	p.ClearThrough(5)
	for epoch, want := range map[uint64]error{0: ErrStale, 5: ErrStale, 6: nil} {
		if _, err := p.Write(epoch, "x", tone(10, 24000, 440)); !errors.Is(err, want) {
			t.Errorf("epoch %d: %v", epoch, err)
		}
	}
}

// After Clear returns, no packet of an older answer may leave, whatever the timing. Every epoch's audio is a constant
// level, so that a stale frame shows in its payload.
func TestClearLeavesNoStaleFrameInAnyRace(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 500
	}
	var live atomic.Uint64 // oldest epoch that may still be sent
	var stale, sent atomic.Uint64
	level := func(epoch uint64) int16 { return int16(epoch%60+1) * 400 }
	p := newPlayer(t, PlayerConfig{Codec: pcmu, Rate: 8000, Out: Packets(func(p *rtp.Packet, _ time.Time) {
		sent.Add(1)
		epoch := live.Load()
		var pcm [160]int16
		g711.MuLaw.Decode(pcm[:], p.Payload)
		for _, v := range pcm {
			// The writer is at most one epoch ahead of what was cleared.
			if now, next := nearest(level(epoch)), nearest(level(epoch+1)); v != now && v != next && v != 0 {
				stale.Add(1)
				return
			}
		}
	})})
	live.Store(1)
	rng := rand.New(rand.NewPCG(3, 4))
	frame := make([]int16, 8000)
	for epoch := uint64(1); epoch <= uint64(rounds); epoch++ {
		for i := range frame {
			frame[i] = level(epoch)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 3 {
				n := 160 * (1 + int(epoch)%7)
				_, _ = p.Write(epoch, "i", frame[:n])
				p.playNow()
			}
		})
		wg.Go(func() {
			p.Pause()
			p.Resume()
		})
		for range rng.IntN(200) {
			_ = rng.Uint64()
		}
		p.ClearThrough(epoch)
		live.Store(epoch + 1)
		wg.Wait()
	}
	if stale.Load() != 0 {
		t.Errorf("%d stale frames of %d in %d races", stale.Load(), sent.Load(), rounds)
	}
	if sent.Load() == 0 {
		t.Error("nothing was sent at all")
	}
	t.Logf("%d packets in %d races", sent.Load(), rounds)
}

// playNow plays as if the time of the next frames had come.
func (p *Player) playNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running && !p.closed {
		p.due = time.Now()
		p.advance(time.Now())
	}
}

func nearest(v int16) int16 {
	var b [1]byte
	var out [1]int16
	g711.MuLaw.Encode(b[:], []int16{v})
	g711.MuLaw.Decode(out[:], b[:])
	return out[0]
}

func TestAPauseLosesAndRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// PCMU at 8 kHz codes sample by sample: what left can be compared with what was written.
		out := &tape{}
		p := newPlayer(t, PlayerConfig{Out: out, Codec: pcmu, Rate: 8000})
		pcm := make([]int16, 16000)
		for i := range pcm {
			pcm[i] = nearest(int16(i*7919%30000 - 15000))
		}
		write(t, p, 1, "a", pcm)
		p.End(1, "a")
		rng := rand.New(rand.NewPCG(5, 6))
		for range 20 {
			pass(time.Duration(rng.IntN(90)) * ms)
			p.Pause()
			before := len(out.packets)
			pass(time.Duration(rng.IntN(300)) * ms)
			if n := len(out.packets) - before; n > 0 {
				t.Fatalf("%d packets left during the pause", n)
			}
			p.Resume()
		}
		pass(5 * time.Second)
		var got []int16
		buf := make([]int16, 160)
		for n, pkt := range out.packets {
			g711.MuLaw.Decode(buf, pkt.payload)
			got = append(got, buf...)
			if n > 0 && pkt.Marker != (pkt.at.Sub(out.packets[n-1].at) > 20*ms) {
				t.Errorf("packet %d: marker %v after %v", n, pkt.Marker, pkt.at.Sub(out.packets[n-1].at))
			}
		}
		if !slices.Equal(got, pcm) {
			t.Error("samples were lost, repeated or changed")
		}
		if a, _ := p.Account("a"); a.Samples != len(pcm) || !a.Complete {
			t.Errorf("account %+v", a)
		}
	})
}

func TestAnItemThatRunsDryWaitsForACushion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, PlayerConfig{Out: &tape{}})
		write(t, p, 1, "a", tone(960, 24000, 440))
		pass(500 * ms)
		before := p.Stats() // two packets and the end of the encoder's memory
		write(t, p, 1, "a", tone(960, 24000, 440))
		if p.Stats().Packets != before.Packets {
			t.Error("it went on with 40 ms")
		}
		write(t, p, 1, "a", tone(480, 24000, 440))
		if s := p.Stats(); s.Packets != before.Packets+1 || s.Spurts != before.Spurts+1 {
			t.Error("it did not go on with 60 ms")
		}
		pass(500 * ms)
		write(t, p, 1, "a", tone(100, 24000, 440))
		p.End(1, "a") // no cushion needed: nothing more comes
		if a, _ := p.Account("a"); a.Samples != 960+960+480+100 {
			t.Errorf("account %+v", a)
		}
		if s := p.Stats(); s.Stalls != 2 || s.Spurts != 3 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestAFullQueueDropsWhatDoesNotFitAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		p := newPlayer(t, PlayerConfig{Out: out, Limit: time.Second})
		n, err := p.Write(1, "a", tone(36000, 24000, 440))
		if n != 24000 || !errors.Is(err, ErrFull) {
			t.Errorf("%d, %v", n, err)
		}
		if s := p.Stats(); s.Dropped != 500*ms || s.Queued != 980*ms {
			t.Errorf("stats %+v", s)
		}
		if n, err := p.WriteBytes(1, "a", make([]byte, 2000)); n != 480 || !errors.Is(err, ErrFull) {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestBytesMayBeCutAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		p := newPlayer(t, PlayerConfig{Out: out, Codec: pcmu, Rate: 8000})
		pcm := make([]int16, 4000)
		data := make([]byte, 8000)
		for i := range pcm {
			pcm[i] = nearest(int16(i * 7))
			data[2*i], data[2*i+1] = byte(pcm[i]), byte(uint16(pcm[i])>>8)
		}
		rng := rand.New(rand.NewPCG(8, 9))
		total := 0
		for rest := data; len(rest) > 0; {
			k := min(rng.IntN(300), len(rest))
			n, err := p.WriteBytes(1, "a", rest[:k])
			if err != nil {
				t.Fatal(err)
			}
			total += n
			rest = rest[k:]
		}
		p.End(1, "a")
		pass(time.Second)
		var got []int16
		buf := make([]int16, 160)
		for _, pkt := range out.packets {
			g711.MuLaw.Decode(buf, pkt.payload)
			got = append(got, buf...)
		}
		if total != len(pcm) || !slices.Equal(got, pcm) {
			t.Errorf("%d samples taken, %d sent", total, len(got))
		}
	})
}

// What comes out of the whole path must be the tone that went in: pacing, resampling and coding included.
func TestAToneIsHeardAsThatTone(t *testing.T) {
	for name, codec := range map[string]sfu.Codec{"Opus": {}, "PCMU": pcmu, "PCMA": pcma} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &tape{}
				p := newPlayer(t, PlayerConfig{Out: out, Codec: codec})
				pcm := tone(48000, 24000, 500)
				for chunk := range slices.Chunk(pcm, 1777) {
					write(t, p, 1, "a", chunk)
				}
				p.End(1, "a")
				pass(3 * time.Second)
				var got []int16
				f, _ := formatOf(codec)
				dec, err := newDecoder(f, 24000)
				if err != nil {
					t.Fatal(err)
				}
				for _, pkt := range out.packets {
					frame, err := dec.decode(make([]int16, 0, 4800), pkt.payload)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, frame...)
				}
				if snr := purity(got[12000:36000], 24000, 500); snr < 20 {
					t.Errorf("signal to noise %.1f dB", snr)
				} else {
					t.Logf("signal to noise %.1f dB", snr)
				}
			})
		})
	}
}

// purity is the sine of the frequency against all the rest, in dB.
func purity(pcm []int16, rate int, hz float64) float64 {
	var s, c, e float64
	for i, v := range pcm {
		w := 2 * math.Pi * hz * float64(i) / float64(rate)
		s += float64(v) * math.Sin(w)
		c += float64(v) * math.Cos(w)
		e += float64(v) * float64(v)
	}
	n := float64(len(pcm))
	power := 2 * (s*s + c*c) / n / n
	return 10 * math.Log10(power/math.Max(e/n-power, 1e-9))
}

func TestDTXSendsTheFirstSilentPacketOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		c := Speech()
		c.DTX = true
		p := newPlayer(t, PlayerConfig{Out: out, Encoder: &c})
		write(t, p, 1, "a", tone(24000, 24000, 440))
		write(t, p, 1, "a", make([]int16, 72000))
		write(t, p, 1, "a", tone(24000, 24000, 440))
		p.End(1, "a")
		pass(10 * time.Second)
		silent, in := 0, false
		for n, pkt := range out.packets {
			s := opus.Silent(pkt.payload)
			if s && in {
				t.Fatal("two silent packets in a row")
			}
			if n > 0 && pkt.Marker != (in && !s) {
				t.Errorf("packet %d: marker %v", n, pkt.Marker)
			}
			if n > 0 && pkt.SequenceNumber != out.packets[n-1].SequenceNumber+1 {
				t.Error("a hole in the sequence")
			}
			if d := pkt.at.Sub(out.packets[0].at); pkt.Timestamp-out.packets[0].Timestamp != uint32(d/ms)*48 {
				t.Errorf("packet %d: timestamp %d at %v", n, pkt.Timestamp-out.packets[0].Timestamp, d)
			}
			if in = s; s {
				silent++
			}
		}
		if silent == 0 || len(out.packets) > 170 {
			t.Errorf("%d packets, %d silent", len(out.packets), silent)
		}
	})
}

func TestAStoppedProcessDoesNotBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		p := newPlayer(t, PlayerConfig{Out: out})
		write(t, p, 1, "a", tone(48000, 24000, 440))
		lag := func(d time.Duration) (packets []sentPacket) {
			pass(10 * ms)
			before := len(out.packets)
			p.mu.Lock()
			p.due = p.due.Add(-d) // as if the timer came that much late
			p.mu.Unlock()
			pass(10 * ms)
			synctest.Wait()
			return out.packets[before:]
		}
		if n := len(lag(100 * ms)); n != 6 {
			t.Errorf("100 ms late: %d packets at once, want the 5 that are missing and the one that is due", n)
		}
		if got := lag(time.Second); len(got) != 1 || !got[0].Marker || p.Stats().Late != 1 {
			t.Errorf("a second late: %d packets at once", len(got))
		}
	})
}

func TestNothingHappensAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		p := newPlayer(t, PlayerConfig{Out: out})
		write(t, p, 1, "a", tone(4800, 24000, 440))
		p.Close()
		n := len(out.packets)
		pass(time.Second)
		if _, err := p.Write(2, "b", tone(4800, 24000, 440)); !errors.Is(err, ErrClosed) || len(out.packets) != n {
			t.Errorf("%v, %d packets", err, len(out.packets)-n)
		}
		p.Clear()
		p.Close()
	})
}

func TestBadPlayerConfigurationsAreRefused(t *testing.T) {
	out := &tape{}
	for i, c := range []PlayerConfig{
		{}, {Out: out, Rate: 44100}, {Out: out, Limit: ms}, {Out: out, Codec: sfu.Codec{MimeType: "audio/G722"}},
		{Out: out, Encoder: &opus.EncoderConfig{Complexity: 12}},
	} {
		if _, err := NewPlayer(c); !errors.Is(err, ErrConfig) {
			t.Errorf("configuration %d: %v", i, err)
		}
	}
}

// writer is what a Downlink writes to.
type writer struct{ packets []sentPacket }

func (w *writer) WriteRTP(p *rtp.Packet) error {
	w.packets = append(w.packets, sentPacket{Header: p.Header, payload: slices.Clone(p.Payload), at: time.Now()})
	return nil
}

// Through the real gate: an answer, an interruption right after its first packet, and the next answer at once.
func TestADownlinkTakesEveryAnswer(t *testing.T) {
	for _, cutAfter := range []time.Duration{0, 1 * ms, 25 * ms, 130 * ms, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := &writer{}
			down := sfu.NewDownlink(w)
			p := newPlayer(t, PlayerConfig{Out: down})
			for epoch := uint64(1); epoch <= 5; epoch++ {
				begin := time.Now()
				before := len(w.packets)
				write(t, p, epoch, "item", tone(24000, 24000, 440))
				p.End(epoch, "item")
				pass(cutAfter)
				heard := down.Heard()
				cleared := p.Clear()
				n := len(w.packets) - before
				want := min(int(cutAfter/(20*ms))+1, 51)
				if epoch > 1 && cutAfter < time.Second {
					want = n // it begins when the frame before is over, so fewer may leave
				}
				if n != want {
					t.Errorf("cut after %v: %d packets of answer %d, want %d", time.Since(begin), n, epoch, want)
				}
				if len(cleared.Items) == 1 && n < 50 && cleared.Items[0].Heard != heard.Heard {
					t.Errorf("player says %v, gate says %v", cleared.Items[0].Heard, heard.Heard)
				}
				if s := down.Stats(); s.StaleDropped != 0 {
					t.Errorf("the gate dropped %d packets", s.StaleDropped)
				}
			}
			pass(time.Second)
			for i, pkt := range w.packets[1:] {
				if pkt.SequenceNumber != w.packets[i].SequenceNumber+1 || int32(pkt.Timestamp-w.packets[i].Timestamp) < 960 {
					t.Errorf("packet %d: %d/%d after %d/%d", i+1, pkt.SequenceNumber, pkt.Timestamp, w.packets[i].SequenceNumber, w.packets[i].Timestamp)
				}
			}
		})
	}
}
