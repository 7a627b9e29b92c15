package openai_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/gateway/provider/local"
	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/gateway/provider/openai"
	"hovor/sfu"
	"hovor/signaling/realtime"
)

// asProvider makes the test binary a provider of its own process, which can be killed.
const asProvider = "HOVOR_TEST_AS_PROVIDER"

func TestMain(m *testing.M) {
	if os.Getenv(asProvider) != "" {
		if err := serveProvider(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveProvider serves the embedded provider on loopback and prints its address; it ends with its standard input.
func serveProvider() error {
	b, err := brain.ParseScript([]byte("responses: [[{say: hello}]]\nthen: again\n"))
	if err != nil {
		return err
	}
	e, err := sfu.NewEngine(sfu.Config{UDPListen: "127.0.0.1:0", Loopback: true})
	if err != nil {
		return err
	}
	s, err := local.New(local.Config{APIKey: "sk", Engine: e, Voice: voice.Tone{}, Ear: ear.NewScripted(), Brain: b})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { _, _ = bufio.NewReader(os.Stdin).ReadString(0); cancel(); _ = l.Close() }()
	go func() { _ = http.Serve(l, s.Handler()) }() // a test's own process
	fmt.Println(l.Addr())
	return s.Run(ctx)
}

// quiet is a sink that only waits for the end.
type quiet struct{ closed chan error }

func (quiet) ProviderEvent([]byte, realtime.Event)  {}
func (quiet) ProviderPacket(*rtp.Packet, time.Time) {}
func (q quiet) ProviderClosed(err error)            { q.closed <- err }

func TestAKilledProviderIsNoticedWithinThreeSeconds(t *testing.T) {
	cmd := exec.Command(os.Args[0]) // ourselves
	cmd.Env = append(os.Environ(), asProvider+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider's process did not start: %v", err)
	}
	e, err := sfu.NewEngine(sfu.Config{UDPListen: "127.0.0.1:0", Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	p := openai.New(openai.Config{BaseURL: "http://" + strings.TrimSpace(addr) + "/v1/realtime", Key: func() string { return "sk" }, Engine: e})
	sink := quiet{make(chan error, 1)}
	leg, err := p.Dial(t.Context(), provider.Setup{Session: realtime.Session{Type: "realtime"}, Model: "gpt-realtime", CallID: "rtc_killed"}, sink)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- leg.Run(t.Context()) }()
	if err := cmd.Process.Kill(); err != nil { // SIGKILL: nobody says goodbye
		t.Fatal(err)
	}
	begin := time.Now()
	select {
	case err := <-sink.closed:
		d := time.Since(begin)
		t.Logf("noticed after %v", d)
		if e := provider.AsError(err); e == nil || e.Class != provider.Lost {
			t.Errorf("reported as %v", err)
		}
		if d > 3*time.Second {
			t.Errorf("noticed after %v", d)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("a killed provider was not noticed")
	}
	<-over
}
