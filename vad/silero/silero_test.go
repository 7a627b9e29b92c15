package silero

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const repository = "../../"

// model loads the weights, or skips: they are not part of the repository.
func model(t testing.TB) *Model {
	t.Helper()
	m, err := Load(repository + DefaultPath)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// both runs f with the vector kernels (where there are any) and with the portable ones.
func both(t *testing.T, f func(t *testing.T, m *Model)) {
	m := model(t)
	t.Run("best", func(t *testing.T) { f(t, m) })
	t.Run("portable", func(t *testing.T) { f(t, &Model{net: m.net, kern: portable}) })
}

func listen(s *Stream, pcm []int16) []float32 {
	var out []float32
	for ; len(pcm) >= Window; pcm = pcm[Window:] {
		out = append(out, s.Probability(pcm[:Window]))
	}
	return out
}

func TestEqualsONNXRuntime(t *testing.T) {
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Probabilities map[string][]float32 }
	if err := json.Unmarshal(b, &golden); err != nil {
		t.Fatal(err)
	}
	const n = 40 * Window
	speech := speechSignal(t)
	signals := map[string][]int16{
		"speech":          speech,
		"silence":         make([]int16, n),
		"noise":           noiseSignal(n, 1, 3000),
		"full-scale":      squareSignal(n, 100, 32767),
		"speech in noise": mixSignal(speech[:n], noiseSignal(n, 1, 400)),
	}
	if len(golden.Probabilities) != len(signals) {
		t.Fatalf("golden.json holds %d signals, want %d", len(golden.Probabilities), len(signals))
	}
	both(t, func(t *testing.T, m *Model) {
		s := m.Stream()
		for name, want := range golden.Probabilities {
			s.Reset()
			compare(t, name, listen(s, signals[name]), want, 1e-4)
		}
	})
}

// TestEqualsONNXRuntimeLive compares on audio that no golden file has seen.
func TestEqualsONNXRuntimeLive(t *testing.T) {
	python := os.Getenv("HOVOR_ORT_PYTHON")
	if python == "" {
		t.Skip("set HOVOR_ORT_PYTHON to a python with onnxruntime and numpy to compare live")
	}
	m := model(t)
	speech := speechSignal(t)
	for seed := range uint32(4) {
		pcm := mixSignal(speech, noiseSignal(len(speech), 77+seed, 50<<(2*seed)))
		var in bytes.Buffer
		if err := binary.Write(&in, binary.LittleEndian, pcm); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), python, "testdata/golden.py", "live", repository+DefaultPath)
		cmd.Stdin, cmd.Stderr = &in, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", python, err)
		}
		var want []float32
		for line := range strings.Lines(string(out)) {
			var p float32
			if _, err := fmt.Sscan(line, &p); err != nil {
				t.Fatal(err)
			}
			want = append(want, p)
		}
		compare(t, fmt.Sprintf("speech in noise %d", seed), listen(m.Stream(), pcm), want, 1e-4)
	}
}

func compare(t *testing.T, name string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d windows, want %d", name, len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= tolerance) {
			t.Fatalf("%s: window %d: %v, want %v", name, i, got[i], want[i])
		} else if d > worst {
			worst = d
		}
	}
	t.Logf("%s: %d windows, largest difference %.1e", name, len(got), worst)
}

func TestVectorKernelsEqualPortableOnes(t *testing.T) {
	m := model(t)
	speech := speechSignal(t)
	fast, plain := m.Stream(), (&Model{net: m.net, kern: portable}).Stream()
	for ; len(speech) >= Window; speech = speech[Window:] {
		a, b := fast.Probability(speech[:Window]), plain.Probability(speech[:Window])
		if math.Abs(float64(a-b)) > 1e-5 {
			t.Fatalf("vector %v, portable %v", a, b)
		}
		for i := range fast.xh {
			if math.Abs(float64(fast.xh[i]-plain.xh[i])) > 1e-5 {
				t.Fatalf("state %d: vector %v, portable %v", i, fast.xh[i], plain.xh[i])
			}
		}
	}
}

func TestKernelsOnEveryShape(t *testing.T) {
	random := uint32(1)
	next := func() float32 {
		random = random*1664525 + 1013904223
		return float32(int32(random)) / (1 << 31)
	}
	vector := bestKernels()
	for _, rows := range []int{64, 128, 512} {
		for _, cols := range []int{1, 2, 64, 129, 387} {
			l := newLayer(rows, cols, func(int, int) float32 { return next() }, func(int) float32 { return next() })
			x := make([]float32, 3*cols+cols)
			for i := range x {
				x[i] = next()
			}
			for _, floor := range []float32{noFloor, 0} {
				want, got := make([]float32, 4*rows), make([]float32, 4*rows+1)
				portable.mul4(&l, x, cols, want, rows, floor)
				vector.mul4(&l, x, cols, got, rows, floor)
				compare(t, fmt.Sprintf("mul4 %dx%d", rows, cols), got[:4*rows], want, 1e-5*float64(cols))
				clear(got)
				vector.mul1(&l, x, got, floor)
				compare(t, fmt.Sprintf("mul1 %dx%d", rows, cols), got[:rows], want[:rows], 1e-5*float64(cols))
				if got[rows] != 0 {
					t.Fatalf("mul1 %dx%d wrote beyond its rows", rows, cols)
				}
			}
		}
	}
}

func TestExp(t *testing.T) {
	var x []float32
	for v := float32(-90); v < 90; v += 0.0137 {
		x = append(x, v)
	}
	x = append(x, float32(math.Inf(-1)), -1000, 0, 1000, float32(math.Inf(1)))
	x = append(x, make([]float32, 8-len(x)%8)...)
	for _, k := range []kernels{portable, bestKernels()} {
		got := slices.Clone(x)
		k.exp(got)
		for i, v := range x {
			want := math.Exp(float64(min(max(v, -87), 87)))
			if g := float64(got[i]); math.Abs(g-want) > 5e-7*want {
				t.Fatalf("exp(%v) = %v, want %v", v, g, want)
			}
		}
	}
}

// The last 64 samples of a window are heard again before the next one: without them the answers are others.
func TestContextIsCarried(t *testing.T) {
	both(t, func(t *testing.T, m *Model) {
		s := m.Stream()
		speech := speechSignal(t)
		with := listen(s, speech)
		s.Reset()
		worst := float32(0)
		for i, p := range with {
			clear(s.context[:])
			q := s.Probability(speech[i*Window : (i+1)*Window])
			worst = max(worst, p-q, q-p)
		}
		if worst < 0.05 {
			t.Errorf("probabilities without context differ by %v only", worst)
		}
	})
}

func TestStreamsDoNotDisturbEachOther(t *testing.T) {
	m := model(t)
	speech := speechSignal(t)
	alone := listen(m.Stream(), speech)
	a, b := m.Stream(), m.Stream()
	noise := noiseSignal(len(speech), 5, 2000)
	for i := range alone {
		p := a.Probability(speech[i*Window : (i+1)*Window])
		b.Probability(noise[i*Window : (i+1)*Window])
		if p != alone[i] {
			t.Fatalf("window %d: %v beside another stream, %v alone", i, p, alone[i])
		}
	}
	b.Reset()
	compare(t, "after reset", listen(b, speech), alone, 0)
}

func TestNoAllocation(t *testing.T) {
	m := model(t)
	s := m.Stream()
	window := speechSignal(t)[:Window]
	if n := testing.AllocsPerRun(100, func() { s.Probability(window) }); n != 0 {
		t.Errorf("%v allocations per window", n)
	}
}

func TestLoadSaysWhatToDo(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.onnx"))
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "make models") {
		t.Errorf("missing file: %v", err)
	}
	short := filepath.Join(t.TempDir(), "short.onnx")
	if err := os.WriteFile(short, []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Load(short)
	if !errors.Is(err, ErrChecksum) || !strings.Contains(err.Error(), "make models") {
		t.Errorf("wrong file: %v", err)
	}
	for _, err := range []error{ErrMissing, ErrChecksum} {
		if strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("more than one line: %v", err)
		}
	}
}

func TestReaderNeverPanics(t *testing.T) {
	b, err := os.ReadFile(repository + DefaultPath)
	if err != nil {
		t.Skip(ErrMissing)
	}
	for n := 0; n < len(b); n += 9973 {
		tensors, err := readInitialisers(b[:n])
		if err == nil {
			_, err = newNetwork(tensors)
		}
		if !errors.Is(err, ErrFormat) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
}

func FuzzReadInitialisers(f *testing.F) {
	f.Add([]byte{0x3a, 0x0c, 0x2a, 0x0a, 0x08, 1, 0x10, 1, 0x42, 0, 0x4a, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := readInitialisers(b); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
	})
}

// BenchmarkWindow is the cost of one window of one stream, and of one window each of 32 streams in turn.
func BenchmarkWindow(b *testing.B) {
	m := model(b)
	speech := speechSignal(b)
	for _, c := range []struct {
		name    string
		m       *Model
		streams int
	}{
		{"streams=1", m, 1},
		{"streams=32", m, 32},
		{"streams=1/portable", &Model{net: m.net, kern: portable}, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			streams := make([]*Stream, c.streams)
			for i := range streams {
				streams[i] = c.m.Stream()
			}
			windows := len(speech) / Window
			i := 0
			for b.Loop() {
				w := i % windows * Window
				for _, s := range streams {
					s.Probability(speech[w : w+Window])
				}
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*c.streams), "µs/window")
		})
	}
}
