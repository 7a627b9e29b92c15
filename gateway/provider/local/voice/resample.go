package voice

import (
	"math"
	"sync"
)

// Resample changes the rate of a whole mono recording with a windowed sinc, polyphase, 32 taps a phase; the pass band is
// flat to 0.9 of the lower Nyquist rate. It is exact enough for synthesized speech, which is all this package makes.
func Resample(in []int16, from, to int) []int16 {
	if from == to || len(in) == 0 {
		return in
	}
	p := filterFor(from, to)
	n := int(int64(len(in)) * int64(p.up) / int64(p.down))
	out := make([]int16, n)
	for i := range out {
		at := i * p.down
		phase, centre := at%p.up, at/p.up
		sum := 0.0
		for k, c := range p.phases[phase] {
			if j := centre + k - taps/2 + 1; j >= 0 && j < len(in) {
				sum += c * float64(in[j])
			}
		}
		out[i] = int16(max(-32768, min(32767, math.Round(sum))))
	}
	return out
}

const taps = 32

type polyphase struct {
	up, down int
	phases   [][taps]float64
}

var (
	filtersMu sync.Mutex // guards filters
	filters   = map[[2]int]*polyphase{}
)

func filterFor(from, to int) *polyphase {
	filtersMu.Lock()
	defer filtersMu.Unlock()
	if p := filters[[2]int{from, to}]; p != nil {
		return p
	}
	g := gcd(from, to)
	p := &polyphase{up: to / g, down: from / g}
	cut := 0.95 * math.Min(1, float64(to)/float64(from))
	p.phases = make([][taps]float64, p.up)
	for phase := range p.phases {
		total := 0.0
		for k := range taps {
			x := float64(k-taps/2+1) - float64(phase)/float64(p.up)
			w := 0.5 + 0.5*math.Cos(math.Pi*x/(taps/2)) // Hann, zero at the ends
			if math.Abs(x) >= taps/2 {
				w = 0
			}
			p.phases[phase][k] = cut * sinc(cut*x) * w
			total += p.phases[phase][k]
		}
		for k := range taps {
			p.phases[phase][k] /= total
		}
	}
	filters[[2]int{from, to}] = p
	return p
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
