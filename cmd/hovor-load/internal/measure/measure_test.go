package measure

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestPercentilesAreNearestRank(t *testing.T) {
	var s Series
	for i := 100; i >= 1; i-- {
		s.Add(float64(i))
	}
	got := Summarize(&s)
	want := Summary{Count: 100, Min: 1, Mean: 50.5, P50: 50, P90: 90, P95: 95, P99: 99, Max: 100}
	if got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func TestPercentilesOfFewSamples(t *testing.T) {
	var s Series
	if got := Summarize(&s); got != (Summary{}) {
		t.Fatalf("no samples gave %+v", got)
	}
	s.AddDuration(7 * time.Millisecond)
	if got := Summarize(&s); got.P50 != 7 || got.P99 != 7 || got.Min != 7 || got.Max != 7 {
		t.Fatalf("one sample gave %+v", got)
	}
	s.AddDuration(9 * time.Millisecond)
	if got := Summarize(&s); got.P50 != 7 || got.P95 != 9 {
		t.Fatalf("two samples gave %+v", got)
	}
}

func TestHistStaysWithinItsBucketWidth(t *testing.T) {
	var h Hist
	var s Series
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 5000 {
				d := time.Duration(math.Pow(1.0025, float64(i))*10) * time.Microsecond * time.Duration(g+1)
				h.Add(d)
				s.AddDuration(d)
			}
		})
	}
	wg.Wait()
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		exact, got := s.Quantile(q), h.Quantile(q)
		if math.Abs(got-exact) > exact*0.016+0.001 {
			t.Errorf("q %v: %v, exact %v", q, got, exact)
		}
	}
	var total uint64
	for _, b := range h.Buckets() {
		total += b.Count
	}
	if total != 20000 || h.Count() != 20000 {
		t.Fatalf("buckets hold %d of %d", total, h.Count())
	}
	h.Reset()
	if h.Count() != 0 || len(h.Buckets()) != 0 || !math.IsNaN(h.Quantile(0.5)) {
		t.Fatal("reset left something")
	}
}

func TestHistBucketsTile(t *testing.T) {
	for us := range int64(1 << 16) {
		b := bucketOf(us)
		if us > upper(b) || (b > 0 && us <= upper(b-1)) {
			t.Fatalf("%d µs in bucket %d (%d..%d]", us, b, upper(b-1), upper(b))
		}
	}
	var h Hist
	h.Add(-time.Second)
	h.Add(10 * time.Hour)
	if h.Quantile(0) != 0 || h.Quantile(1) != 36e6 {
		t.Fatalf("edges: %v, %v", h.Quantile(0), h.Quantile(1))
	}
}

func TestHistAddAllocatesNothing(t *testing.T) {
	var h Hist
	if n := testing.AllocsPerRun(100, func() { h.Add(time.Millisecond) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

var kinds = map[string]bool{"yield_ms": true, "answer_ms": true, "missed_turns": false}

func TestThresholds(t *testing.T) {
	var s Series
	for i := 1; i <= 1000; i++ {
		s.Add(float64(i))
	}
	dist := map[string]Distribution{"yield_ms": &s, "answer_ms": new(Series)}
	count := map[string]float64{"missed_turns": 2}
	for text, ok := range map[string]bool{
		"yield_ms:p95<951":       true,
		"yield_ms:p95<950":       false,
		"yield_ms:p95<=950":      true,
		" yield_ms : p50 == 500": true,
		"yield_ms:p99.9<1000":    true,
		"yield_ms:max>=1000":     true,
		"yield_ms:min>1":         false,
		"yield_ms:mean<501":      true,
		"yield_ms:count==1000":   true,
		"missed_turns==2":        true,
		"missed_turns<1":         false,
		"answer_ms:p50<1e9":      false, // no samples
		"answer_ms:count==0":     true,
	} {
		th, err := ParseThreshold(text, kinds)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if r := th.Check(dist, count); r.OK != ok {
			t.Errorf("%q: %+v, want ok %v", text, r, ok)
		}
	}
}

func TestThresholdErrorsSayWhatIsRight(t *testing.T) {
	for text, part := range map[string]string{
		"":                      "write it like",
		"yield_ms":              "write it like",
		"yield_ms:p95=450":      "write it like",
		"yield_ms:p95<":         "write it like",
		"yield_ms<450":          "yield_ms:p95<",
		"yeild_ms:p95<450":      "there are answer_ms, missed_turns, yield_ms",
		"yield_ms:p0<450":       "no statistic \"p0\"",
		"yield_ms:p100<450":     "no statistic",
		"yield_ms:median<450":   "no statistic",
		"yield_ms:p95<450ms":    "not a number",
		"yield_ms:p95<NaN":      "not a number",
		"missed_turns:max==0":   "plain number",
		"yield_ms:p95<450 junk": "write it like",
	} {
		if _, err := ParseThreshold(text, kinds); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want %q", text, err, part)
		}
	}
}

func TestTesterKnowsWhenItWasTheBottleneck(t *testing.T) {
	for name, c := range map[string]struct {
		tester    Tester
		reasons   int
		withNotes bool
	}{
		"calm":           {Tester{CPURatio: 0.3, Quota: 2, Lateness: Summary{P99: 1}}, 0, false},
		"at the edge":    {Tester{CPURatio: 0.85, Quota: 2, Lateness: Summary{P99: 10}}, 0, false},
		"cpu":            {Tester{CPURatio: 0.9, Quota: 2, Lateness: Summary{P99: 1}}, 1, false},
		"late":           {Tester{CPURatio: 0.1, Quota: 2, Lateness: Summary{P99: 10.1}}, 1, false},
		"both":           {Tester{CPURatio: 0.99, Quota: 2, Lateness: Summary{P99: 40}}, 2, false},
		"only host busy": {Tester{CPURatio: 0.2, Quota: 2, HostBusy: 0.99}, 0, true},
	} {
		c.tester.Judge()
		if len(c.tester.Bottleneck) != c.reasons || (len(c.tester.Notes) > 0) != c.withNotes {
			t.Errorf("%s: %+v", name, c.tester)
		}
	}
}
