package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"hovor/cmd/hovor-load/internal/person"
)

// Table prints the document on one screen. b gives the metrics their order and words.
func (d *Document) Table(w io.Writer, b *person.Board) {
	c := d.Counters
	fmt.Fprintf(w, "hovor-load %s  %s, %d cores (quota %.1f)  %.1f s\n\n", d.Build.Version, d.Host.CPU, d.Host.Cores, d.Host.Quota, d.Seconds)
	fmt.Fprintf(w, "%-20s %-30s %7s %9s %9s %9s %9s %9s\n", "metric", "", "count", "p50", "p90", "p95", "p99", "max")
	for _, f := range b.Figures() {
		m := d.Metrics[f.Name]
		if f.Dist == nil || m.Count == 0 {
			continue
		}
		fmt.Fprintf(w, "%-20s %-30s %7d %9s %9s %9s %9s %9s\n", f.Name, f.Help, m.Count, num(m.P50), num(m.P90), num(m.P95), num(m.P99), num(m.Max))
	}
	fmt.Fprintf(w, "\nsessions  %v up, %v failed, %v lost\n", c["sessions_connected"], c["sessions_failed"], c["sessions_dropped"])
	fmt.Fprintf(w, "turns     %v spoken, %v answered, %v missed, %v answered too early\n", c["turns"], c["answered_turns"], c["missed_turns"], c["early_answers"])
	if c["interruptions"] > 0 {
		fmt.Fprintf(w, "yields    %v of %v interruptions; %v never fell silent, %v silent before, %v ended by themselves\n",
			c["yielded"], c["interruptions"], c["not_yielded"], c["silent_at_onset"], c["ended_by_itself"])
	}
	fmt.Fprintf(w, "packets   %.0f sent, %.0f received, %.0f lost, %.0f late, %.0f duplicate, %.0f not Opus, %.0f stalls while speaking\n",
		c["packets_sent"], c["packets_received"], c["packets_lost"], c["packets_late"], c["packets_duplicate"], c["packets_undecodable"], c["stalls"])
	d.gateway(w)
	fmt.Fprintf(w, "tester    %.0f %% of its CPU, packets sent late by p50 %s p99 %s max %s ms%s\n", d.Tester.CPURatio*100,
		num(d.Tester.Lateness.P50), num(d.Tester.Lateness.P99), num(d.Tester.Lateness.Max), busy(d.Tester.HostBusy))
	d.endings(w)
}

func (d *Document) gateway(w io.Writer) {
	if len(d.Gateway) == 0 {
		return
	}
	var parts []string
	for name, v := range d.Gateway {
		parts = append(parts, fmt.Sprintf("%s +%.0f", name, v))
	}
	slices.Sort(parts)
	fmt.Fprintf(w, "gateway   %s\n", strings.Join(parts, "\n          "))
}

// endings are what a reader must not miss: failures, broken promises, and why the figures may be worth nothing.
func (d *Document) endings(w io.Writer) {
	const most = 5
	for i, e := range d.Errors {
		if i == most {
			fmt.Fprintf(w, "error     … and %d more kinds; see --json\n", len(d.Errors)-most)
			break
		}
		fmt.Fprintf(w, "error     %d × %s\n", e.Count, e.Text)
	}
	for _, r := range d.Thresholds {
		word, value := "kept", num(r.Value)
		if !r.OK {
			word = "BROKEN"
		}
		if r.Reason != "" {
			value = r.Reason
		}
		fmt.Fprintf(w, "%-9s %s  (%s)\n", word, r.Threshold, value)
	}
	for _, n := range d.Tester.Notes {
		fmt.Fprintf(w, "note      %s\n", n)
	}
	for _, reason := range d.Tester.Bottleneck {
		fmt.Fprintf(w, "NOT TO BE TRUSTED: %s\n", reason)
	}
}

func busy(share float64) string {
	if share < 0 {
		return ""
	}
	return fmt.Sprintf("; host %.0f %% busy", share*100)
}

// num prints a figure with three or four significant digits.
func num(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
