package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hovor/sfu"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
	"hovor/vad/silero"
)

// These tests run the built command as an operator does: flags, messages, exit codes, signals.

var binary string

func TestMain(m *testing.M) { os.Exit(withBinary(m)) }

func withBinary(m *testing.M) int {
	flag.Parse()
	if testing.Short() { // the house's rules only
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "hovor")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "hovor")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// command runs in the repository's root, so that the default paths fit, with a store of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("a built command in a process of its own takes real time: not with -short")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, binary, args...)
	c.Dir = root
	return c
}

func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// file writes a configuration: the quickstart on free ports with one line replaced.
func file(t *testing.T, replace ...string) string {
	t.Helper()
	out, err := command(t, "check", "--print-quickstart").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(append(replace,
		"listen: 127.0.0.1:8080", "listen: 127.0.0.1:0", "listen: 127.0.0.1:9090", "listen: 127.0.0.1:0", "port: 50000", "port: 0",
		"var/hovor.db", filepath.Join(t.TempDir(), "hovor.db"))...).Replace(string(out))
	path := filepath.Join(t.TempDir(), "hovor.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func needWeights(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, silero.DefaultPath)); err != nil {
		t.Skip("the detector's weights are not there: run `make models`")
	}
}

func TestWhatStopsAStartIsSaidInOneSentence(t *testing.T) {
	needWeights(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	takenUDP, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer takenUDP.Close()
	spoiled := filepath.Join(t.TempDir(), "weights.onnx")
	if err := os.WriteFile(spoiled, []byte("not the weights"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(script, []byte("stepz: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mediaPort := strings.TrimPrefix(takenUDP.LocalAddr().String(), "127.0.0.1:")

	for _, c := range []struct {
		name string
		conf string
		args []string
		env  []string
		exit int
		says []string
	}{
		{"a typo in the configuration", file(t, "providers:", "provider:"), nil, nil, exitConfig, []string{"no such key", `did you mean "providers"?`, "hovor.yaml:"}},
		{"the page's port in use", file(t), []string{"--listen", taken.Addr().String()}, nil, exitFailed, []string{"already in use", taken.Addr().String()}},
		{"the admin port in use", file(t), []string{"--admin-listen", taken.Addr().String()}, nil, exitFailed, []string{"already in use", taken.Addr().String()}},
		{"the media port in use", file(t, "  loopback: true", "  loopback: true\n  address: 127.0.0.1"), []string{"--media-port", mediaPort}, nil, exitFailed, []string{"in use", mediaPort, "--media-port"}},
		{"no weights", file(t, "demo:\n", "ear: {model: nowhere.onnx}\ndemo:\n"), nil, nil, exitFailed, []string{"weights are missing", "make models"}},
		{"wrong weights", file(t, "demo:\n", "ear: {model: "+spoiled+"}\ndemo:\n"), nil, nil, exitFailed, []string{"not the pinned ones", "make models"}},
		{"no speech synthesizer", file(t), nil, []string{"ESPEAK_DATA_PATH=" + t.TempDir()}, exitFailed, []string{"espeak-ng", "apt-get install"}},
		{"no API key", file(t, "kind: local, brain: dialogue", `kind: openai, url: "https://api.example.com/v1", key_env: NO_SUCH_KEY`), nil, nil, exitFailed, []string{"NO_SUCH_KEY", "empty"}},
		{"a bad script", file(t, "brain: dialogue", "brain: "+script), nil, nil, exitFailed, []string{"script.yaml", "stepz"}},
		{"a flag that does not exist", file(t), []string{"--lisen", "x"}, nil, exitConfig, []string{"--lisen"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(t, append([]string{"serve", "--config", c.conf}, c.args...)...)
			if c.env != nil {
				cmd.Env = c.env
			}
			out, err := cmd.CombinedOutput()
			if exitCode(err) != c.exit {
				t.Errorf("exit code %d, want %d; it said:\n%s", exitCode(err), c.exit, out)
			}
			for _, want := range c.says {
				if !strings.Contains(string(out), want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
			if bytes.Contains(out, []byte("panic")) || bytes.Contains(out, []byte("goroutine ")) {
				t.Errorf("a stack is no message:\n%s", out)
			}
		})
	}
}

func TestCheckSaysWhatIsWrongAndShowsNoSecret(t *testing.T) {
	if out, err := command(t, "check", file(t)).CombinedOutput(); err != nil {
		t.Errorf("the quickstart's own file must pass: %v\n%s", err, out)
	}
	out, err := command(t, "check", "--print", file(t)).CombinedOutput()
	if err != nil || strings.Contains(string(out), "demo-alice") || !strings.Contains(string(out), "sessions: 200") {
		t.Errorf("want the effective configuration with secrets hidden: %v\n%s", err, out)
	}
	if out, err := command(t, "check", "nowhere.yaml").CombinedOutput(); exitCode(err) == 0 {
		t.Errorf("a file that is not there must not pass:\n%s", out)
	}
}

// running is a started gateway.
type running struct {
	*exec.Cmd
	page string
	said *bufio.Scanner // what it writes to stderr
}

func start(t *testing.T) *running {
	t.Helper()
	needWeights(t)
	cmd := command(t, "serve", "--config", file(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	r := &running{Cmd: cmd, said: bufio.NewScanner(said)}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 2 && f[0] == "page" {
			r.page = f[1]
		}
		if strings.Contains(lines.Text(), "Ctrl-C") {
			break
		}
	}
	if r.page == "" {
		t.Fatal("it did not say where the page is")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return r
}

// call opens a call and holds it until the test ends.
func (r *running) call(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	engine, err := sfu.NewEngine(sfu.Config{Loopback: true, UDPListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	base := r.page + "/v1/realtime"
	secret, err := client.MintSecret(ctx, nil, base, "demo-alice", realtime.ClientSecretRequest{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(ctx, client.Config{BaseURL: base, Token: secret.Value, Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = c.Run(run) }()
	t.Cleanup(func() { stop(); <-done; _ = engine.Close() })
	if err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstSignalDrainsAndExitsZero(t *testing.T) {
	r := start(t)
	if err := r.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(r.Wait()); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestTheSecondSignalExitsAtOnceEvenInACall(t *testing.T) {
	r := start(t)
	r.call(t)
	if err := r.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(r.said.Text(), "once more ends at once") { // two signals in one instant are one
		if !r.said.Scan() {
			t.Fatal("it did not say that it is ending")
		}
	}
	if err := r.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(r.Wait()); code != exitAtOnce {
		t.Errorf("exit code %d, want %d: the call must not be waited for", code, exitAtOnce)
	}
}
