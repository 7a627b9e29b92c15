package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hovor/cmd/hovor-load/internal/bench"
	"hovor/cmd/hovor-load/internal/host"
	"hovor/cmd/hovor-load/internal/report"
	"hovor/gateway/telemetry"
)

type benchCmd struct {
	Sessions int           `short:"n" default:"50" help:"Calls at once." json:"sessions"`
	Ramp     float64       `default:"10" help:"Calls begun per second." json:"ramp"`
	WarmUp   time.Duration `default:"3s" help:"Time between the last setup and the steady state." json:"-"`
	Duration time.Duration `short:"d" default:"20s" help:"Steady state that is measured." json:"-"`
	Repeat   int           `default:"3" help:"Rounds; the servers take turns within each." json:"repeat"`
	Only     []string      `placeholder:"SERVER" help:"Which servers, of direct, bare, ear-off, ear-on. Default: all but direct." json:"only"`
	Pin      bool          `help:"Keep the server on one processor and this program on the others." json:"pin"`
	Hovor    string        `placeholder:"PATH" help:"The gateway's program. Default: hovor beside this one." json:"-"`
	Model    string        `default:".models/silero/silero_vad_16k_op15.onnx" help:"The detector's weights (make models)." json:"-"`
	JSON     string        `name:"json" placeholder:"FILE" help:"Write everything to this file: whole, or not at all." json:"-"`
}

func (c *benchCmd) Run(ctx context.Context, std stdio) error {
	cfg, err := c.config(std)
	if err != nil {
		return err
	}
	flags := asMap(c)
	flags["duration"], flags["warm_up"] = c.Duration.String(), c.WarmUp.String()
	doc := &bench.Document{
		Schema: bench.Schema, Build: report.ThisBuild(telemetry.BuildVersion()), Host: host.Describe(), Flags: flags,
		Started: time.Now().UTC().Truncate(time.Millisecond),
	}
	if err := bench.Compare(ctx, cfg, doc); err != nil {
		return err
	}
	doc.Table(std.out, cfg)
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

func (c *benchCmd) config(std stdio) (bench.Config, error) {
	cfg := bench.Config{
		Hovor: c.Hovor, Model: c.Model, Kinds: c.Only, Sessions: c.Sessions, Ramp: c.Ramp, WarmUp: c.WarmUp, Duration: c.Duration,
		Repeat: c.Repeat, Pin: c.Pin, Progress: func(s string) { fmt.Fprintln(std.err, s) },
	}
	if c.Sessions < 1 || c.Repeat < 1 || c.Ramp <= 0 || c.Duration <= 0 || c.WarmUp < 0 {
		return cfg, usage("--sessions, --repeat, --ramp and --duration must be above 0")
	}
	if len(cfg.Kinds) == 0 {
		cfg.Kinds = []string{bench.Bare, bench.EarOff, bench.EarOn}
	}
	ours := false
	for _, k := range cfg.Kinds {
		switch k {
		case bench.Direct, bench.Bare:
		case bench.EarOff, bench.EarOn:
			ours = true
		default:
			return cfg, usage("--only %s: there are direct, bare, ear-off and ear-on", k)
		}
	}
	var err error
	if cfg.Self, err = os.Executable(); err != nil {
		return cfg, err
	}
	if cfg.Hovor == "" {
		cfg.Hovor = filepath.Join(filepath.Dir(cfg.Self), "hovor")
	}
	if _, err := os.Stat(cfg.Hovor); ours && err != nil {
		return cfg, usage("the gateway's program: %w (make build, or --hovor PATH)", plain(err))
	}
	return cfg, nil
}

type bareRelayCmd struct {
	Listen   string `default:"127.0.0.1:0" help:"HTTP address."`
	Upstream string `required:"" help:"API base of the upstream, …/v1."`
}

func (c *bareRelayCmd) Run(ctx context.Context, std stdio) error {
	return bench.ServeBareRelay(ctx, c.Listen, c.Upstream, std.out)
}
