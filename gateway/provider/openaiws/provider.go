package openaiws

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// Config says where the provider is and how to be let in.
type Config struct {
	Name    string        // label for metrics; empty = "openaiws"
	BaseURL string        // ".../v1/realtime" over ws(s) or http(s); a query in it is kept
	Key     func() string // the server's own credential, read at each dial; sent as a bearer
	// Authorize, when set, gives the headers of a dial in place of Key. Its errors are, or wrap, a *provider.Error.
	Authorize func(ctx context.Context) (http.Header, error)
	Model     string // used when the setup names none; sent as ?model=

	Net func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the operating system
	TLS *tls.Config                                                       // nil = the system's roots

	Connect time.Duration // for connecting and configuring together, with the tries that are due; 0 = 10 s
	Limit   time.Duration // how long the provider keeps a session that names no end; 0 = 60 min, negative = no limit
	Fixed   bool          // never renew a connection: lost is lost
	// Shape takes out of a session what this provider refuses. What it refuses by name (unknown_parameter) is left out anyway.
	Shape  func(s realtime.Session) realtime.Session
	Logger *slog.Logger // nil = silent
}

// String keeps the credential out of what is printed.
func (c Config) String() string { return "provider " + c.Name + " at " + c.BaseURL }

// sessionLimit is how long OpenAI keeps a session (openai/openai-agents-js#1278).
const sessionLimit = time.Hour

// Provider dials legs over WebSocket.
type Provider struct{ cfg Config }

var _ provider.Provider = (*Provider)(nil)

// New makes the provider; it connects to nothing.
func New(cfg Config) *Provider {
	if cfg.Name == "" {
		cfg.Name = "openaiws"
	}
	if cfg.Connect == 0 {
		cfg.Connect = 10 * time.Second
	}
	if cfg.Limit == 0 {
		cfg.Limit = sessionLimit
	}
	if cfg.Shape == nil {
		cfg.Shape = func(s realtime.Session) realtime.Session { return s }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Provider{cfg: cfg}
}

// Name is the label for metrics.
func (p *Provider) Name() string { return p.cfg.Name }

// Dial opens a connection, configures the session and hands the history over.
func (p *Provider) Dial(ctx context.Context, s provider.Setup, sink provider.Sink) (provider.Leg, error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Connect)
	defer cancel()
	l, err := newLeg(p.cfg, s, sink)
	if err != nil {
		return nil, &provider.Error{Class: provider.Unclassified, Err: err}
	}
	if err := l.line.Start(ctx); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// target is the URL of the socket.
func (c *Config) target(model string) string {
	u := c.BaseURL
	if rest, ok := strings.CutPrefix(u, "http"); ok {
		u = "ws" + rest
	}
	if model == "" {
		return u
	}
	sep := "?"
	if strings.Contains(u, "?") {
		sep = "&"
	}
	return u + sep + "model=" + url.QueryEscape(model)
}

func (c *Config) header(ctx context.Context) (http.Header, error) {
	if c.Authorize != nil {
		return c.Authorize(ctx)
	}
	h := http.Header{}
	if c.Key != nil {
		if key := c.Key(); key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	}
	return h, nil
}
