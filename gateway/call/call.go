package call

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hovor/gateway/call/conversation"
	"hovor/gateway/provider"
	"hovor/gateway/usage"
	"hovor/sfu"
	"hovor/signaling/realtime"
	"hovor/signaling/realtime/dialect"
	"hovor/tools"
	"hovor/vad/turn"
)

// Call is one call. New is cheap, Answer negotiates, Run lives.
type Call struct {
	opts     Options
	log      *slog.Logger
	observer Observer
	begin    time.Time

	mail     *mailbox
	overflow atomic.Bool
	client   client
	ice      ice
	up       uplink
	down     downlink
	ear      *ear // nil: off

	state  conversation.State // actor only, like what follows
	now    []conversation.Effect
	next   []conversation.Happening // to be stepped before the next letter
	leg    provider.Leg
	sides  []*sideband
	ledger *usage.Ledger

	setup    provider.Setup // of the provider's leg
	legs     context.Context
	work     sync.WaitGroup // goroutines of the legs
	endLeg   context.CancelFunc
	spare    *spare
	spares   uint64
	renewals int  // of the provider's connection
	broken   bool // a step panicked

	current  atomic.Uint64 // number of the leg whose events count
	expired  atomic.Bool   // the provider says that its session has reached its limit
	attached atomic.Int32  // sidebands so far, also those that have left
	snapshot atomic.Pointer[Snapshot]
	view     atomic.Pointer[realtime.Session]
	done     chan struct{}
	once     sync.Once
}

// New makes a call; it starts nothing.
func New(o Options) *Call {
	if o.ID == "" {
		o.ID = realtime.NewID("rtc")
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.AudioPath == "" {
		o.AudioPath = "relay"
	}
	c := &Call{opts: o, log: o.Logger.With("call", o.ID), observer: o.Observer, begin: time.Now(), mail: newMailbox(),
		ledger: usage.NewLedger(o.ID), done: make(chan struct{})}
	var first []conversation.Effect
	c.state, first = conversation.Start(c.config())
	c.now = first
	c.publish()
	return c
}

// config is what the conversation starts from.
func (c *Call) config() conversation.Config {
	o := &c.opts
	if o.Assistant.Language == "" {
		o.Assistant.Language = o.Person.Language
	}
	cfg := conversation.Config{CallID: o.ID, PersonID: o.Person.ID, PersonName: o.Person.Name, AudioPath: o.AudioPath,
		Assistant: o.Assistant, Requested: o.Session, Ear: o.Detector != nil, Socket: o.Socket != nil, Limits: o.Limits,
		Seed: realtime.NewID("")[1:13], SessionID: realtime.NewID("sess"), Epoch: c.begin}
	if o.Thread != nil {
		cfg.ThreadID, cfg.Base = o.Thread.ID(), o.Thread.Base()
	}
	return cfg
}

// ID is the call's id.
func (c *Call) ID() string { return c.opts.ID }

// Person is whose call it is.
func (c *Call) Person() tools.Person { return c.opts.Person }

// Assistant is who answers.
func (c *Call) Assistant() Assistant { return c.opts.Assistant }

// Began is when the call was made.
func (c *Call) Began() time.Time { return c.begin }

// State is where the call stands; safe from any goroutine.
func (c *Call) State() Snapshot { return *c.snapshot.Load() }

// Session is the effective session as the client may see it; safe from any goroutine.
func (c *Call) Session() realtime.Session { return *c.view.Load() }

// Done is closed when the call is over.
func (c *Call) Done() <-chan struct{} { return c.done }

// Answer answers the client's offer; a client with a WebSocket needs none, and gets none. Errors are those of
// sfu.Engine.Accept. Run must follow a nil error.
func (c *Call) Answer(ctx context.Context, offer string) (sdp string, err error) {
	begin := time.Now()
	if c.opts.Detector != nil {
		e := &ear{Ear: turn.New(c.opts.Detector(), c.opts.Ear), begin: c.begin, post: func(ev conversation.EarEvent) { c.mail.post(fromHouse, ev) }}
		e.applied = listen(realtime.Null[realtime.TurnDetection](), c.opts.Ear)
		e.wanted.Store(e.applied)
		c.ear = e
		if c.up.tap, err = c.opts.Engine.NewTap(e.frame); err != nil {
			return "", fmt.Errorf("open the ear: %w", err)
		}
	}
	if c.opts.Socket != nil {
		c.connectSocket()
	} else if sdp, err = c.accept(ctx, offer); err != nil {
		if c.up.tap != nil {
			c.up.tap.Close()
		}
		return "", err
	}
	c.down.Downlink, c.down.begin = sfu.NewDownlink(c.client), c.begin
	if c.opts.Socket != nil {
		c.down.Cut() // audio is told by its item's name, so none passes before the name is known
	}
	c.down.post = func(f conversation.FirstAudio) { c.mail.post(fromHouse, f) }
	c.observer.SetupPhase("signaling", time.Since(begin))
	return sdp, nil
}

func (c *Call) accept(ctx context.Context, offer string) (string, error) {
	edge := dialect.NewEdge(c.opts.Dialect)
	p, err := c.opts.Engine.Accept(ctx, offer, c.clientHandlers(edge))
	if err != nil {
		return "", err
	}
	c.client = &peer{Peer: p, edge: edge}
	c.ice.offer, c.ice.etag = offer, realtime.NewID("ice")
	return p.LocalSDP(), nil
}

func (c *Call) connectSocket() {
	c.up.counted = true
	c.client = newWire(c, c.opts.Socket, c.opts.Dialect)
	c.mail.post(fromHouse, conversation.ChannelOpened{})
}

// Hangup asks for the end. It does not wait; the first reason counts.
func (c *Call) Hangup(r EndReason) { c.mail.post(fromHouse, conversation.EndAsked{Reason: r}) }

// Screen delivers hovor.screen.request to the page. Errors: ErrNotLive when no page is connected, ErrBusy.
func (c *Call) Screen(r tools.ScreenRequest) error {
	if s := c.State(); !s.Channel || s.Ended {
		return ErrNotLive
	}
	ok := c.mail.post(fromHouse, conversation.ScreenAsked{Request: realtime.HovorScreenRequest{RequestID: r.RequestID, CallID: r.CallID,
		Epoch: r.Epoch, Tool: r.Tool, Arguments: r.Arguments, ExpiresInMS: int(r.ExpiresIn.Milliseconds())}})
	if !ok {
		return ErrBusy
	}
	return nil
}

// Tool tells the page how a tool call proceeds; no content. It does not wait.
func (c *Call) Tool(callID, name, class, status string) {
	c.mail.post(fromHouse, conversation.ToolMoved{Progress: realtime.HovorTool{CallID: callID, Name: name, Class: class, Status: status}})
}
