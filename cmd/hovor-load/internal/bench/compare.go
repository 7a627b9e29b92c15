package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/cmd/hovor-load/internal/host"
	"hovor/cmd/hovor-load/internal/measure"
	"hovor/cmd/hovor-load/internal/report"
	"hovor/sfu"
)

// Schema names the shape of Document.
const Schema = "hovor-load/bench/1"

// Limits that ours must keep against the bare relay (issue 2, acceptance 7).
const (
	cpuEarOff = 1.1 // × its CPU per packet
	cpuEarOn  = 2.0
	setupP95  = 3.0 // × its setup time
)

// packetSize is that of ordinary Opus speech in a browser, padding and mark included.
const packetSize = 120

// quietLevel is what the callers send: the noise of a loud room, which every detector must judge and none may take for speech.
const quietLevel = -50.0

// Document is the file of one comparison.
type Document struct {
	Schema   string             `json:"schema"`
	Build    report.Build       `json:"build"`
	Host     host.Machine       `json:"host"`
	Flags    map[string]any     `json:"flags"`
	Started  time.Time          `json:"started"`
	Rounds   []*Round           `json:"rounds"` // in the order in which they ran
	Medians  map[string]*Round  `json:"medians"`
	Ratios   map[string]float64 `json:"ratios"`
	Checks   []Check            `json:"checks"`
	Verdict  string             `json:"verdict"`
	ExitCode int                `json:"exit_code"`
}

// Check is one promise of ours.
type Check struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
	OK    bool    `json:"ok"`
}

type bench struct {
	Config
	up         *upstream
	engine     *sfu.Engine
	quiet      [][]byte
	serverCPUs []int
}

// Compare runs every kind of server in turn, again and again, so that what else happens on the machine falls on all alike.
func Compare(ctx context.Context, c Config, doc *Document) error {
	b, err := newBench(c)
	if err != nil {
		return err
	}
	defer b.close()
	for i := range c.Repeat {
		for _, kind := range c.Kinds {
			c.Progress(fmt.Sprintf("round %d of %d: %s, %d sessions", i+1, c.Repeat, kind, c.Sessions))
			r, err := b.measureOnce(ctx, kind)
			if err != nil {
				return err
			}
			c.Progress(fmt.Sprintf("  %.1f µs per packet, setup p95 %.1f ms, lost %d", r.CPUPerPacket, r.Setup.P95, r.Up.Lost+r.Down.Lost))
			doc.Rounds = append(doc.Rounds, r)
		}
	}
	doc.Conclude(c.Kinds)
	return nil
}

func newBench(c Config) (*bench, error) {
	b := &bench{Config: c}
	speech, err := clip.Load(clip.Builtin)
	if err != nil {
		return nil, err
	}
	noise, err := clip.Noise(quietLevel, 2*time.Second)
	if err != nil {
		return nil, err
	}
	if c.Pin {
		if runtime.NumCPU() < 2 {
			return nil, fmt.Errorf("%w: --pin needs two processors", ErrServer)
		}
		var rest []int
		for i := 1; i < runtime.NumCPU(); i++ {
			rest = append(rest, i)
		}
		b.serverCPUs = []int{0}
		if err := pinSelf(rest); err != nil {
			return nil, err
		}
	}
	b.quiet = clip.MarkableAll(noise, packetSize)
	if b.up, err = newUpstream(clip.MarkableAll(speech.Packets, packetSize), new(measure.Hist)); err != nil {
		return nil, err
	}
	if b.engine, err = sfu.NewEngine(sfu.Config{NodeID: "load", UDPListen: "0.0.0.0:0", Loopback: true}); err != nil {
		b.up.Close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	b.engine.Close()
	b.up.Close()
}

// Conclude takes the medians over the rounds, compares, and reaches the verdict.
func (d *Document) Conclude(kinds []string) {
	d.Medians, d.Ratios, d.Checks = map[string]*Round{}, map[string]float64{}, []Check{}
	for _, k := range kinds {
		d.Medians[k] = median(d.Rounds, k)
	}
	if bare := d.Medians[Bare]; bare != nil {
		d.ratio(EarOff, bare, cpuEarOff)
		d.ratio(EarOn, bare, cpuEarOn)
	}
	for _, r := range d.Rounds {
		if r.Server == EarOff || r.Server == EarOn {
			d.check(fmt.Sprintf("%s: packets lost", r.Server), float64(r.Up.Lost+r.Down.Lost), 0)
			d.check(fmt.Sprintf("%s: packets the gateway says it dropped", r.Server), dropped(r), 0)
		}
	}
	d.Verdict, d.ExitCode = report.Pass, report.ExitOK
	for _, c := range d.Checks {
		if !c.OK {
			d.Verdict, d.ExitCode = report.ThresholdsBroken, report.ExitThresholds
		}
	}
	// One round in which the tester itself was late says nothing; when it is most of them, the medians say nothing either.
	limited := 0
	for _, r := range d.Rounds {
		if len(r.Tester.Bottleneck) > 0 {
			limited++
		}
	}
	if 2*limited > len(d.Rounds) {
		d.Verdict, d.ExitCode = report.TesterBottleneck, report.ExitTesterLimited
	}
}

func (d *Document) ratio(kind string, bare *Round, cpu float64) {
	ours := d.Medians[kind]
	if ours == nil {
		return
	}
	d.Ratios[kind+" cpu"] = over(ours.CPUPerPacket, bare.CPUPerPacket)
	d.Ratios[kind+" setup_p95"] = over(ours.Setup.P95, bare.Setup.P95)
	d.check(kind+": CPU per packet against bare", d.Ratios[kind+" cpu"], cpu)
	d.check(kind+": setup p95 against bare", d.Ratios[kind+" setup_p95"], setupP95)
}

func (d *Document) check(name string, value, limit float64) {
	for i := range d.Checks { // the worst of all rounds
		if d.Checks[i].Name == name {
			d.Checks[i].Value = max(d.Checks[i].Value, value)
			d.Checks[i].OK = d.Checks[i].Value <= limit
			return
		}
	}
	d.Checks = append(d.Checks, Check{Name: name, Value: value, Limit: limit, OK: value <= limit})
}

// dropped is what the gateway counted, over all its counters of that kind; those with labels are parts of those without.
func dropped(r *Round) float64 {
	var n float64
	for name, v := range r.Drops {
		if !strings.Contains(name, "{") {
			n += v
		}
	}
	return n
}

func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// median takes each figure's median over the rounds of one kind; nil when there are none.
func median(rounds []*Round, kind string) *Round {
	var of []*Round
	for _, r := range rounds {
		if r.Server == kind {
			of = append(of, r)
		}
	}
	if len(of) == 0 {
		return nil
	}
	f := func(get func(*Round) float64) float64 {
		v := make([]float64, len(of))
		for i, r := range of {
			v[i] = get(r)
		}
		slices.Sort(v)
		if n := len(v); n%2 == 0 {
			return (v[n/2-1] + v[n/2]) / 2
		}
		return v[len(v)/2]
	}
	s := func(get func(*Round) measure.Summary) measure.Summary {
		return measure.Summary{
			Count: int(f(func(r *Round) float64 { return float64(get(r).Count) })),
			Min:   f(func(r *Round) float64 { return get(r).Min }), Mean: f(func(r *Round) float64 { return get(r).Mean }),
			P50: f(func(r *Round) float64 { return get(r).P50 }), P90: f(func(r *Round) float64 { return get(r).P90 }),
			P95: f(func(r *Round) float64 { return get(r).P95 }), P99: f(func(r *Round) float64 { return get(r).P99 }),
			Max: f(func(r *Round) float64 { return get(r).Max }),
		}
	}
	n := func(get func(*Round) uint64) uint64 {
		return uint64(f(func(r *Round) float64 { return float64(get(r)) }))
	}
	way := func(get func(*Round) Direction) Direction {
		return Direction{
			Sent: n(func(r *Round) uint64 { return get(r).Sent }), Arrived: n(func(r *Round) uint64 { return get(r).Arrived }),
			Lost: n(func(r *Round) uint64 { return get(r).Lost }), Reordered: n(func(r *Round) uint64 { return get(r).Reordered }),
			Latency: s(func(r *Round) measure.Summary { return get(r).Latency }),
		}
	}
	return &Round{
		Server:       kind,
		CPUPerPacket: f(func(r *Round) float64 { return r.CPUPerPacket }), CPUSeconds: f(func(r *Round) float64 { return r.CPUSeconds }),
		Packets: n(func(r *Round) uint64 { return r.Packets }), SetupCPU: f(func(r *Round) float64 { return r.SetupCPU }),
		Setup: s(func(r *Round) measure.Summary { return r.Setup }), Channel: s(func(r *Round) measure.Summary { return r.Channel }),
		FirstAudio: s(func(r *Round) measure.Summary { return r.FirstAudio }),
		Up:         way(func(r *Round) Direction { return r.Up }), Down: way(func(r *Round) Direction { return r.Down }),
		HeapKB: f(func(r *Round) float64 { return r.HeapKB }), RSSKB: f(func(r *Round) float64 { return r.RSSKB }),
		Goroutines: f(func(r *Round) float64 { return r.Goroutines }), IdleRSSMB: f(func(r *Round) float64 { return r.IdleRSSMB }),
	}
}
