package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The servers that are compared.
const (
	Direct = "direct"  // no server at all: what the ends themselves cost in time
	Bare   = "bare"    // the plain Pion relay
	EarOff = "ear-off" // ours, the provider's turn detection used
	EarOn  = "ear-on"  // ours, every frame of the person decoded and judged
)

// server is one running server under test. process is nil for the direct way.
type server struct {
	*process
	base    string // …/v1/realtime
	metrics string // …/metrics
	token   string
}

// benchToken proves the one person of the bench configuration.
const benchToken = "bench-person"

// launch starts a server towards an upstream (…/v1). dir is for its files.
func launch(ctx context.Context, c Config, kind, upstream, dir string, cpus []int) (*server, error) {
	switch kind {
	case Direct:
		return &server{base: upstream + "/realtime", token: benchToken}, nil
	case Bare:
		return launchBare(ctx, c, upstream, dir, cpus)
	}
	return launchOurs(ctx, c, kind == EarOn, upstream, dir, cpus)
}

func launchBare(ctx context.Context, c Config, upstream, dir string, cpus []int) (*server, error) {
	p, err := start(c.Self, []string{"bare-relay", "--listen", "127.0.0.1:0", "--upstream", upstream}, nil, filepath.Join(dir, "bare.log"), cpus)
	if err != nil {
		return nil, err
	}
	text, err := p.until(ctx, "")
	if err != nil {
		p.stop()
		return nil, err
	}
	var at Address
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		p.stop()
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	return &server{process: p, base: at.HTTP + "/v1/realtime", metrics: at.HTTP + "/metrics", token: benchToken}, nil
}

// configuration is the gateway's for a bench: nothing but one person, one assistant, and the upstream.
const configuration = `listen: 127.0.0.1:0
admin_listen: 127.0.0.1:0
media:
  port: 0
  tcp: false
  loopback: true
store:
  path: %s
limits:
  sessions: %d
ear:
  off: %v
  model: %s
log:
  level: warn
people:
  - {id: bench, name: Bench, language: en, token: %s}
providers:
  - {name: upstream, kind: openai, url: "%s", key_env: HOVOR_BENCH_KEY}
assistants:
  - {name: bench, aliases: [bench, "*"], provider: upstream, no_tools: true}
`

func launchOurs(ctx context.Context, c Config, ear bool, upstream, dir string, cpus []int) (*server, error) {
	model, err := filepath.Abs(c.Model)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(configuration, filepath.Join(dir, "hovor.db"), c.Sessions+10, !ear, model, benchToken, upstream)
	file := filepath.Join(dir, "hovor.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p, err := start(c.Hovor, []string{"serve", "--config", file}, []string{"HOVOR_BENCH_KEY=bench"}, filepath.Join(dir, "hovor.log"), cpus)
	if err != nil {
		return nil, err
	}
	s := &server{process: p, token: benchToken}
	page, err := p.until(ctx, "page ")
	if err == nil {
		s.metrics, err = p.until(ctx, "metrics ")
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	s.base = strings.TrimSuffix(page, "/") + "/v1/realtime"
	return s, nil
}
