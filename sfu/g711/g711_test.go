package g711

import (
	"math"
	"testing"
)

// steps are the decoded magnitudes as the recommendation's formulas give them, in 16-bit units.
func steps(l Law) (magnitudes [128]float64) {
	for segment := range 8 {
		for step := range 16 {
			x, s := float64(segment), float64(step)
			m := 4 * ((33+2*s)*math.Pow(2, x) - 33) // µ-law, 14 bits
			if l == ALaw {
				m = 8 * (2*s + 1) // A-law, 13 bits
				if segment > 0 {
					m = 8 * (2*s + 33) * math.Pow(2, x-1)
				}
			}
			magnitudes[segment<<4|step] = m
		}
	}
	return magnitudes
}

func TestEveryOctetDecodesAsTheFormulaSays(t *testing.T) {
	for l, octet := range map[Law]func(negative bool, i int) byte{
		MuLaw: func(negative bool, i int) byte {
			if negative {
				return ^(0x80 | byte(i))
			}
			return ^byte(i)
		},
		ALaw: func(negative bool, i int) byte {
			if negative {
				return byte(i) ^ 0x55
			}
			return byte(i) ^ 0xd5
		},
	} {
		for i, want := range steps(l) {
			for _, negative := range []bool{false, true} {
				sign := 1.0
				if negative {
					sign = -1
				}
				var got [1]int16
				l.Decode(got[:], []byte{octet(negative, i)})
				if float64(got[0]) != sign*want {
					t.Errorf("law %d octet %#02x is %d, want %v", l, octet(negative, i), got[0], sign*want)
				}
			}
		}
	}
}

func TestKnownOctets(t *testing.T) {
	for _, c := range []struct {
		pcm   int16
		mu, a byte
	}{
		{0, 0xff, 0xd5}, {32767, 0x80, 0xaa}, {-32768, 0x00, 0x2a}, {1000, 0xce, 0xfa}, {-1000, 0x4e, 0x7a},
		{8, 0xfe, 0xd5}, {-8, 0x7e, 0x55}, {100, 0xf2, 0xd3}, {12345, 0x97, 0xbd}, {-12345, 0x17, 0x3d},
	} {
		var b [1]byte
		if MuLaw.Encode(b[:], []int16{c.pcm}); b[0] != c.mu {
			t.Errorf("µ-law of %d is %#02x, want %#02x", c.pcm, b[0], c.mu)
		}
		if ALaw.Encode(b[:], []int16{c.pcm}); b[0] != c.a {
			t.Errorf("A-law of %d is %#02x, want %#02x", c.pcm, b[0], c.a)
		}
	}
	if MuLaw.Silence() != 0xff || ALaw.Silence() != 0xd5 {
		t.Error("silence has another octet")
	}
}

// A sample lies within half a step of what it is coded as; only the last step of µ-law reaches further.
func TestEverySampleIsCodedWithinHalfAStep(t *testing.T) {
	for _, l := range []Law{MuLaw, ALaw} {
		m := steps(l)
		for v := math.MinInt16; v <= math.MaxInt16; v++ {
			var b [1]byte
			var back [1]int16
			l.Encode(b[:], []int16{int16(v)})
			l.Decode(back[:], b[:])
			i := int(^b[0] & 0x7f)
			if l == ALaw {
				i = int((b[0] ^ 0x55) & 0x7f)
			}
			if m[i] != math.Abs(float64(back[0])) {
				t.Fatalf("law %d: %d has octet %#02x, which is %d", l, v, b[0], back[0])
			}
			half := (m[i|1] - m[i&^1]) / 2
			if e := math.Abs(float64(v) - float64(back[0])); e > half && math.Abs(float64(v)) < muClip {
				t.Fatalf("law %d: %d comes back as %d", l, v, back[0])
			}
		}
	}
}

func TestCodingTwiceChangesNothing(t *testing.T) {
	for _, l := range []Law{MuLaw, ALaw} {
		for c := range 256 {
			var pcm [1]int16
			var again [1]byte
			l.Decode(pcm[:], []byte{byte(c)})
			l.Encode(again[:], pcm[:])
			if again[0] != byte(c) && !(l == MuLaw && c == 0x7f) { // µ-law has two zeros
				t.Errorf("law %d: %#02x became %#02x", l, c, again[0])
			}
		}
	}
}

func TestCodingAllocatesNothing(t *testing.T) {
	pcm, data := make([]int16, 160), make([]byte, 160)
	if a := testing.AllocsPerRun(100, func() { MuLaw.Encode(data, pcm); ALaw.Decode(pcm, data) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func BenchmarkEncode20ms(b *testing.B) {
	pcm, data := make([]int16, 160), make([]byte, 160)
	for i := range pcm {
		pcm[i] = int16(i * 199)
	}
	for b.Loop() {
		MuLaw.Encode(data, pcm)
	}
}

func BenchmarkDecode20ms(b *testing.B) {
	pcm, data := make([]int16, 160), make([]byte, 160)
	for b.Loop() {
		MuLaw.Decode(pcm, data)
	}
}
