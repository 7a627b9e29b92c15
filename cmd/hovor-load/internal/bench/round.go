package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hovor/cmd/hovor-load/internal/host"
	"hovor/cmd/hovor-load/internal/measure"
	"hovor/cmd/hovor-load/internal/scrape"
)

// Config is one comparison.
type Config struct {
	Self, Hovor string // paths of this program and of the gateway
	Model       string // path of the detector's weights
	Kinds       []string
	Sessions    int
	Ramp        float64 // calls begun per second
	WarmUp      time.Duration
	Duration    time.Duration
	Repeat      int
	Pin         bool
	Progress    func(string)
}

// Round is what one server showed once.
type Round struct {
	Server string `json:"server"`

	CPUPerPacket float64 `json:"cpu_us_per_packet"` // CPU of the server process / packets that arrived at both ends, in the steady state
	CPUSeconds   float64 `json:"cpu_seconds"`
	Packets      uint64  `json:"packets"` // arrived, both directions
	SetupCPU     float64 `json:"setup_cpu_ms_per_session"`

	Setup      measure.Summary `json:"setup_ms"`       // dial → connected (ICE and DTLS)
	Channel    measure.Summary `json:"channel_ms"`     // dial → event channel open
	FirstAudio measure.Summary `json:"first_audio_ms"` // dial → first packet of the upstream
	Up         Direction       `json:"up"`             // person → upstream
	Down       Direction       `json:"down"`           // upstream → person

	HeapKB     float64 `json:"heap_kb_per_session"`
	RSSKB      float64 `json:"rss_kb_per_session"`
	Goroutines float64 `json:"goroutines_per_session"`
	IdleRSSMB  float64 `json:"idle_rss_mb"`

	Drops  map[string]float64 `json:"drops,omitempty"` // how much the gateway's own counters of dropped and stale packets rose
	Tester measure.Tester     `json:"tester"`
}

// Direction is how packets fared on one way through the server.
type Direction struct {
	Sent      uint64          `json:"sent"` // within the steady state
	Arrived   uint64          `json:"arrived"`
	Lost      uint64          `json:"lost"`
	Reordered uint64          `json:"late_or_twice"`
	Latency   measure.Summary `json:"latency_ms"` // handed to the sender's stack → out of the receiver's, both outside the server
}

// drain is how long packets may still be on their way at the end.
const drain = time.Second

// measureOnce runs one server with all calls, and ends it.
func (b *bench) measureOnce(ctx context.Context, kind string) (*Round, error) {
	dir, err := os.MkdirTemp("", "hovor-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := launch(ctx, b.Config, kind, b.up.url, dir, b.serverCPUs)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	out, err := b.observe(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", kind, err, said(s))
	}
	out.Server = kind
	return out, nil
}

// said is what the server wrote about its failure.
func said(s *server) string {
	if s.process == nil {
		return ""
	}
	if w := strings.TrimSpace(s.lastWords()); w != "" {
		return "\n" + filepath.Base(s.log) + ": " + w
	}
	return ""
}

func (b *bench) observe(ctx context.Context, s *server) (*Round, error) {
	r := &round{up: newFlow(time.Now()), late: new(measure.Hist)}
	r.down = newFlow(r.up.epoch)
	b.up.late.Reset()
	b.up.round.Store(r)
	defer b.up.round.Store(nil)

	idle, err := b.look(ctx, s)
	if err != nil {
		return nil, err
	}
	calls, hang := context.WithCancel(ctx)
	c := &callers{engine: b.engine, packets: b.quiet, base: s.base, token: s.token, round: r}
	defer c.wg.Wait()
	defer hang()
	if err := c.begin(calls, b.Sessions, b.Ramp); err != nil {
		return nil, err
	}
	up, err := b.look(ctx, s)
	if err != nil {
		return nil, err
	}
	if !pause(ctx, b.WarmUp) {
		return nil, ctx.Err()
	}
	warm, err := b.look(ctx, s)
	if err != nil {
		return nil, err
	}
	out, err := b.steady(ctx, s, r)
	if err != nil {
		return nil, err
	}
	full, err := b.look(ctx, s)
	if err != nil {
		return nil, err
	}
	n := float64(b.Sessions)
	out.SetupCPU = float64((up.cpu - idle.cpu).Microseconds()) / 1000 / n
	out.HeapKB, out.RSSKB = (full.heap-idle.heap)/1024/n, (full.rss-idle.rss)/1024/n
	out.Goroutines, out.IdleRSSMB = (full.goroutines-idle.goroutines)/n, idle.rss/(1<<20)
	out.Drops = full.page.Rose(warm.page, func(name string) bool {
		return strings.HasPrefix(name, "hovor_") && (strings.Contains(name, "drop") || strings.Contains(name, "stale"))
	})
	out.Setup, out.Channel, out.FirstAudio = measure.Summarize(&r.setup), measure.Summarize(&r.channel), measure.Summarize(&r.first)
	return out, nil
}

// steady measures the time in which nothing but packets happens.
func (b *bench) steady(ctx context.Context, s *server, r *round) (*Round, error) {
	r.late.Reset()
	b.up.late.Reset()
	begun, ownCPU, ticks := time.Now(), host.OwnCPU(), host.HostTicks()
	cpu, err := s.cpu()
	if err != nil {
		return nil, err
	}
	arrived := r.up.arrived.Load() + r.down.arrived.Load()
	r.up.open(begun)
	r.down.open(begun)
	if !pause(ctx, b.Duration) {
		return nil, ctx.Err()
	}
	end := time.Now()
	r.up.close(end)
	r.down.close(end)
	after, err := s.cpu()
	if err != nil {
		return nil, err
	}
	packets := r.up.arrived.Load() + r.down.arrived.Load() - arrived
	tester := measure.Tester{
		CPUSeconds: (host.OwnCPU() - ownCPU).Seconds(), Quota: host.Quota(), HostBusy: host.HostTicks().Since(ticks),
		Lateness: measure.Summarize(r.late), Histogram: r.late.Buckets(),
	}
	tester.CPURatio = tester.CPUSeconds / (end.Sub(begun).Seconds() * tester.Quota)
	tester.Judge()
	if !pause(ctx, drain) {
		return nil, ctx.Err()
	}
	out := &Round{CPUSeconds: (after - cpu).Seconds(), Packets: packets, Up: r.up.result(), Down: r.down.result(), Tester: tester}
	if packets > 0 {
		out.CPUPerPacket = float64((after - cpu).Microseconds()) / float64(packets)
	}
	return out, nil
}

func (f *flow) result() Direction {
	d := Direction{Sent: f.sentIn.Load(), Arrived: f.arrivedIn.Load(), Reordered: f.reordered.Load(), Latency: measure.Summarize(&f.latency)}
	if d.Sent > d.Arrived {
		d.Lost = d.Sent - d.Arrived
	}
	return d
}

// How a heap is looked at: often enough to see it right after a collection.
const (
	looks     = 8
	lookEvery = 150 * time.Millisecond
)

// cpu is the kernel's account of the server so far.
func (s *server) cpu() (time.Duration, error) {
	if s.process == nil {
		return 0, nil
	}
	return host.CPU(s.pid)
}

// glance is one look at a server from outside and through its metrics.
type glance struct {
	cpu                   time.Duration
	rss, heap, goroutines float64
	page                  scrape.Values
}

func (b *bench) look(ctx context.Context, s *server) (glance, error) {
	var g glance
	if s.process == nil {
		return g, nil
	}
	var err error
	if g.cpu, err = s.cpu(); err != nil {
		return g, err
	}
	rss, err := host.RSS(s.pid)
	if err != nil {
		return g, err
	}
	g.rss = float64(rss)
	q, cancel := context.WithTimeout(ctx, looks*(lookEvery+time.Second))
	defer cancel()
	for i := range looks {
		if i > 0 && !pause(q, lookEvery) {
			return g, q.Err()
		}
		if g.page, err = scrape.Get(q, http.DefaultClient, s.metrics); err != nil {
			return g, err
		}
		heap := g.page["go_memstats_heap_alloc_bytes"]
		if i == 0 || heap < g.heap {
			g.heap = heap // garbage comes and goes; the least is nearest to what is alive
		}
	}
	g.goroutines = g.page["go_goroutines"]
	return g, nil
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
