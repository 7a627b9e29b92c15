package openai

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"hovor/gateway/provider"
	"hovor/sfu"
)

// Config says where the provider is and how to be let in.
type Config struct {
	Name    string        // label for metrics; empty = "openai"
	BaseURL string        // ".../v1/realtime"
	Key     func() string // the server's own credential, read at each dial
	Mint    bool          // first mint a client secret with Key and open the call with it
	Model   string        // used when the setup names none
	Engine  *sfu.Engine   // the upstream leg's sockets
	HTTP    *http.Client  // nil = http.DefaultClient
	Connect time.Duration // for handshake, media and event channel together; 0 = 10 s
	Logger  *slog.Logger  // nil = silent
}

// New makes the provider; it connects to nothing.
func New(cfg Config) *Provider { return &Provider{cfg: cfg} }

// Provider dials legs over WebRTC.
type Provider struct{ cfg Config }

var _ provider.Provider = (*Provider)(nil)

// Name is the label for metrics.
func (p *Provider) Name() string { return p.cfg.Name }

// Dial implements provider.Provider.
func (p *Provider) Dial(ctx context.Context, s provider.Setup, sink provider.Sink) (provider.Leg, error) {
	return nil, &provider.Error{Class: provider.Unreachable}
}
