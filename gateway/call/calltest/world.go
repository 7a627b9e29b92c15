package calltest

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/provider"
	"hovor/gateway/provider/openai"
	"hovor/gateway/thread"
	"hovor/sfu"
	"hovor/sfu/vnettest"
	"hovor/signaling"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
	"hovor/tools"
	"hovor/vad"
)

// Options shape a World. The zero value is a call over a perfect network with the ear on.
type Options struct {
	Link      vnettest.Link // browser ↔ gateway, both ways
	Upstream  vnettest.Link // gateway ↔ provider, both ways
	Seed      uint64
	Assistant call.Assistant
	Limits    call.Limits
	NoEar     bool
	Recorded  call.RecordedOutputs
	Observer  call.Observer
	Books     call.Books
	Threads   *thread.Store // nil: nothing is kept
	ThreadID  string        // with Threads: continue this one
	Person    tools.Person  // zero: alice
	Provider  provider.Provider
	MaxCalls  int
}

// World is three hosts and what runs on them.
type World struct {
	TB       testing.TB
	Net      *vnettest.Network
	Hosts    [3]*vnettest.Host // browser, gateway, provider
	Provider *Provider
	Manager  *call.Manager
	Options  Options

	browser *sfu.Engine
	gateway *sfu.Engine
	door    http.Handler
}

// New builds a world. Call it inside a bubble; it ends with the test.
func New(tb testing.TB, o Options) *World {
	tb.Helper()
	if o.Person.ID == "" {
		o.Person = tools.Person{ID: "alice", Name: "Alice", Language: "en"}
	}
	n := vnettest.New(tb, vnettest.Link{}, o.Seed+1)
	w := &World{TB: tb, Net: n, Options: o, Hosts: [3]*vnettest.Host{n.Host("10.0.0.1"), n.Host("10.0.0.2"), n.Host("10.0.0.3")}}
	n.SetBoth(w.Hosts[0], w.Hosts[1], o.Link)
	n.SetBoth(w.Hosts[1], w.Hosts[2], o.Upstream)
	w.browser, w.gateway = w.engine(0, "b"), w.engine(1, "g")
	w.Provider = newProvider(tb, w.engine(2, "p"))
	w.Manager = call.NewManager(call.ManagerConfig{Limit: o.MaxCalls})
	if w.Options.Provider == nil {
		w.Options.Provider = openai.New(openai.Config{Name: "script", BaseURL: "http://provider/v1/realtime", Key: func() string { return "sk-provider" },
			Engine: w.gateway, HTTP: client.InProcess(signaling.NewHandler(w.Provider, signaling.HandlerConfig{}))})
	}
	w.door = signaling.NewHandler(door{w}, signaling.HandlerConfig{})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.Manager.Run(ctx) })
	tb.Cleanup(func() { cancel(); wg.Wait() })
	return w
}

func (w *World) engine(host int, node string) *sfu.Engine {
	w.TB.Helper()
	e, err := sfu.NewEngine(sfu.Config{NodeID: node, Net: w.Hosts[host], UDPListen: "0.0.0.0:5000"})
	if err != nil {
		w.TB.Fatalf("engine: %v", err)
	}
	w.TB.Cleanup(func() { _ = e.Close() })
	return e
}

// options are those of one more call.
func (w *World) options(ctx context.Context, session *realtime.Session, d realtime.Dialect) (co call.Options, err error) {
	opts := w.Options
	co = call.Options{Person: opts.Person, Assistant: opts.Assistant, Session: session, Provider: opts.Provider, Engine: w.gateway,
		Recorded: opts.Recorded, Limits: opts.Limits, Observer: opts.Observer, Books: opts.Books, Dialect: d}
	if !opts.NoEar {
		co.Detector = func() vad.Detector { return &Loudness{} }
	}
	if opts.Threads != nil {
		if opts.ThreadID != "" {
			co.Thread, err = opts.Threads.Resume(ctx, opts.Person.ID, opts.ThreadID)
		} else {
			co.Thread, err = opts.Threads.Create(ctx, opts.Person.ID)
		}
	}
	return co, err
}

// door lets every offer in: who may is another package's business.
type door struct{ w *World }

func (d door) Mint(context.Context, signaling.Caller, realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	return &realtime.ClientSecret{Value: "ek_test"}, nil
}

func (d door) Open(ctx context.Context, _ signaling.Caller, o signaling.Offer) (*signaling.Answer, error) {
	co, err := d.w.options(ctx, o.Session, o.Dialect)
	if err != nil {
		return nil, err
	}
	c, sdp, err := d.w.Manager.Start(ctx, co, o.SDP)
	if err != nil {
		return nil, err
	}
	return &signaling.Answer{SDP: sdp, CallID: c.ID(), ETag: c.ETag()}, nil
}

func (d door) Patch(ctx context.Context, _ signaling.Caller, id string, p signaling.PatchRequest) (*signaling.PatchAnswer, error) {
	c, err := d.w.Manager.Get("", id)
	if err != nil {
		return nil, signaling.ErrCallNotFound
	}
	answer, etag, err := c.(*call.Call).Patch(ctx, p.IfMatch, p.Fragment)
	if err != nil {
		return nil, signaling.ErrPrecondition
	}
	return &signaling.PatchAnswer{ETag: etag, Fragment: answer}, nil
}

func (d door) Hangup(_ context.Context, _ signaling.Caller, id string) error {
	c, err := d.w.Manager.Get("", id)
	if err != nil {
		return signaling.ErrCallNotFound
	}
	c.Hangup(call.Hangup)
	return nil
}

func (d door) State(context.Context, signaling.Caller, string) (*signaling.CallState, error) {
	return nil, signaling.ErrCallNotFound
}

// Loudness is a detector for tones: loud is speech.
type Loudness struct{}

// WindowSamples is Silero's, so that timing is the real one.
func (*Loudness) WindowSamples() int { return 512 }

// Probability is near one for a tone and near zero for silence.
func (*Loudness) Probability(window []int16) float32 {
	var sum float64
	for _, s := range window {
		sum += float64(s) * float64(s)
	}
	if sum/float64(len(window)) > 500*500 {
		return 0.99
	}
	return 0.01
}

// Reset forgets nothing: there is nothing to forget.
func (*Loudness) Reset() {}

// Within polls cond in virtual time until it holds, and says how long that took. It fails the test after d.
func (w *World) Within(d time.Duration, what string, cond func() bool) time.Duration {
	w.TB.Helper()
	begin := time.Now()
	for !cond() {
		if time.Since(begin) > d {
			w.TB.Fatalf("%s: not within %v", what, d)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(begin)
}
