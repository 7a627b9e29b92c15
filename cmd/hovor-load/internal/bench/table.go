package bench

import (
	"fmt"
	"io"

	"hovor/cmd/hovor-load/internal/measure"
)

// Table prints the comparison on one screen: medians over the rounds, then what was promised.
func (d *Document) Table(w io.Writer, c Config) {
	fmt.Fprintf(w, "hovor-load bench %s  %s, %d cores  %d sessions × %v, medians of %d rounds\n\n", d.Build.Version, d.Host.CPU, d.Host.Cores,
		c.Sessions, c.Duration, c.Repeat)
	row := func(name string, cell func(*Round) string) {
		fmt.Fprintf(w, "%-34s", name)
		for _, k := range c.Kinds {
			fmt.Fprintf(w, " %16s", cell(d.Medians[k]))
		}
		fmt.Fprintln(w)
	}
	row("", func(r *Round) string { return r.Server })
	row("CPU µs per forwarded packet", func(r *Round) string { return fmt.Sprintf("%.1f", r.CPUPerPacket) })
	row("CPU ms per setup", func(r *Round) string { return fmt.Sprintf("%.1f", r.SetupCPU) })
	row("setup ms p50 / p95", func(r *Round) string { return pair(r.Setup.P50, r.Setup.P95) })
	row("first audio ms p50 / p95", func(r *Round) string { return pair(r.FirstAudio.P50, r.FirstAudio.P95) })
	row("person → upstream ms p50 / p99", func(r *Round) string { return latency(r.Up.Latency) })
	row("upstream → person ms p50 / p99", func(r *Round) string { return latency(r.Down.Latency) })
	row("heap KB per session", func(r *Round) string { return fmt.Sprintf("%.0f", r.HeapKB) })
	row("RSS KB per session", func(r *Round) string { return fmt.Sprintf("%.0f", r.RSSKB) })
	row("goroutines per session", func(r *Round) string { return fmt.Sprintf("%.1f", r.Goroutines) })
	row("idle RSS MB", func(r *Round) string { return fmt.Sprintf("%.0f", r.IdleRSSMB) })
	row("packets arrived", func(r *Round) string { return fmt.Sprint(r.Packets) })
	row("packets lost up / down", func(r *Round) string { return fmt.Sprintf("%d / %d", r.Up.Lost, r.Down.Lost) })
	fmt.Fprintln(w)
	for _, k := range d.Checks {
		word := "kept"
		if !k.OK {
			word = "BROKEN"
		}
		fmt.Fprintf(w, "%-7s %-50s %8.2f  (at most %g)\n", word, k.Name, k.Value, k.Limit)
	}
	d.tester(w)
}

// tester says how the tester itself fared, and in which rounds that spoils the figures.
func (d *Document) tester(w io.Writer) {
	var cpu, busy, late float64
	for _, r := range d.Rounds {
		cpu, busy, late = max(cpu, r.Tester.CPURatio), max(busy, r.Tester.HostBusy), max(late, r.Tester.Lateness.P99)
	}
	fmt.Fprintf(w, "tester  at most %.0f %% of its CPU, packets late p99 %.1f ms; host at most %.0f %% busy\n", cpu*100, late, busy*100)
	for i, r := range d.Rounds {
		for _, why := range r.Tester.Bottleneck {
			fmt.Fprintf(w, "NOT TO BE TRUSTED: round %d (%s): %s\n", i+1, r.Server, why)
		}
	}
}

func pair(a, b float64) string { return fmt.Sprintf("%.1f / %.1f", a, b) }

func latency(s measure.Summary) string { return fmt.Sprintf("%.3f / %.2f", s.P50, s.P99) }
