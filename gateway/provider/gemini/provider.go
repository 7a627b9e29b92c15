package gemini

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"hovor/gateway/provider"
)

// Config says where Live is and how to be let in.
type Config struct {
	Name    string        // label for metrics; empty = "gemini"
	BaseURL string        // empty = wss://generativelanguage.googleapis.com
	Key     func() string // an API key, or an ephemeral token ("auth_tokens/…"), read at each dial; sent in the query, as Live wants it
	Model   string        // used when the setup names none; "models/" may be left out
	Voice   string        // a prebuilt voice; empty = the session's if it is one of Google's, else Live's default

	Net func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the operating system
	TLS *tls.Config                                                       // nil = the system's roots

	Connect     time.Duration // for connecting and setting up together, with the tries that are due; 0 = 10 s
	Limit       time.Duration // how long Google keeps a connection; 0 = 10 min. It says goAway before, which counts
	ToolTimeout time.Duration // after which a tool call that nobody answered is answered with an error; 0 = 60 s
	Fixed       bool          // never renew a connection: lost is lost
	Logger      *slog.Logger  // nil = silent
}

// String keeps the credential out of what is printed.
func (c Config) String() string { return "provider " + c.Name + " at " + c.BaseURL }

const (
	host       = "wss://generativelanguage.googleapis.com"
	service    = "/ws/google.ai.generativelanguage.v1beta.GenerativeService."
	open       = "BidiGenerateContent"
	constraint = "BidiGenerateContentConstrained" // what an ephemeral token is for
)

// Provider dials legs to Live.
type Provider struct{ cfg Config }

var _ provider.Provider = (*Provider)(nil)

// New makes the provider; it connects to nothing.
func New(cfg Config) *Provider {
	if cfg.Name == "" {
		cfg.Name = "gemini"
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = host
	}
	if cfg.Connect == 0 {
		cfg.Connect = 10 * time.Second
	}
	if cfg.Limit == 0 {
		cfg.Limit = 10 * time.Minute
	}
	if cfg.ToolTimeout == 0 {
		cfg.ToolTimeout = time.Minute
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Provider{cfg: cfg}
}

// Name is the label for metrics.
func (p *Provider) Name() string { return p.cfg.Name }

// Dial opens a connection, sets it up and hands the history over.
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
	l.created()
	return l, nil
}

// target is the URL of the socket. It holds the key: never log it.
func (c *Config) target() string {
	u := c.BaseURL
	if rest, ok := strings.CutPrefix(u, "http"); ok {
		u = "ws" + rest
	}
	key := ""
	if c.Key != nil {
		key = c.Key()
	}
	if strings.HasPrefix(key, "auth_tokens/") {
		return u + service + constraint + "?access_token=" + url.QueryEscape(key)
	}
	return u + service + open + "?key=" + url.QueryEscape(key)
}

// modelName is the model as a setup names it.
func modelName(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "models/" + name
}
