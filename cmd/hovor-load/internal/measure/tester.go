package measure

import (
	"fmt"
	"time"
)

// Limits above which the tester's own figures are no longer those of the system under test.
const (
	// MaxLateness is how late the tester's own packets may leave at the 99th percentile: half a frame. Later ones add to every figure.
	MaxLateness = 10 * time.Millisecond
	// MaxCPU is the share of its CPU quota that the tester may use: above it, the run queue and not the gateway decides when a packet is read.
	MaxCPU = 0.85
)

// Tester is what the tester saw of itself.
type Tester struct {
	CPUSeconds float64  `json:"cpu_seconds"`
	Quota      float64  `json:"cpu_quota"` // cores it may use: the smaller of processors and the cgroup's limit
	CPURatio   float64  `json:"cpu_ratio"` // CPU used over wall time × quota
	HostBusy   float64  `json:"host_busy"` // share of all the host's CPU time that somebody used, -1 unknown
	Lateness   Summary  `json:"send_lateness_ms"`
	Histogram  []Bucket `json:"send_lateness_histogram"`
	Bottleneck []string `json:"bottleneck"` // why the result is not to be trusted; empty when it is
	Notes      []string `json:"notes"`      // what may have coloured it
}

// Judge fills Bottleneck and Notes.
func (t *Tester) Judge() {
	t.Bottleneck, t.Notes = []string{}, []string{}
	if t.CPURatio > MaxCPU {
		t.Bottleneck = append(t.Bottleneck, fmt.Sprintf("the tester used %.0f %% of its CPU quota of %.1f cores", t.CPURatio*100, t.Quota))
	}
	if late := float64(MaxLateness) / float64(time.Millisecond); t.Lateness.P99 > late {
		t.Bottleneck = append(t.Bottleneck, fmt.Sprintf("the tester's own packets left up to %.1f ms late (p99; above %.0f ms it colours every figure)", t.Lateness.P99, late))
	}
	if t.HostBusy > 0.95 {
		t.Notes = append(t.Notes, fmt.Sprintf("the host was %.0f %% busy: other programs, or the gateway itself, left no room", t.HostBusy*100))
	}
}
