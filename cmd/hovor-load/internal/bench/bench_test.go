package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/cmd/hovor-load/internal/measure"
	"hovor/cmd/hovor-load/internal/report"
)

func TestOnlyPacketsSentInTheWindowCount(t *testing.T) {
	f := newFlow(time.Now().Add(-time.Hour))
	packet := func(n uint32, sent time.Duration) []byte {
		b := make([]byte, 120)
		clip.Mark{Stream: 1, Number: n, Sent: sent}.Put(b)
		return b
	}
	var last uint32
	f.open(f.epoch.Add(10 * time.Second))
	f.close(f.epoch.Add(20 * time.Second))
	if !f.arrive(packet(1, 9*time.Second), f.epoch.Add(15*time.Second), &last) {
		t.Error("the first packet is the first")
	}
	f.arrive(packet(2, 10*time.Second), f.epoch.Add(10*time.Second+3*time.Millisecond), &last)
	f.arrive(packet(4, 19*time.Second), f.epoch.Add(21*time.Second), &last) // late, but sent within
	f.arrive(packet(3, 18*time.Second), f.epoch.Add(21*time.Second), &last) // overtaken
	f.arrive(packet(4, 19*time.Second), f.epoch.Add(21*time.Second), &last) // twice
	f.arrive(packet(5, 20*time.Second), f.epoch.Add(21*time.Second), &last)
	f.arrive([]byte("somebody else's packet, without a mark"), f.epoch, &last)
	d := f.result()
	if d.Arrived != 2 || d.Reordered != 2 || f.arrived.Load() != 4 || d.Latency.Min != 3 || d.Latency.Max != 2000 {
		t.Fatalf("%+v, %d in all", d, f.arrived.Load())
	}
}

func TestLossIsWhatWasSentAndDidNotArrive(t *testing.T) {
	f := newFlow(time.Now())
	f.open(time.Now())
	b := make([]byte, 120)
	var last uint32
	for n := uint32(1); n <= 10; n++ {
		f.leave(b, 1, n)
		if n != 4 && n != 7 {
			f.arrive(b, time.Now(), &last)
		}
	}
	if d := f.result(); d.Sent != 10 || d.Arrived != 8 || d.Lost != 2 {
		t.Fatalf("%+v", d)
	}
}

func TestPacketPathAllocatesNothing(t *testing.T) {
	f := newFlow(time.Now())
	f.open(time.Now())
	b := make([]byte, 120)
	var n, last uint32
	if got := testing.AllocsPerRun(100, func() {
		n++
		f.leave(b, 1, n)
		f.arrive(b, time.Now(), &last)
	}); got != 0 {
		t.Fatalf("%v allocations", got)
	}
}

// rounds are three of each server: CPU per packet and setup p95 around the given values.
func rounds(cpu, setup map[string]float64) []*Round {
	var out []*Round
	for i := range 3 {
		for _, k := range []string{Bare, EarOff, EarOn} {
			noise := 1 + 0.5*float64(i-1) // the median is the middle one
			out = append(out, &Round{Server: k, CPUPerPacket: cpu[k] * noise, Setup: measure.Summary{P95: setup[k] * noise}})
		}
	}
	return out
}

func TestVerdictOfAComparison(t *testing.T) {
	kinds := []string{Bare, EarOff, EarOn}
	cpu := map[string]float64{Bare: 80, EarOff: 88, EarOn: 160}
	setup := map[string]float64{Bare: 16, EarOff: 48, EarOn: 48}
	for name, c := range map[string]struct {
		change func(*Document)
		code   int
		broken string
	}{
		"at the limits":    {func(*Document) {}, report.ExitOK, ""},
		"ear off too dear": {func(d *Document) { d.Rounds = rounds(map[string]float64{Bare: 80, EarOff: 89, EarOn: 160}, setup) }, report.ExitThresholds, "ear-off: CPU"},
		"ear on too dear":  {func(d *Document) { d.Rounds = rounds(map[string]float64{Bare: 80, EarOff: 88, EarOn: 161}, setup) }, report.ExitThresholds, "ear-on: CPU"},
		"setup too slow":   {func(d *Document) { d.Rounds = rounds(cpu, map[string]float64{Bare: 16, EarOff: 48, EarOn: 49}) }, report.ExitThresholds, "ear-on: setup"},
		"a packet lost":    {func(d *Document) { d.Rounds[4].Down.Lost = 1 }, report.ExitThresholds, "ear-off: packets lost"},
		"bare may lose":    {func(d *Document) { d.Rounds[3].Down.Lost = 9 }, report.ExitOK, ""},
		"dropped by its word": {func(d *Document) {
			d.Rounds[5].Drops = map[string]float64{"hovor_x_dropped_total": 2, `hovor_x_dropped_total{a="b"}`: 2}
		}, report.ExitThresholds, "ear-on: packets the gateway says"},
		"tester late once": {func(d *Document) { d.Rounds[0].Tester.Bottleneck = []string{"late"} }, report.ExitOK, ""},
		"tester mostly late": {func(d *Document) {
			for _, r := range d.Rounds[:5] {
				r.Tester.Bottleneck = []string{"late"}
			}
		}, report.ExitTesterLimited, ""},
	} {
		d := &Document{Rounds: rounds(cpu, setup)}
		c.change(d)
		d.Conclude(kinds)
		var broken []string
		for _, k := range d.Checks {
			if !k.OK {
				broken = append(broken, k.Name)
			}
		}
		if d.ExitCode != c.code || (c.broken == "") != (len(broken) == 0) || !strings.Contains(strings.Join(broken, "|"), c.broken) {
			t.Errorf("%s: exit code %d, broken %v", name, d.ExitCode, broken)
		}
	}
}

func TestTableNamesEveryServer(t *testing.T) {
	d := &Document{Rounds: rounds(map[string]float64{Bare: 80, EarOff: 70, EarOn: 90}, map[string]float64{Bare: 1, EarOff: 1, EarOn: 1})}
	c := Config{Kinds: []string{Bare, EarOff, EarOn}, Sessions: 50, Repeat: 3}
	d.Conclude(c.Kinds)
	var b bytes.Buffer
	d.Table(&b, c)
	for _, want := range []string{"bare", "ear-off", "ear-on", "80.0", "70.0", "90.0", "kept"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// The real thing, small: the bare relay in this process, callers and upstream around it, over loopback sockets. Nothing in it depends on
// how fast the machine is.
func TestBareRelayPassesPacketsOnUnchangedBothWays(t *testing.T) {
	b, err := newBench(Config{Sessions: 2, Ramp: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	ctx, cancel := context.WithCancel(t.Context())
	at := make(chan Address, 1)
	served := make(chan error, 1)
	go func() { served <- ServeBareRelay(ctx, "127.0.0.1:0", b.up.url, announcement(at)) }()
	relay := <-at

	r := &round{up: newFlow(time.Now()), late: new(measure.Hist)}
	r.down = newFlow(r.up.epoch)
	b.up.round.Store(r)
	calls, hang := context.WithCancel(ctx)
	c := &callers{engine: b.engine, packets: b.quiet, base: relay.HTTP + "/v1/realtime", token: benchToken, round: r}
	if err := c.begin(calls, b.Sessions, b.Ramp); err != nil {
		t.Fatal(err)
	}
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for r.up.arrived.Load() < 20 || r.down.arrived.Load() < 20 {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%d packets up, %d down", r.up.arrived.Load(), r.down.arrived.Load())
		}
	}
	if r.setup.Count() != 2 || r.channel.Count() != 2 || r.first.Count() != 2 {
		t.Errorf("%d setups, %d channels, %d first packets", r.setup.Count(), r.channel.Count(), r.first.Count())
	}
	hang()
	c.wg.Wait()
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// announcement gives the first line that is written to it.
type announcement chan Address

func (a announcement) Write(b []byte) (int, error) {
	var at Address
	if err := json.Unmarshal(b, &at); err != nil {
		return 0, err
	}
	a <- at
	return len(b), nil
}

func TestNoProcessIsLeftBehind(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	// A server that has a child of its own and does not listen when it is asked to end.
	p, err := start("/bin/sh", []string{"-c", "sleep 1000 & echo at $! ; exec 1>&-; trap '' TERM; wait; wait"}, nil, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.patience = 50 * time.Millisecond
	text, err := p.until(t.Context(), "at ")
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	p.stop()
	for _, pid := range []int{p.pid, child} {
		limit := time.After(10 * time.Second)
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			select {
			case <-limit:
				t.Fatalf("process %d lives", pid)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

// zombie says that a process has ended and only waits for whoever adopted it to ask.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}

func TestAServerThatEndsAtOnceSaysWhy(t *testing.T) {
	p, err := start("/bin/sh", []string{"-c", "echo the port is taken >&2; exit 3"}, nil, filepath.Join(t.TempDir(), "log"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	if _, err := p.until(t.Context(), "page"); !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), "the port is taken") {
		t.Fatal(err)
	}
	if _, err := start("/nowhere/hovor", nil, nil, filepath.Join(t.TempDir(), "log"), nil); !errors.Is(err, ErrServer) {
		t.Fatal(err)
	}
}
