package silero

import "math"

// panelRows is the number of rows that the kernels compute together: two vectors of eight floats.
const panelRows = 16

// noFloor is the floor that lets every sum through; 0 makes a ReLU.
var noFloor = float32(math.Inf(-1))

// kernels are where all the time goes. The products leave y alone beyond what they compute.
type kernels struct {
	// mul4 multiplies l with four columns at once: y[t*ys+r] = max(floor, bias[r] + Σ l[r][c]·x[t*xs+c]), t = 0..3.
	// Columns may overlap (frames of one signal) or be different streams'.
	mul4 func(l *layer, x []float32, xs int, y []float32, ys int, floor float32)
	// mul1 multiplies l, whose rows are a multiple of 64, with one column.
	mul1 func(l *layer, x, y []float32, floor float32)
	// exp replaces every x, a multiple of eight of them, by e to the x, clamped as exp does it.
	exp func(x []float32)
}

// portable are the kernels in plain Go.
var portable = kernels{mul4: mul4Go, mul1: mul1Go, exp: expGo}

func mul4Go(l *layer, x []float32, xs int, y []float32, ys int, floor float32) {
	for t := range 4 {
		mul1Go(l, x[t*xs:], y[t*ys:], floor)
	}
}

func mul1Go(l *layer, x, y []float32, floor float32) {
	x = x[:l.cols]
	y = y[:len(l.bias)]
	for r := 0; r < len(y); r += 8 {
		w := l.w[r/panelRows*l.cols*panelRows+r%panelRows:]
		b := l.bias[r : r+8]
		s0, s1, s2, s3, s4, s5, s6, s7 := b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
		for c, v := range x {
			p := w[c*panelRows : c*panelRows+8 : c*panelRows+8]
			s0 += p[0] * v
			s1 += p[1] * v
			s2 += p[2] * v
			s3 += p[3] * v
			s4 += p[4] * v
			s5 += p[5] * v
			s6 += p[6] * v
			s7 += p[7] * v
		}
		o := y[r : r+8]
		o[0], o[1], o[2], o[3] = max(s0, floor), max(s1, floor), max(s2, floor), max(s3, floor)
		o[4], o[5], o[6], o[7] = max(s4, floor), max(s5, floor), max(s6, floor), max(s7, floor)
	}
}

func expGo(x []float32) {
	for i, v := range x {
		x[i] = exp(v)
	}
}
