package silero

import "golang.org/x/sys/cpu"

// bestKernels returns the vector kernels where the processor and the operating system have AVX2 and FMA.
func bestKernels() kernels {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		return kernels{mul4: mul4Vector, mul1: mul1Vector, exp: expVector}
	}
	return portable
}

func mul4Vector(l *layer, x []float32, xs int, y []float32, ys int, floor float32) {
	k := l.cols
	_, _ = x[3*xs+k-1], y[3*ys+len(l.bias)-1]
	for r := 0; r < len(l.bias); r += panelRows {
		w := l.w[r*k : (r+panelRows)*k]
		panel4AVX2(&w[0], &x[0], xs, &l.bias[r], &y[r], ys, k, floor)
	}
}

func mul1Vector(l *layer, x, y []float32, floor float32) {
	k := l.cols
	_, _ = x[k-1], y[len(l.bias)-1]
	for r := 0; r < len(l.bias); r += 4 * panelRows {
		w := l.w[r*k : (r+4*panelRows)*k]
		panels1AVX2(&w[0], &x[0], &l.bias[r], &y[r], k, floor)
	}
}

func expVector(x []float32) {
	if len(x) > 0 {
		expAVX2(&x[0], len(x)/8)
	}
}

// panel4AVX2 multiplies one panel (16 rows, k columns) with four columns xs floats apart, k >= 1.
//
//go:noescape
func panel4AVX2(w, x *float32, xs int, bias, y *float32, ys, k int, floor float32)

// panels1AVX2 multiplies four consecutive panels (64 rows, k columns each) with one column, k >= 1.
//
//go:noescape
func panels1AVX2(w, x, bias, y *float32, k int, floor float32)

// expAVX2 replaces 8n floats by their exponentials, n >= 1. See exp.
//
//go:noescape
func expAVX2(x *float32, n int)
