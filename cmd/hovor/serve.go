package main

import (
	"fmt"
	"log/slog"
	"os"

	"hovor/gateway"
	"hovor/gateway/config"
	"hovor/gateway/telemetry"
)

type serveCmd struct {
	Config      string `help:"The configuration file; without it the quickstart." type:"existingfile" placeholder:"FILE"`
	Listen      string `help:"Public address, instead of the file's." placeholder:"HOST:PORT"`
	AdminListen string `help:"Address of metrics and health, instead of the file's." placeholder:"HOST:PORT"`
	MediaPort   *int   `help:"The one UDP and TCP port for audio, instead of the file's." placeholder:"PORT"`
}

// Run serves until a signal, drains, and returns nil.
func (c serveCmd) Run() error {
	cfg, err := load(c.Config)
	if err != nil {
		return err
	}
	c.override(cfg)
	if problems := cfg.Validate(); len(problems) > 0 {
		return problems
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Log.Level)); err != nil {
		return err
	}
	ctx, cancel := untilSignal()
	defer cancel()
	server, err := gateway.New(cfg, telemetry.NewLogger(os.Stderr, level))
	if err != nil {
		return err
	}
	c.greet(cfg, server)
	return server.Run(ctx)
}

func (c serveCmd) override(cfg *config.Config) {
	if c.Listen != "" {
		cfg.Listen = c.Listen
	}
	if c.AdminListen != "" {
		cfg.AdminListen = c.AdminListen
	}
	if c.MediaPort != nil {
		cfg.Media.Port = *c.MediaPort
	}
}

// greet says where to look and, in the quickstart, what to say.
func (c serveCmd) greet(cfg *config.Config, s *gateway.Server) {
	fmt.Printf("hovor %s\n\n  page     %s\n  metrics  %s/metrics\n", telemetry.BuildVersion(), s.PublicURL(), s.AdminURL())
	if cfg.Demo.On {
		fmt.Print(`
  Open the page, press Start talking, and say in English: "hello", "open the document welcome",
  "read the document pricing", or "tell me a long story" and talk over it.
  Type in Czech, German, Russian or English. Only Alice may have the pricing read to her.
`)
	}
	fmt.Println("\n  Ctrl-C ends calls and exits; once more exits at once.")
}
