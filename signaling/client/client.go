package client

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/signaling/realtime"
)

// Config is one call to open. It prints without its token.
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

// String keeps the token out of what is printed.
func (c Config) String() string { return fmt.Sprintf("call to %s, model %q", c.BaseURL, c.Model) }

// GoString covers %#v.
func (c Config) GoString() string { return c.String() }

// LogValue covers slog.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Handlers are called on media goroutines and must not block. All are optional.
type Handlers struct {
	// Event is one event of the server. raw is the frame as it came and belongs to the callee; ev is nil when the frame is
	// no event this module knows, or breaks its schema: realtime.Decode says which.
	Event func(raw []byte, ev realtime.Event)
	// Packet is one audio packet, always from the same goroutine; p is valid until return.
	Packet func(p *rtp.Packet, at time.Time)
	// State is called once per change, in order.
	State func(sfu.State)
	// Phase is called once per phase with the time since the answer was applied.
	Phase func(sfu.Phase, time.Duration)
	// Open: the event channel is open, and the first session.update is on its way.
	Open func()
}

// Conn is an open call. The caller must Run it, or Close it.
type Conn struct {
	cfg    Config
	peer   *sfu.Peer
	callID string
	links  []string

	session iceSession

	readyOnce, goneOnce sync.Once
	ready               chan struct{} // closed when connected and the channel is open
	gone                chan struct{} // closed when the connection has failed or ended

	mu              sync.Mutex // guards the two flags
	connected, open bool
}

// Dial opens a call: offer, POST, answer. ctx bounds the opening, not the call. It returns when the answer is applied;
// Ready waits for the media and the channel. Errors: ErrConfig, ErrTransport, ErrReply, *realtime.Error for what the
// server refused, those of sfu for an answer that cannot be applied.
func Dial(ctx context.Context, cfg Config) (*Conn, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	c := &Conn{cfg: cfg, ready: make(chan struct{}), gone: make(chan struct{})}
	peer, err := cfg.Engine.Offer(ctx, sfu.Handlers{
		State: c.onState, Phase: cfg.Handlers.Phase, Open: c.onOpen, Message: c.onMessage, Packet: cfg.Handlers.Packet,
	})
	if err != nil {
		return nil, fmt.Errorf("open call: %w", err)
	}
	c.peer = peer
	got, err := cfg.postOffer(ctx, peer.LocalSDP())
	if err == nil {
		c.callID, c.session, c.links = got.callID, iceSession{etag: got.etag, remote: got.answer}, got.links
		err = peer.SetAnswer(ctx, got.answer)
	}
	if err != nil {
		c.abandon(ctx)
		_ = peer.Close()
		return nil, fmt.Errorf("open call: %w", err)
	}
	return c, nil
}

// abandonWithin bounds the hang-up of a call that was answered and then not wanted.
const abandonWithin = 2 * time.Second

// abandon hangs up a call that the server has answered: it would wait for media that never come.
func (c *Conn) abandon(ctx context.Context) {
	if c.callID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	if err := c.cfg.postHangup(ctx, c.callID); err != nil {
		c.cfg.Logger.Debug("hang-up not delivered", "error", err)
	}
}

func (c *Config) complete() error {
	switch {
	case c.BaseURL == "":
		return fmt.Errorf("%w: no base URL", ErrConfig)
	case c.Engine == nil:
		return fmt.Errorf("%w: no engine", ErrConfig)
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

func (c *Conn) onState(s sfu.State) {
	switch s {
	case sfu.StateConnected:
		c.mark(&c.connected)
	case sfu.StateFailed, sfu.StateClosed:
		c.goneOnce.Do(func() { close(c.gone) })
	}
	if c.cfg.Handlers.State != nil {
		c.cfg.Handlers.State(s)
	}
}

func (c *Conn) onOpen() {
	if c.cfg.Session != nil {
		if err := c.Send(&realtime.SessionUpdate{Session: *c.cfg.Session}); err != nil {
			c.cfg.Logger.Error("first session.update not sent", "err", err)
		}
	}
	c.mark(&c.open)
	if c.cfg.Handlers.Open != nil {
		c.cfg.Handlers.Open()
	}
}

func (c *Conn) mark(flag *bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*flag = true
	if c.connected && c.open {
		c.readyOnce.Do(func() { close(c.ready) })
	}
}

func (c *Conn) onMessage(raw []byte) {
	if c.cfg.Handlers.Event == nil {
		return
	}
	ev, err := realtime.Decode(realtime.FromServer, raw)
	if err != nil {
		c.cfg.Logger.Debug("server event not understood", "err", err)
	}
	c.cfg.Handlers.Event(raw, ev)
}

// Ready waits until media is connected and the event channel is open. Errors: ErrGone, or ctx's.
func (c *Conn) Ready(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-c.gone:
		return ErrGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Send encodes and queues one event; it never blocks. Errors: those of realtime.Encode and of sfu.Peer.Send.
func (c *Conn) Send(e realtime.Event) error {
	raw, err := realtime.Encode(e)
	if err != nil {
		return err
	}
	return c.peer.Send(raw)
}

// SendRaw queues one frame as it is; it never blocks.
func (c *Conn) SendRaw(msg []byte) error { return c.peer.Send(msg) }

// WriteRTP sends one audio packet; see sfu.Peer.WriteRTP.
func (c *Conn) WriteRTP(p *rtp.Packet) error { return c.peer.WriteRTP(p) }

// CallID is the server's id of this call, empty when it did not tell.
func (c *Conn) CallID() string { return c.callID }

// Peer is the media side.
func (c *Conn) Peer() *sfu.Peer { return c.peer }

// Run blocks until ctx ends, which closes the connection, or until the far side is gone. It sends no hang-up: a server
// notices the closed connection; Hangup says it outright.
func (c *Conn) Run(ctx context.Context) error {
	err := c.peer.Run(ctx)
	c.goneOnce.Do(func() { close(c.gone) })
	return err
}

// Close ends a call that is not run, and makes a running Run return.
func (c *Conn) Close() error {
	c.goneOnce.Do(func() { close(c.gone) })
	return c.peer.Close()
}

// Hangup tells the server that the call is over. A call that it does not know any more counts as ended. A server that
// named no call id cannot be told; closing the connection does it then.
func (c *Conn) Hangup(ctx context.Context) error {
	if c.callID == "" {
		return nil
	}
	return c.cfg.postHangup(ctx, c.callID)
}
