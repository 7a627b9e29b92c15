package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/cmd/hovor-load/internal/host"
	"hovor/cmd/hovor-load/internal/load"
	"hovor/cmd/hovor-load/internal/measure"
	"hovor/cmd/hovor-load/internal/person"
	"hovor/cmd/hovor-load/internal/report"
	"hovor/cmd/hovor-load/internal/scrape"
	"hovor/gateway/telemetry"
	"hovor/sfu"
)

type runCmd struct {
	URL   string `default:"http://127.0.0.1:8080" help:"The gateway. With or without /v1/realtime." json:"url"`
	Model string `default:"gpt-realtime" help:"Model or assistant alias to ask for." json:"model"`

	Token  string `env:"HOVOR_TOKEN" help:"Bearer token of the person that speaks, or a client secret (ek_…), which is used as it is." json:"-"`
	Person string `default:"demo-alice" help:"Demo person whose token is used when no --token is given." json:"person"`

	Sessions int           `short:"n" default:"1" help:"Calls at once." json:"sessions"`
	Ramp     float64       `default:"10" help:"Calls begun per second." json:"ramp"`
	Duration time.Duration `short:"d" default:"30s" help:"How long all calls stay up together; with --turns at most so long." json:"duration"`
	Turns    int           `default:"0" help:"Turns per call, then hang up. 0: until the duration is over." json:"turns"`

	WAV         string        `name:"wav" default:"builtin" help:"What is said: 16-bit PCM WAV of 8, 16, 24 or 48 kHz, or the built-in sentence." json:"wav"`
	Mode        string        `enum:"open,ptt" default:"open" help:"Open microphone or push-to-talk." json:"mode"`
	Interrupt   string        `placeholder:"WAV" help:"Say this over the answer; a WAV file, or builtin." json:"interrupt"`
	InterruptAt time.Duration `default:"800ms" help:"When, after the first audible sample of the answer." json:"interrupt_at"`

	Pause        time.Duration `default:"1s" help:"Silence of the assistant before the next turn." json:"pause"`
	AnswerWithin time.Duration `default:"10s" help:"A turn not answered by then is missed." json:"answer_within"`
	SetupWithin  time.Duration `default:"15s" help:"A call not up by then has failed." json:"setup_within"`
	AudibleDB    float64       `name:"audible-db" default:"-50" help:"Level in dBFS from which the assistant is audible." json:"audible_db"`

	Threshold []string `sep:"none" placeholder:"METRIC:STAT<N" help:"Promise to check, such as yield_ms:p95<450 or missed_turns==0; may be repeated. A broken one makes the exit code 99. Without others on them, sessions_failed==0 and sessions_dropped==0 are promised." json:"threshold"`
	JSON      string   `name:"json" placeholder:"FILE" help:"Write everything to this file: whole, or not at all." json:"json"`
	Metrics   string   `placeholder:"URL" help:"The gateway's /metrics, to read its drop counters before and after (http://127.0.0.1:9090/metrics)." json:"metrics"`
}

// Run is the command. Its errors are usage errors or runtime failures; a bad result is an exitError.
func (c *runCmd) Run(ctx context.Context, std stdio) error {
	thresholds, habits, err := c.prepare()
	if err != nil {
		return err
	}
	engine, err := sfu.NewEngine(sfu.Config{NodeID: "load", UDPListen: "0.0.0.0:0", Loopback: true})
	if err != nil {
		return err
	}
	defer engine.Close()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = c.Sessions
	defer transport.CloseIdleConnections()
	web := &http.Client{Transport: transport, Timeout: c.SetupWithin}

	board := new(person.Board)
	doc := report.New(telemetry.BuildVersion(), c.flags())
	before, err := c.scrape(ctx, web)
	if err != nil {
		return err
	}
	self := watchSelf()
	quiet := showProgress(std.err, board, c.Sessions)
	err = load.Run(ctx, load.Config{
		BaseURL: load.BaseURL(c.URL), Token: c.token(), Model: c.Model, Mint: !strings.HasPrefix(c.token(), "ek_"),
		Sessions: c.Sessions, Ramp: c.Ramp, Duration: c.Duration, SetupWithin: c.SetupWithin,
		Habits: habits, Audible: c.AudibleDB, Engine: engine, HTTP: transport,
	}, board)
	quiet()
	if err != nil && !errors.Is(err, load.ErrNobodyConnected) && !errors.Is(err, context.Canceled) {
		return err
	}
	if before != nil {
		select {
		case <-time.After(settle):
		case <-ctx.Done():
		}
		if after, e := c.scrape(context.WithoutCancel(ctx), web); e == nil {
			doc.Gateway = after.Rose(before, interesting)
		}
	}
	tester, took := self()
	doc.Take(board, tester, thresholds, took)
	doc.Table(std.out, board)
	if err != nil {
		return err // a run without a session, or half a run, leaves no file
	}
	if c.JSON != "" {
		if err := report.WriteFile(c.JSON, doc); err != nil {
			return err
		}
	}
	if doc.ExitCode != report.ExitOK {
		return exitError(doc.ExitCode)
	}
	return nil
}

// settle is what a gateway gets to count the last calls in.
const settle = 500 * time.Millisecond

// prepare checks everything that can be checked before anybody is called.
func (c *runCmd) prepare() ([]measure.Threshold, person.Habits, error) {
	h := person.Habits{
		Mode: person.Mode(c.Mode), InterruptAt: c.InterruptAt, Turns: c.Turns, Pause: c.Pause, AnswerWithin: c.AnswerWithin,
	}
	switch {
	case c.Sessions < 1:
		return nil, h, usage("--sessions must be at least 1")
	case c.Ramp <= 0:
		return nil, h, usage("--ramp must be above 0")
	case c.Turns < 0:
		return nil, h, usage("--turns must not be negative")
	case c.Duration <= 0 || c.Pause <= 0 || c.AnswerWithin <= 0 || c.SetupWithin <= 0 || c.InterruptAt < 0:
		return nil, h, usage("durations must be above 0")
	}
	kinds := map[string]bool{}
	for _, f := range new(person.Board).Figures() {
		kinds[f.Name] = f.Dist != nil
	}
	var thresholds []measure.Threshold
	for _, text := range withDefaults(c.Threshold) {
		t, err := measure.ParseThreshold(text, kinds)
		if err != nil {
			return nil, h, usage("%w", err)
		}
		thresholds = append(thresholds, t)
	}
	var err error
	if h.Speech, err = clip.Load(c.WAV); err != nil {
		return nil, h, usage("--wav: %w", plain(err))
	}
	if c.Interrupt != "" {
		if h.Interrupt, err = clip.Load(c.Interrupt); err != nil {
			return nil, h, usage("--interrupt: %w", plain(err))
		}
	}
	return thresholds, h, nil
}

// withDefaults adds what is promised unless the command line says otherwise: that every call comes up and stays up.
func withDefaults(given []string) []string {
	out := given
	for _, metric := range []string{"sessions_failed", "sessions_dropped"} {
		if !slices.ContainsFunc(given, func(t string) bool { return strings.HasPrefix(strings.TrimSpace(t), metric) }) {
			out = append(out, metric+"==0")
		}
	}
	return out
}

// plain says "no such file" without the name of a system call.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", at.Path, at.Err)
	}
	return err
}

func (c *runCmd) token() string {
	if c.Token != "" {
		return c.Token
	}
	return c.Person
}

func (c *runCmd) scrape(ctx context.Context, web *http.Client) (scrape.Values, error) {
	if c.Metrics == "" {
		return nil, nil
	}
	return scrape.Get(ctx, web, c.Metrics)
}

// interesting keeps the gateway's counters that say whether it lost, dropped or refused anything.
func interesting(name string) bool {
	if !strings.HasPrefix(name, "hovor_") {
		return false
	}
	for _, word := range []string{"drop", "stale", "lost", "refused", "concealed", "errors", "packets_total"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// watchSelf begins to watch the tester; the returned function ends it.
func watchSelf() func() (measure.Tester, time.Duration) {
	begun, cpu, ticks := time.Now(), host.OwnCPU(), host.HostTicks()
	return func() (measure.Tester, time.Duration) {
		took := time.Since(begun)
		t := measure.Tester{CPUSeconds: (host.OwnCPU() - cpu).Seconds(), Quota: host.Quota(), HostBusy: host.HostTicks().Since(ticks)}
		if wall := took.Seconds() * t.Quota; wall > 0 {
			t.CPURatio = t.CPUSeconds / wall
		}
		return t, took
	}
}
