package opus

import (
	"errors"
	"math"
	"testing"
	"time"
)

// tone is n samples of a sine at the rate.
func tone(n, rate int, hz float64) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return pcm
}

func rms(pcm []int16) float64 {
	sum := 0.0
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(pcm)))
}

func TestDuration(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		packet []byte
		want   time.Duration
	}{
		{nil, 0},
		{[]byte{0x00}, 10 * ms},           // SILK NB 10 ms, one frame
		{[]byte{0x08}, 20 * ms},           // SILK NB 20 ms
		{[]byte{0x18}, 60 * ms},           // SILK NB 60 ms
		{[]byte{0x78}, 20 * ms},           // hybrid FB 20 ms
		{[]byte{0x70}, 10 * ms},           // hybrid FB 10 ms
		{[]byte{0x80}, 2500 * 1000},       // CELT NB 2.5 ms
		{[]byte{0xf8}, 20 * ms},           // CELT FB 20 ms
		{[]byte{0xf9}, 40 * ms},           // two frames
		{[]byte{0xfb}, 0},                 // frame count missing
		{[]byte{0xfb, 3}, 60 * ms},        // three frames
		{[]byte{0x1b, 0x3f}, 0},           // 63 frames of 60 ms: more than 120 ms
		{[]byte{0x0b, 0x86, 1}, 120 * ms}, // six frames, VBR and padding bits set
	} {
		if got := Duration(c.packet); got != c.want {
			t.Errorf("Duration(%x) = %v, want %v", c.packet, got, c.want)
		}
	}
}

func TestDecodesStraightToTheRateAskedFor(t *testing.T) {
	enc, err := NewEncoder(EncoderConfig{Complexity: 5, Bitrate: 32000})
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		dec, err := NewDecoder(rate)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, MaxPacket)
		pcm := make([]int16, rate*120/1000)
		var n int
		for i := range 20 {
			size, err := enc.Encode(tone(960*20, 48000, 440)[960*i:960*(i+1)], out)
			if err != nil {
				t.Fatal(err)
			}
			if d := Duration(out[:size]); d != 20*time.Millisecond {
				t.Fatalf("the packet says %v", d)
			}
			if n, err = dec.Decode(out[:size], pcm); err != nil {
				t.Fatal(err)
			}
		}
		if n != rate/50 {
			t.Errorf("at %d Hz a frame has %d samples", rate, n)
		}
		if level := rms(pcm[:n]); level < 4500 || level > 6500 {
			t.Errorf("at %d Hz the tone's level is %.0f", rate, level)
		}
	}
}

func TestLossIsConcealedAndRecovered(t *testing.T) {
	enc, err := NewEncoder(EncoderConfig{SampleRate: 16000, Complexity: 5, Bitrate: 24000, FEC: true, LossPercent: 20})
	if err != nil {
		t.Fatal(err)
	}
	dec, _ := NewDecoder(16000)
	voice := tone(320*50, 16000, 220)
	packets := make([][]byte, 50)
	for i := range packets {
		out := make([]byte, MaxPacket)
		n, err := enc.Encode(voice[320*i:320*(i+1)], out)
		if err != nil {
			t.Fatal(err)
		}
		packets[i] = out[:n]
	}
	pcm := make([]int16, 1920)
	for _, p := range packets[:20] {
		if _, err := dec.Decode(p, pcm); err != nil {
			t.Fatal(err)
		}
	}
	if err := dec.DecodeFEC(packets[21], pcm[:320]); err != nil || rms(pcm[:320]) < 2000 {
		t.Errorf("FEC: %v, level %.0f", err, rms(pcm[:320]))
	}
	if _, err := dec.Decode(packets[21], pcm); err != nil {
		t.Fatal(err)
	}
	if err := dec.Conceal(pcm[:320]); err != nil || rms(pcm[:320]) < 1000 {
		t.Errorf("concealment: %v, level %.0f", err, rms(pcm[:320]))
	}
}

func TestWhatIsRefused(t *testing.T) {
	if _, err := NewDecoder(44100); !errors.Is(err, ErrConfig) {
		t.Errorf("44100 Hz: %v", err)
	}
	if _, err := NewEncoder(EncoderConfig{SampleRate: 11025}); !errors.Is(err, ErrConfig) {
		t.Errorf("11025 Hz: %v", err)
	}
	if _, err := NewEncoder(EncoderConfig{Complexity: 11}); !errors.Is(err, ErrConfig) {
		t.Errorf("complexity 11: %v", err)
	}
	enc, _ := NewEncoder(EncoderConfig{})
	if _, err := enc.Encode(make([]int16, 100), make([]byte, MaxPacket)); !errors.Is(err, ErrBuffer) {
		t.Errorf("100 samples: %v", err)
	}
	dec, _ := NewDecoder(16000)
	for _, p := range [][]byte{nil, {0xff}, {0x0b, 0}} {
		if _, err := dec.Decode(p, make([]int16, 1920)); !errors.Is(err, ErrPacket) {
			t.Errorf("packet %x: %v", p, err)
		}
	}
	if err := dec.Conceal(nil); !errors.Is(err, ErrBuffer) {
		t.Errorf("concealment of nothing: %v", err)
	}
}

func TestCodingAllocatesNothing(t *testing.T) {
	enc, _ := NewEncoder(EncoderConfig{SampleRate: 16000})
	dec, _ := NewDecoder(16000)
	voice, out, pcm := tone(320, 16000, 220), make([]byte, MaxPacket), make([]int16, 1920)
	n, err := enc.Encode(voice, out)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"Encode":    func() { _, _ = enc.Encode(voice, out[n:]) },
		"Decode":    func() { _, _ = dec.Decode(out[:n], pcm) },
		"DecodeFEC": func() { _ = dec.DecodeFEC(out[:n], pcm[:320]) },
		"Conceal":   func() { _ = dec.Conceal(pcm[:320]) },
	} {
		if a := testing.AllocsPerRun(200, f); a != 0 {
			t.Errorf("%s: %v allocations", name, a)
		}
	}
}

func BenchmarkDecode16k(b *testing.B) {
	enc, _ := NewEncoder(EncoderConfig{Complexity: 5})
	dec, _ := NewDecoder(16000)
	out, pcm := make([]byte, MaxPacket), make([]int16, 1920)
	n, _ := enc.Encode(tone(960, 48000, 220), out)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = dec.Decode(out[:n], pcm)
	}
}

func BenchmarkEncode24k(b *testing.B) {
	enc, _ := NewEncoder(EncoderConfig{SampleRate: 24000, Complexity: 5})
	voice, out := tone(480, 24000, 220), make([]byte, MaxPacket)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = enc.Encode(voice, out)
	}
}
