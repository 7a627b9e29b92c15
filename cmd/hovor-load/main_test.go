package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hovor/cmd/hovor-load/internal/report"
)

// command runs the program in this process.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, stdio{&o, &e})
	return code, o.String(), e.String()
}

func TestBadUsageIsExitCode2AndSaysWhatIsRight(t *testing.T) {
	text := filepath.Join(t.TempDir(), "a.wav")
	if err := os.WriteFile(text, []byte("not a sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no command":       {nil, "expected one of"},
		"unknown flag":     {[]string{"run", "--sesions", "3"}, "--sesions"},
		"bad mode":         {[]string{"run", "--mode", "shout"}, "open"},
		"no sessions":      {[]string{"run", "-n", "0"}, "at least 1"},
		"no ramp":          {[]string{"run", "--ramp", "0"}, "--ramp"},
		"no time":          {[]string{"run", "-d", "0s"}, "durations"},
		"unknown metric":   {[]string{"run", "--threshold", "yeild_ms:p95<450"}, "there are answer_interrupt_ms"},
		"half a threshold": {[]string{"run", "--threshold", "yield_ms:p95"}, "write it like"},
		"threshold unit":   {[]string{"run", "--threshold", "yield_ms:p95<450ms"}, "not a number"},
		"no such wav":      {[]string{"run", "--wav", "/nowhere/a.wav"}, "/nowhere/a.wav: no such file"},
		"no wav":           {[]string{"run", "--wav", text}, "not a WAV file"},
		"no interrupt":     {[]string{"run", "--interrupt", text}, "--interrupt"},
		"unknown server":   {[]string{"bench", "--only", "nginx"}, "direct, bare, ear-off and ear-on"},
		"no gateway":       {[]string{"bench", "--hovor", "/nowhere/hovor"}, "make build"},
	} {
		code, _, errs := command(t, c.args...)
		if code != report.ExitUsage || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit code %d, %q", name, code, errs)
		}
	}
}

func TestHelpAndVersionAreExitCode0(t *testing.T) {
	if code, out, _ := command(t, "--help"); code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), "98 the tester itself was the bottleneck") || strings.Contains(out, "bare-relay") {
		t.Errorf("help: %d, %q", code, out)
	}
	if code, out, _ := command(t, "version"); code != 0 || !strings.HasPrefix(out, "hovor-load ") {
		t.Errorf("version: %d, %q", code, out)
	}
}

func TestNobodyConnectedIsExitCode1AndLeavesNoFile(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "out.json")
	code, out, errs := command(t, "run", "--url", s.URL, "-n", "2", "--ramp", "1000", "--json", file)
	if code != report.ExitRuntime || !strings.Contains(errs, "not one session connected") || !strings.Contains(out, "0 up, 2 failed") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMetricsPageThatIsNotThereIsExitCode1(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if code, _, errs := command(t, "run", "--url", s.URL, "--metrics", s.URL+"/metrics"); code != report.ExitRuntime || !strings.Contains(errs, "metrics page") {
		t.Errorf("exit code %d, %q", code, errs)
	}
}

func TestInterruptedIsExitCode1(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var o, e bytes.Buffer
	if code := run(ctx, []string{"run", "--url", s.URL}, stdio{&o, &e}); code != report.ExitRuntime || !strings.Contains(e.String(), "interrupted") {
		t.Errorf("exit code %d, %q", code, e.String())
	}
}

func TestResultsHaveTheirExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		report.ExitOK: nil, report.ExitThresholds: exitError(report.ExitThresholds), report.ExitTesterLimited: exitError(report.ExitTesterLimited),
		report.ExitUsage: usage("x"), report.ExitRuntime: os.ErrNotExist,
	} {
		var e bytes.Buffer
		if got := exitCode(err, stdio{&e, &e}); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

func TestReportedFlagsHoldNoCredential(t *testing.T) {
	for _, c := range []runCmd{{Token: "canary-4711"}, {Person: "canary-4711"}, {Token: "ek_canary-4711", Person: "demo-alice"}} {
		b, err := json.Marshal(c.flags())
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("canary-4711")) {
			t.Errorf("%s", b)
		}
	}
	if got := (&runCmd{Person: "demo-bob"}).flags()["person"]; got != "demo-bob" {
		t.Errorf("person %v", got)
	}
}

func TestEveryCallComesUpUnlessTheCommandLineSaysOtherwise(t *testing.T) {
	if got := withDefaults(nil); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := withDefaults([]string{" sessions_failed<=3"}); len(got) != 2 || got[1] != "sessions_dropped==0" {
		t.Errorf("%v", got)
	}
}
