package client

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/signaling/realtime"
)

// Config is one call to open.
type Config struct {
	BaseURL  string            // up to and including /v1/realtime
	Token    string            // sent as a bearer; never logged
	Model    string            // ?model=; empty when the token's session names it
	Session  *realtime.Session // sent as the first session.update once the channel is open; nil = none
	Engine   *sfu.Engine       // where the media runs
	HTTP     *http.Client      // nil = http.DefaultClient; a test gives one that stays in its bubble
	Header   http.Header       // further request headers
	Handlers Handlers
	Logger   *slog.Logger // nil = discard
}

// Handlers are called on media goroutines and must not block. All are optional.
type Handlers struct {
	// Event is one event of the server. raw is the frame as it came and belongs to the callee; ev is nil when the frame is
	// no event this module knows, or breaks its schema.
	Event  func(raw []byte, ev realtime.Event)
	Packet func(*rtp.Packet, time.Time)
	State  func(sfu.State)
	Phase  func(sfu.Phase, time.Duration)
	Open   func()
}

// Conn is an open call.
type Conn struct{}

// Dial opens a call: offer, POST, answer. It returns when the answer is applied; Ready waits for the media and the channel.
func Dial(ctx context.Context, cfg Config) (*Conn, error) { return nil, nil }

// MintSecret asks baseURL for a client secret, with key as the bearer.
func MintSecret(ctx context.Context, hc *http.Client, baseURL, key string, req realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	return nil, nil
}

func (c *Conn) Ready(ctx context.Context) error  { return nil }
func (c *Conn) Send(e realtime.Event) error      { return nil }
func (c *Conn) SendRaw(msg []byte) error         { return nil }
func (c *Conn) WriteRTP(p *rtp.Packet) error     { return nil }
func (c *Conn) CallID() string                   { return "" }
func (c *Conn) Peer() *sfu.Peer                  { return nil }
func (c *Conn) Run(ctx context.Context) error    { return nil }
func (c *Conn) Hangup(ctx context.Context) error { return nil }

// InProcess is an HTTP client that calls h directly, without a socket.
func InProcess(h http.Handler) *http.Client { return nil }
