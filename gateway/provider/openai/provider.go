package openai

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"hovor/gateway/provider"
	"hovor/sfu"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// Config says where the provider is and how to be let in.
type Config struct {
	Name    string        // label for metrics; empty = "openai"
	BaseURL string        // ".../v1/realtime"
	Key     func() string // the server's own credential, read at each dial
	Mint    bool          // first mint a client secret with Key and open the call with it
	Model   string        // used when the setup names none
	// Token, when set, gives what the call is opened with in place of Key and Mint: for a provider whose secrets are minted in
	// a way of its own. Its errors are, or wrap, a *provider.Error.
	Token func(ctx context.Context, s realtime.Session) (string, error)
	// Shape, when set, takes out of a session what this provider refuses.
	Shape   func(s realtime.Session) realtime.Session
	Engine  *sfu.Engine   // the upstream leg's sockets
	HTTP    *http.Client  // nil = http.DefaultClient
	Connect time.Duration // for handshake, media and event channel together; 0 = 10 s
	Logger  *slog.Logger  // nil = silent
}

// secretTTL is the shortest life of a client secret: it is used at once.
const secretTTL = 60

// Provider dials legs over WebRTC.
type Provider struct{ cfg Config }

var _ provider.Provider = (*Provider)(nil)

// New makes the provider; it connects to nothing.
func New(cfg Config) *Provider {
	if cfg.Name == "" {
		cfg.Name = "openai"
	}
	if cfg.Connect == 0 {
		cfg.Connect = 10 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Provider{cfg: cfg}
}

// Name is the label for metrics.
func (p *Provider) Name() string { return p.cfg.Name }

// Dial opens a call with the provider, waits for media and events, configures the session and hands the history over.
func (p *Provider) Dial(ctx context.Context, s provider.Setup, sink provider.Sink) (provider.Leg, error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Connect)
	defer cancel()
	model := s.Model
	if model == "" {
		model = p.cfg.Model
	}
	s.Session.Model = model
	if p.cfg.Shape != nil {
		s.Session = p.cfg.Shape(s.Session)
	}
	token, err := p.token(ctx, s.Session)
	if err != nil {
		return nil, err
	}
	l := &leg{sink: sink, model: model, shape: p.cfg.Shape, log: p.cfg.Logger.With("call", s.CallID), lost: make(chan struct{}), setup: make(chan error, 1)}
	l.conn, err = client.Dial(ctx, client.Config{BaseURL: p.cfg.BaseURL, Token: token, Model: model, Engine: p.cfg.Engine, HTTP: p.cfg.HTTP,
		Logger: p.cfg.Logger, Handlers: client.Handlers{Event: l.event, Packet: sink.ProviderPacket, State: l.state}})
	if err != nil {
		return nil, classify(err)
	}
	if err := l.prepare(ctx, s); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			l.hangup(ctx) // nobody waits for us any more, but the provider does, and counts us
		}
		_ = l.conn.Close()
		return nil, err
	}
	return l, nil
}

// token is what the call is opened with: the key itself, or a secret that is good for this one call.
func (p *Provider) token(ctx context.Context, s realtime.Session) (string, error) {
	if p.cfg.Token != nil {
		return p.cfg.Token(ctx, s)
	}
	key := ""
	if p.cfg.Key != nil {
		key = p.cfg.Key()
	}
	if !p.cfg.Mint {
		return key, nil
	}
	secret, err := client.MintSecret(ctx, p.cfg.HTTP, p.cfg.BaseURL, key, realtime.ClientSecretRequest{Session: &s,
		ExpiresAfter: &realtime.ExpiresAfter{Anchor: "created_at", Seconds: secretTTL}})
	if err != nil {
		return "", classify(err)
	}
	return secret.Value, nil
}
