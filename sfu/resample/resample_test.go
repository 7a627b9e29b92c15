package resample

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

var pairs = [][2]int{
	{8000, 16000}, {8000, 24000}, {8000, 48000}, {16000, 8000}, {16000, 24000}, {16000, 48000},
	{24000, 8000}, {24000, 16000}, {24000, 48000}, {48000, 8000}, {48000, 16000}, {48000, 24000},
}

func forPairs(t *testing.T, f func(t *testing.T, in, out int)) {
	for _, p := range pairs {
		t.Run(fmt.Sprintf("%d to %d", p[0], p[1]), func(t *testing.T) { f(t, p[0], p[1]) })
	}
}

func start(t testing.TB, in, out int) *Resampler {
	t.Helper()
	r, err := New(in, out)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tone(n, rate int, hz, amplitude float64) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(math.RoundToEven(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))))
	}
	return pcm
}

// measure splits pcm into the sine of the frequency and the rest: its amplitude, and the power of all.
func measure(pcm []int16, rate int, hz float64) (amplitude, snr, power float64) {
	var s, c, e float64
	for i, v := range pcm {
		w := 2 * math.Pi * hz * float64(i) / float64(rate)
		s += float64(v) * math.Sin(w)
		c += float64(v) * math.Cos(w)
		e += float64(v) * float64(v)
	}
	n := float64(len(pcm))
	amplitude = 2 / n * math.Hypot(s, c)
	power = e / n
	rest := max(power-amplitude*amplitude/2, 1e-9)
	return amplitude, 10 * math.Log10(amplitude*amplitude/2/rest), power
}

// steady converts two seconds in 20 ms chunks and returns the middle second.
func steady(t testing.TB, in, out int, hz, amplitude float64) []int16 {
	r := start(t, in, out)
	var got []int16
	for chunk := range slices.Chunk(tone(2*in, in, hz, amplitude), in/50) {
		got = r.Append(got, chunk)
	}
	return got[out/2 : out/2+out]
}

func TestAToneStaysThatTone(t *testing.T) {
	forPairs(t, func(t *testing.T, in, out int) {
		for _, hz := range []float64{200, 1000, 3400} {
			a, snr, _ := measure(steady(t, in, out, hz, 16000), out, hz)
			if gain := 20 * math.Log10(a/16000); math.Abs(gain) > 0.1 || snr < 75 {
				t.Errorf("%v Hz: gain %.2f dB, signal to noise %.0f dB", hz, gain, snr)
			}
		}
	})
}

// What the lower rate cannot carry must vanish, not come back as another tone.
func TestNothingFoldsBack(t *testing.T) {
	forPairs(t, func(t *testing.T, in, out int) {
		if out > in {
			return
		}
		for _, factor := range []float64{1.08, 1.2, 1.5} {
			hz := factor * float64(out) / 2
			if hz >= float64(in)/2 {
				continue
			}
			_, _, power := measure(steady(t, in, out, hz, 16000), out, 100)
			if db := 10 * math.Log10(max(power, 1e-9)/(16000*16000/2)); db > -70 {
				t.Errorf("%.0f Hz comes back at %.0f dB", hz, db)
			}
		}
	})
}

func TestChunkBordersLeaveNoTrace(t *testing.T) {
	forPairs(t, func(t *testing.T, in, out int) {
		rng := rand.New(rand.NewPCG(1, uint64(in*out)))
		pcm := tone(in, in, 440, 9000)
		for i := range pcm {
			pcm[i] += int16(rng.IntN(4000) - 2000)
		}
		whole := start(t, in, out).Append(nil, pcm)
		for range 20 {
			r := start(t, in, out)
			var got []int16
			for rest := pcm; len(rest) > 0; {
				n := min(rng.IntN(1+rng.IntN(in/10)), len(rest))
				got = r.Append(got, rest[:n])
				rest = rest[n:]
			}
			if !slices.Equal(got, whole) {
				t.Fatal("chunks give other samples than one piece")
			}
		}
	})
}

// 20 ms in are 20 ms out, from the first chunk on: nothing is held back to come in a lump.
func TestEveryFrameGivesAWholeFrame(t *testing.T) {
	forPairs(t, func(t *testing.T, in, out int) {
		r := start(t, in, out)
		chunk := tone(in/50, in, 300, 1000)
		for i := range 200 {
			if n := len(r.Append(nil, chunk)); n != out/50 {
				t.Fatalf("frame %d has %d samples, want %d", i, n, out/50)
			}
		}
	})
}

func TestDelayIsWhatItSays(t *testing.T) {
	forPairs(t, func(t *testing.T, in, out int) {
		r := start(t, in, out)
		click := make([]int16, in/2)
		click[in/4] = 20000
		got := r.Append(nil, click)
		top := 0
		for i, v := range got {
			if v > got[top] {
				top = i
			}
		}
		late := time.Duration(top)*time.Second/time.Duration(out) - 250*time.Millisecond
		if d := late - r.Delay(); d.Abs() > time.Second/time.Duration(min(in, out)) {
			t.Errorf("the click is %v late, Delay says %v", late, r.Delay())
		}
		if r.Delay() > 5*time.Millisecond {
			t.Errorf("a delay of %v", r.Delay())
		}
	})
}

func TestFlushBringsTheRestAndResetForgets(t *testing.T) {
	r := start(t, 24000, 8000)
	short := tone(240, 24000, 1000, 8000) // 10 ms, of which 5 stay inside
	got := r.Flush(r.Append(nil, short))
	if want := (240 + r.delay) / 3; len(got) < want || len(got) > want+1 {
		t.Fatalf("%d samples, want %d", len(got), want)
	}
	r.Append(nil, tone(2400, 24000, 1000, 8000))
	r.Reset()
	if after := r.Append(nil, make([]int16, 2400)); slices.Max(after) != 0 || slices.Min(after) != 0 {
		t.Error("something of the past came out after Reset")
	}
	if again := r.Flush(start(t, 24000, 8000).Append(nil, nil)); len(again) == 0 {
		t.Error("Flush gave nothing")
	}
}

func TestEqualRatesPassThrough(t *testing.T) {
	r := start(t, 24000, 24000)
	pcm := tone(100, 24000, 300, 1000)
	if got := r.Flush(r.Append(nil, pcm)); !slices.Equal(got, pcm) || r.Delay() != 0 {
		t.Error("equal rates changed something")
	}
}

func TestBadRatesAreRefused(t *testing.T) {
	for _, p := range [][2]int{{0, 8000}, {8000, 0}, {-1, 8000}, {8000, 400000}} {
		if _, err := New(p[0], p[1]); !errors.Is(err, ErrRate) {
			t.Errorf("%v: %v", p, err)
		}
	}
}

func TestConversionAllocatesNothing(t *testing.T) {
	r := start(t, 24000, 8000)
	chunk, out := tone(480, 24000, 300, 1000), make([]int16, 0, 1024)
	if a := testing.AllocsPerRun(200, func() { out = r.Append(out[:0], chunk) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// BenchmarkAppend converts 20 ms and prints what doc.go quotes.
func BenchmarkAppend(b *testing.B) {
	for _, p := range pairs {
		in, out := p[0], p[1]
		b.Run(fmt.Sprintf("%dto%d", in, out), func(b *testing.B) {
			r := start(b, in, out)
			chunk, buf := tone(in/50, in, 300, 8000), make([]int16, 0, 2048)
			b.ReportAllocs()
			for b.Loop() {
				buf = r.Append(buf[:0], chunk)
			}
			edge := 0.85 * float64(min(in, out)) / 2
			a, snr, _ := measure(steady(b, in, out, edge, 16000), out, edge)
			b.ReportMetric(20*math.Log10(a/16000), "dB_at_0.85")
			b.ReportMetric(snr, "snr_dB")
			if out < in {
				_, _, power := measure(steady(b, in, out, 1.08*float64(out)/2, 16000), out, 100)
				b.ReportMetric(10*math.Log10(max(power, 1e-3)/(16000*16000/2)), "alias_dB")
			}
			b.ReportMetric(r.Delay().Seconds()*1000, "delay_ms")
		})
	}
}

// A converter whose last use is the call itself: the collector, which runs all the while, must leave its state alone.
func TestTheLastCallOfAConverterIsSafe(t *testing.T) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	src := make([]int16, 24000)
	for i := range 200 {
		r, err := New(16000, 24000)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(r.Append(nil, src)); n != 36000 {
			t.Fatalf("run %d gave %d samples", i, n)
		}
	}
	close(stop)
	<-done
}
