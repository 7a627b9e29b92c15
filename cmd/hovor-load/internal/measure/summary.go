package measure

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Summary is what is printed and written of one metric, in the metric's own unit.
type Summary struct {
	Count int     `json:"count"`
	Min   float64 `json:"min"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Distribution is anything that knows its quantiles.
type Distribution interface {
	Count() int
	Mean() float64
	// Quantile gives the value below or at which the share q (0..1) of all samples lies: nearest rank, never interpolated,
	// so every figure printed is one that really happened. 0 samples give NaN.
	Quantile(q float64) float64
}

// Summarize reads the usual figures of d. Without samples all are zero.
func Summarize(d Distribution) Summary {
	if d.Count() == 0 {
		return Summary{}
	}
	return Summary{
		Count: d.Count(), Min: d.Quantile(0), Mean: round(d.Mean()), P50: d.Quantile(0.50), P90: d.Quantile(0.90),
		P95: d.Quantile(0.95), P99: d.Quantile(0.99), Max: d.Quantile(1),
	}
}

// round keeps a thousandth: a microsecond of a millisecond metric.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// Series keeps every sample. It is for things that happen once per turn or per session, not per packet. The zero value is ready.
type Series struct {
	mu     sync.Mutex
	values []float64
	sorted bool
}

// Add takes one sample.
func (s *Series) Add(v float64) {
	s.mu.Lock()
	s.values, s.sorted = append(s.values, round(v)), false
	s.mu.Unlock()
}

// AddDuration takes one sample in milliseconds.
func (s *Series) AddDuration(d time.Duration) { s.Add(float64(d) / float64(time.Millisecond)) }

// Count is the number of samples.
func (s *Series) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values)
}

// Mean is the arithmetic mean, NaN without samples.
func (s *Series) Mean() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum float64
	for _, v := range s.values {
		sum += v
	}
	return sum / float64(len(s.values))
}

// Quantile implements Distribution.
func (s *Series) Quantile(q float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.values) == 0 {
		return math.NaN()
	}
	if !s.sorted {
		slices.Sort(s.values)
		s.sorted = true
	}
	return s.values[rank(q, len(s.values))-1]
}

// Values are all samples in ascending order, a copy.
func (s *Series) Values() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := slices.Clone(s.values)
	slices.Sort(v)
	return v
}

// rank is the nearest rank of q among n samples, 1..n.
func rank(q float64, n int) int {
	// The product of a decimal fraction is a hair above or below the whole number it means: 0.95*100 must be rank 95.
	r := int(math.Ceil(q*float64(n) - 1e-9))
	return min(max(r, 1), n)
}
