package silero

import (
	"encoding/binary"
	"os"
	"testing"
)

// The signals of testdata/golden.py, sample for sample.

func speechSignal(t testing.TB) []int16 {
	t.Helper()
	b, err := os.ReadFile("testdata/speech.pcm")
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm
}

func noiseSignal(n int, seed uint32, amplitude int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		seed = seed*1664525 + 1013904223
		pcm[i] = int16(int(seed>>16)*amplitude/32768 - amplitude)
	}
	return pcm
}

func squareSignal(n, period int, amplitude int16) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = amplitude
		if i%period >= period/2 {
			pcm[i] = -amplitude
		}
	}
	return pcm
}

// mixSignal is a quarter of a plus b, rounded down as Python's // does.
func mixSignal(a, b []int16) []int16 {
	pcm := make([]int16, len(b))
	for i := range pcm {
		pcm[i] = a[i]>>2 + b[i]
	}
	return pcm
}
