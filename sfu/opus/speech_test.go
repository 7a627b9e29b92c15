package opus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// speech is a synthetic voice: a gliding pitch with formant-like harmonics in syllables of 200 ms, 100 ms apart.
func speech(n, rate int) []int16 {
	pcm := make([]int16, n)
	phase := 0.0
	for i := range pcm {
		at := float64(i) / float64(rate)
		phase += 2 * math.Pi * (130 + 30*math.Sin(2*math.Pi*0.7*at)) / float64(rate)
		syllable := math.Max(0, math.Sin(2*math.Pi*at/0.6))
		sum := 0.0
		for k := 1.0; k <= 20 && k*160 < float64(rate)/2; k++ {
			formant := math.Exp(-math.Pow((k*130-500)/300, 2)) + 0.4*math.Exp(-math.Pow((k*130-1500)/300, 2)) + 0.1*math.Exp(-math.Pow((k*130-2500)/400, 2))
			sum += formant * math.Sin(k*phase+k*k)
		}
		pcm[i] = int16(4000 * syllable * sum)
	}
	return pcm
}

// encodeAll is pcm in packets of 20 ms.
func encodeAll(t testing.TB, c EncoderConfig, pcm []int16) [][]byte {
	t.Helper()
	enc, err := NewEncoder(c)
	if err != nil {
		t.Fatal(err)
	}
	frame := c.SampleRate / 50
	var packets [][]byte
	for i := 0; i+frame <= len(pcm); i += frame {
		out := make([]byte, MaxPacket)
		n, err := enc.Encode(pcm[i:i+frame], out)
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, out[:n])
	}
	return packets
}

// likeness is the signal to noise ratio in dB of got against want at the shift (in samples) that fits best.
func likeness(got, want []int16, maxShift int) (db float64, shift int) {
	db = math.Inf(-1)
	for s := range maxShift {
		n := min(len(want), len(got)-s)
		var cross, ee, ww float64
		for i := range n {
			g, w := float64(got[i+s]), float64(want[i])
			cross += g * w
			ee += g * g
			ww += w * w
		}
		// The best gain is allowed: a codec's level is not its quality.
		rest := math.Max(ee-cross*cross/ww, 1e-9)
		if d := 10 * math.Log10(cross*cross/ww/rest); d > db {
			db, shift = d, s
		}
	}
	return db, shift
}

func TestAToneSurvivesTheRoundTrip(t *testing.T) {
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		pcm := tone(2*rate, rate, 440)
		dec, err := NewDecoder(rate)
		if err != nil {
			t.Fatal(err)
		}
		var got []int16
		frame := make([]int16, rate*120/1000)
		for _, p := range encodeAll(t, EncoderConfig{SampleRate: rate, Complexity: 5}, pcm) {
			n, err := dec.Decode(p, frame)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, frame[:n]...)
		}
		db, shift := likeness(got[rate/2:rate], pcm[rate/2:rate-rate/50], rate/440+1)
		if db < 20 {
			t.Errorf("at %d Hz the tone comes back with %.1f dB (shift %d)", rate, db, shift)
		}
	}
}

func TestLookaheadIsTheEncodersDelay(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of speech through the codec: not with -short")
	}
	const rate = 48000
	pcm := speech(rate, rate)
	dec, _ := NewDecoder(rate)
	var got []int16
	frame := make([]int16, rate*120/1000)
	for _, p := range encodeAll(t, EncoderConfig{SampleRate: rate, Complexity: 5, Bitrate: 64000}, pcm) {
		n, _ := dec.Decode(p, frame)
		got = append(got, frame[:n]...)
	}
	_, shift := likeness(got, pcm, rate/50)
	if d := time.Duration(shift) * time.Second / rate; (d - Lookahead).Abs() > time.Millisecond {
		t.Errorf("the sound comes %v late, Lookahead says %v", d, Lookahead)
	}
}

func TestRedundancyIsThereWhenLossIsExpected(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of speech through the codec: not with -short")
	}
	const rate = 24000
	pcm := speech(2*rate, rate)
	count := func(c EncoderConfig) (n int) {
		for _, p := range encodeAll(t, c, pcm) {
			if HasFEC(p) {
				n++
			}
		}
		return n
	}
	if n := count(EncoderConfig{SampleRate: rate, Complexity: 5, FEC: true, LossPercent: 10}); n < 40 {
		t.Errorf("%d of 100 packets carry redundancy", n)
	}
	if n := count(EncoderConfig{SampleRate: rate, Complexity: 5, FEC: true}); n != 0 {
		t.Errorf("no loss expected, and %d packets carry redundancy", n)
	}
	if n := count(EncoderConfig{SampleRate: rate, Complexity: 5}); n != 0 {
		t.Errorf("FEC is off, and %d packets carry redundancy", n)
	}
	for _, p := range [][]byte{nil, {0x78}, {0xfc, 0xff, 0xff}, {0x7c, 0xff}, {0x79, 0xff}} {
		if HasFEC(p) {
			t.Errorf("%x has no readable redundancy", p)
		}
	}
}

func TestSilenceCostsNothingWithDTX(t *testing.T) {
	const rate = 24000
	quiet := make([]int16, 2*rate)
	silent := 0
	for _, p := range encodeAll(t, EncoderConfig{SampleRate: rate, Complexity: 5, DTX: true}, quiet) {
		if Silent(p) {
			silent++
		}
	}
	if silent < 80 {
		t.Errorf("%d of 100 silent frames are DTX", silent)
	}
	for _, p := range encodeAll(t, EncoderConfig{SampleRate: rate, Complexity: 5}, speech(rate, rate)) {
		if Silent(p) {
			t.Fatal("DTX is off")
		}
	}
}

// Loss traces: what is heard with concealment must be nearer to the voice than holes are, and nearer still with
// redundancy, which recovers single losses.
func TestLossHurtsLessWithConcealmentAndLeastWithFEC(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of speech through the codec: not with -short")
	}
	const rate, frame = 24000, 480
	pcm := speech(10*rate, rate)
	packets := encodeAll(t, EncoderConfig{SampleRate: rate, Complexity: 5, FEC: true, LossPercent: 20}, pcm)
	for _, trace := range []struct {
		name string
		lost func(rng *rand.Rand, i int) bool
	}{
		{"5 % at random", func(rng *rand.Rand, _ int) bool { return rng.IntN(20) == 0 }},
		{"20 % at random", func(rng *rand.Rand, _ int) bool { return rng.IntN(5) == 0 }},
		{"every tenth", func(_ *rand.Rand, i int) bool { return i%10 == 9 }},
	} {
		result := map[string]float64{}
		for _, mode := range []string{"whole", "silence", "concealed", "recovered"} {
			rng := rand.New(rand.NewPCG(7, 7))
			dec, _ := NewDecoder(rate)
			var got []int16
			buf := make([]int16, rate*120/1000)
			for i, p := range packets {
				lost := mode != "whole" && i > 5 && i < len(packets)-1 && trace.lost(rng, i)
				var n int
				switch {
				case !lost:
					n, _ = dec.Decode(p, buf)
				case mode == "silence":
					n = frame
					clear(buf[:n])
				case mode == "recovered":
					n = frame
					_ = dec.DecodeFEC(packets[i+1], buf[:n])
				default:
					n = frame
					_ = dec.Conceal(buf[:n])
				}
				got = append(got, buf[:n]...)
			}
			// Against the loss-free decoding: only the loss counts.
			result[mode] = segmental(got, packets)
		}
		t.Logf("%-15s silence %.1f dB, concealed %.1f dB, recovered %.1f dB", trace.name, result["silence"], result["concealed"], result["recovered"])
		if result["concealed"] < result["silence"]+0.5 || result["recovered"] < result["concealed"]+2 {
			t.Errorf("%s: silence %.1f dB, concealed %.1f dB, recovered %.1f dB", trace.name, result["silence"], result["concealed"], result["recovered"])
		}
	}
}

// segmental compares with the decoding without loss: signal to difference over all samples, in dB.
func segmental(got []int16, packets [][]byte) float64 {
	dec, _ := NewDecoder(24000)
	buf := make([]int16, 2880)
	var signal, noise float64
	at := 0
	for _, p := range packets {
		n, _ := dec.Decode(p, buf)
		for i := range n {
			d := float64(got[at+i]) - float64(buf[i])
			signal += float64(buf[i]) * float64(buf[i])
			noise += d * d
		}
		at += n
	}
	return 10 * math.Log10(signal/math.Max(noise, 1))
}

func TestKnobsAreChecked(t *testing.T) {
	enc, _ := NewEncoder(EncoderConfig{})
	for i, err := range []error{enc.SetLoss(20), enc.SetBitrate(32000), enc.SetComplexity(3)} {
		if err != nil {
			t.Errorf("setting %d: %v", i, err)
		}
	}
	for i, err := range []error{enc.SetLoss(101), enc.SetComplexity(11)} {
		if err == nil {
			t.Errorf("setting %d was taken", i)
		}
	}
}

// BenchmarkEncode codes 20 ms at the rates and efforts a gateway may choose.
func BenchmarkEncode(b *testing.B) {
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		for _, effort := range []int{0, 5, 10} {
			b.Run(fmt.Sprintf("%dHz/effort%d", rate, effort), func(b *testing.B) {
				enc, _ := NewEncoder(EncoderConfig{SampleRate: rate, Complexity: effort, FEC: true, LossPercent: 5})
				pcm, out := speech(rate, rate), make([]byte, MaxPacket)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					at := i % 50 * rate / 50
					_, _ = enc.Encode(pcm[at:at+rate/50], out)
				}
			})
		}
	}
}

// BenchmarkDecode decodes 20 ms straight to the rate.
func BenchmarkDecode(b *testing.B) {
	packets := encodeAll(b, EncoderConfig{SampleRate: 24000, Complexity: 5}, speech(24000, 24000))
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		b.Run(fmt.Sprintf("%dHz", rate), func(b *testing.B) {
			dec, _ := NewDecoder(rate)
			buf := make([]int16, rate*120/1000)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, _ = dec.Decode(packets[i%50], buf)
			}
		})
	}
}
