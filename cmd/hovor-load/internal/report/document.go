package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"hovor/cmd/hovor-load/internal/host"
	"hovor/cmd/hovor-load/internal/measure"
	"hovor/cmd/hovor-load/internal/person"
)

// Schema names the shape of Document. A change that a reader could trip over raises the number.
const Schema = "hovor-load/run/1"

// Verdicts of a run, each with its exit code.
const (
	Pass              = "pass"
	ThresholdsBroken  = "thresholds_broken"
	TesterBottleneck  = "tester_bottleneck"
	ExitOK            = 0
	ExitRuntime       = 1
	ExitUsage         = 2
	ExitTesterLimited = 98
	ExitThresholds    = 99
)

// Build is which program measured.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
}

// Document is the file of one run.
type Document struct {
	Schema     string                     `json:"schema"`
	Build      Build                      `json:"build"`
	Host       host.Machine               `json:"host"`
	Flags      map[string]any             `json:"flags"` // as understood; credentials are never among them
	Started    time.Time                  `json:"started"`
	Seconds    float64                    `json:"seconds"`
	Metrics    map[string]measure.Summary `json:"metrics"`  // distributions that have samples, by name; the unit is the name's ending
	Counters   map[string]float64         `json:"counters"` // plain numbers, by name
	Samples    map[string][]float64       `json:"samples"`  // every value of those distributions that have one per turn or session
	Errors     []person.ErrorCount        `json:"errors"`
	Gateway    map[string]float64         `json:"gateway,omitempty"` // how much the gateway's own counters rose, when /metrics was given
	Tester     measure.Tester             `json:"tester"`
	Thresholds []measure.Result           `json:"thresholds"`
	Verdict    string                     `json:"verdict"`
	ExitCode   int                        `json:"exit_code"`
}

// New fills in what is known before the run.
func New(version string, flags map[string]any) *Document {
	return &Document{Schema: Schema, Build: ThisBuild(version), Host: host.Describe(), Flags: flags, Started: time.Now().UTC().Truncate(time.Millisecond)}
}

// ThisBuild reads what the linker left in this program.
func ThisBuild(version string) Build {
	b := Build{Version: version, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Revision = s.Value
			}
		}
	}
	return b
}

// Take copies the board's figures, checks the thresholds and reaches the verdict.
func (d *Document) Take(b *person.Board, t measure.Tester, thresholds []measure.Threshold, took time.Duration) {
	d.Seconds = float64(took.Milliseconds()) / 1000
	d.Metrics, d.Counters, d.Samples = map[string]measure.Summary{}, map[string]float64{}, map[string][]float64{}
	distributions := map[string]measure.Distribution{}
	for _, f := range b.Figures() {
		if f.Dist == nil {
			d.Counters[f.Name] = f.Value
			continue
		}
		distributions[f.Name] = f.Dist
		if f.Dist.Count() == 0 {
			continue // not seen is not zero
		}
		d.Metrics[f.Name] = measure.Summarize(f.Dist)
		if s, ok := f.Dist.(*measure.Series); ok {
			d.Samples[f.Name] = s.Values()
		}
	}
	d.Errors = b.Errors()
	t.Lateness, t.Histogram = measure.Summarize(&b.Lateness), b.Lateness.Buckets()
	t.Judge()
	d.Tester = t
	d.Thresholds = []measure.Result{}
	d.Verdict, d.ExitCode = Pass, ExitOK
	for _, th := range thresholds {
		r := th.Check(distributions, d.Counters)
		d.Thresholds = append(d.Thresholds, r)
		if !r.OK {
			d.Verdict, d.ExitCode = ThresholdsBroken, ExitThresholds
		}
	}
	if len(t.Bottleneck) > 0 { // says nothing about the gateway, whatever the thresholds say
		d.Verdict, d.ExitCode = TesterBottleneck, ExitTesterLimited
	}
}

// WriteFile writes v as JSON: the whole file, or none.
func WriteFile(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	if _, err := f.Write(append(data, '\n')); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
