package measure

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Threshold is a promise about one figure, as written on the command line: metric, then for a distribution a colon and a statistic, then
// a comparison and a number in the metric's own unit. Examples: yield_ms:p95<450, missed_turns==0, loss_ratio:max<=0.01.
type Threshold struct {
	Text   string // as given
	Metric string
	Stat   string // "" for a counter; count, min, mean, max, or p followed by a percentile: p50, p99, p99.9
	Op     string // < <= > >= ==
	Value  float64
}

var thresholdForm = regexp.MustCompile(`^\s*([a-z][a-z0-9_]*)\s*(?::\s*([a-z0-9.]+))?\s*(<=|>=|==|<|>)\s*(\S+)\s*$`)

// ParseThreshold reads one threshold. kinds names every metric and says whether it is a distribution (true) or a counter (false).
// Errors say what is wrong and what would be right.
func ParseThreshold(text string, kinds map[string]bool) (Threshold, error) {
	m := thresholdForm.FindStringSubmatch(text)
	if m == nil {
		return Threshold{}, fmt.Errorf("threshold %q: write it like yield_ms:p95<450 or missed_turns==0", text)
	}
	t := Threshold{Text: strings.TrimSpace(text), Metric: m[1], Stat: m[2], Op: m[3]}
	distribution, known := kinds[t.Metric]
	switch {
	case !known:
		return Threshold{}, fmt.Errorf("threshold %q: no metric %q; there are %s", text, t.Metric, strings.Join(sortedKeys(kinds), ", "))
	case distribution && t.Stat == "":
		return Threshold{}, fmt.Errorf("threshold %q: %s needs a statistic: %[2]s:p95%s…", text, t.Metric, t.Op)
	case !distribution && t.Stat != "":
		return Threshold{}, fmt.Errorf("threshold %q: %s is a plain number; write %[2]s%s…", text, t.Metric, t.Op)
	}
	if t.Stat != "" {
		if _, err := quantileOf(t.Stat); err != nil {
			return Threshold{}, fmt.Errorf("threshold %q: %w", text, err)
		}
	}
	v, err := strconv.ParseFloat(m[4], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return Threshold{}, fmt.Errorf("threshold %q: %q is not a number (no unit: the metric's name has it)", text, m[4])
	}
	t.Value = v
	return t, nil
}

// quantileOf gives the share of a percentile; -1 for the statistics that are none.
func quantileOf(stat string) (float64, error) {
	switch stat {
	case "count", "mean":
		return -1, nil
	case "min":
		return 0, nil
	case "max":
		return 1, nil
	}
	if p, ok := strings.CutPrefix(stat, "p"); ok {
		if v, err := strconv.ParseFloat(p, 64); err == nil && v > 0 && v < 100 {
			return v / 100, nil
		}
	}
	return 0, fmt.Errorf("no statistic %q; there are count, min, mean, max and percentiles such as p50, p95, p99.9", stat)
}

// Result says how a threshold fared.
type Result struct {
	Threshold string  `json:"threshold"`
	Value     float64 `json:"value"`
	OK        bool    `json:"ok"`
	Reason    string  `json:"reason,omitempty"` // why it is broken without a value: no samples
}

// Check compares. A distribution without samples breaks every threshold but one on its count: what was not seen was not kept.
func (t Threshold) Check(distributions map[string]Distribution, counters map[string]float64) Result {
	r := Result{Threshold: t.Text}
	if t.Stat == "" {
		r.Value = counters[t.Metric]
	} else {
		d := distributions[t.Metric]
		n := 0
		if d != nil {
			n = d.Count()
		}
		if n == 0 && t.Stat != "count" {
			r.Reason = "no samples"
			return r
		}
		r.Value = stat(d, n, t.Stat)
	}
	switch t.Op {
	case "<":
		r.OK = r.Value < t.Value
	case "<=":
		r.OK = r.Value <= t.Value
	case ">":
		r.OK = r.Value > t.Value
	case ">=":
		r.OK = r.Value >= t.Value
	case "==":
		r.OK = r.Value == t.Value
	}
	return r
}

func stat(d Distribution, n int, name string) float64 {
	switch name {
	case "count":
		return float64(n)
	case "mean":
		return round(d.Mean())
	}
	q, _ := quantileOf(name) // checked when parsed
	return d.Quantile(q)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
