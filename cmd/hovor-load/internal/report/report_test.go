package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hovor/cmd/hovor-load/internal/host"
	"hovor/cmd/hovor-load/internal/measure"
	"hovor/cmd/hovor-load/internal/person"
)

var update = flag.Bool("update", false, "write the golden files again")

// known is a run whose every figure is known.
func known(t *testing.T, expressions ...string) (*Document, *person.Board) {
	t.Helper()
	b := new(person.Board)
	for i := 1; i <= 20; i++ {
		b.Answer.AddDuration(time.Duration(600+10*i) * time.Millisecond)
		b.Setup.AddDuration(time.Duration(i) * time.Millisecond)
		b.Lateness.Add(time.Duration(100*i) * time.Microsecond)
	}
	b.Yield.AddDuration(212500 * time.Microsecond)
	b.Connected.Store(20)
	b.Spoken.Store(21)
	b.Answered.Store(20)
	b.Missed.Store(1)
	b.Interruptions.Store(1)
	b.Yielded.Store(1)
	b.Sent.Store(2000)
	b.HangUp(person.EarStats{Received: 990, Lost: 10, Jitter: 3 * time.Millisecond}, 0)
	b.Error("setup: not up in time")
	d := &Document{
		Schema: Schema, Build: Build{"v1", "abc", "go1"}, Host: host.Machine{OS: "linux", Arch: "amd64", Kernel: "6", CPU: "A CPU", Cores: 2, Quota: 2},
		Flags: map[string]any{"sessions": 20}, Started: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		Gateway: map[string]float64{"hovor_stale_frames_total": 3},
	}
	kinds := map[string]bool{}
	for _, f := range b.Figures() {
		kinds[f.Name] = f.Dist != nil
	}
	var th []measure.Threshold
	for _, e := range expressions {
		x, err := measure.ParseThreshold(e, kinds)
		if err != nil {
			t.Fatal(err)
		}
		th = append(th, x)
	}
	d.Take(b, measure.Tester{CPUSeconds: 3, Quota: 2, CPURatio: 0.05, HostBusy: 0.2}, th, 30*time.Second)
	return d, b
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; a change that a reader could trip over also raises Schema (go test -update writes it again):\n%s", path, got)
	}
}

func TestFileIsTheKnownOne(t *testing.T) {
	d, _ := known(t, "answer_ms:p95<1000", "yield_ms:p95<200", "missed_turns==0", "mint_ms:p50<10")
	path := filepath.Join(t.TempDir(), "run.json")
	if err := WriteFile(path, d); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "run.json", b)
}

func TestTableIsTheKnownOneAndFitsAScreen(t *testing.T) {
	d, board := known(t, "answer_ms:p95<1000", "yield_ms:p95<200", "missed_turns==0", "mint_ms:p50<10")
	var b bytes.Buffer
	d.Table(&b, board)
	golden(t, "run.txt", b.Bytes())
	if n := strings.Count(b.String(), "\n"); n > 40 {
		t.Errorf("%d lines", n)
	}
}

func TestVerdicts(t *testing.T) {
	d, _ := known(t, "answer_ms:p95<1000")
	if d.Verdict != Pass || d.ExitCode != 0 {
		t.Errorf("kept: %s, %d", d.Verdict, d.ExitCode)
	}
	d, _ = known(t, "answer_ms:p95<100")
	if d.Verdict != ThresholdsBroken || d.ExitCode != 99 {
		t.Errorf("broken: %s, %d", d.Verdict, d.ExitCode)
	}
	d, b := known(t)
	th, err := measure.ParseThreshold("answer_ms:p95<100", map[string]bool{"answer_ms": true})
	if err != nil {
		t.Fatal(err)
	}
	d.Take(b, measure.Tester{CPURatio: 0.97, Quota: 2}, []measure.Threshold{th}, time.Second)
	if d.Verdict != TesterBottleneck || d.ExitCode != 98 {
		t.Errorf("tester limited: %s, %d", d.Verdict, d.ExitCode)
	}
}

func TestFileIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	if err := WriteFile(path, map[string]any{"bad": func() {}}); err == nil {
		t.Error("no error for what cannot be written")
	}
	if err := WriteFile(filepath.Join(dir, "no", "such", "folder.json"), 1); err == nil {
		t.Error("no error for a folder that is not there")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := WriteFile(path, &Document{Schema: Schema}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var back Document
	if err := json.Unmarshal(b, &back); err != nil || back.Schema != Schema {
		t.Errorf("read back %q, %v", back.Schema, err)
	}
}
