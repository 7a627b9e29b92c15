package call

import (
	"context"

	"hovor/signaling/realtime"
	"hovor/tools"
)

// Call is one call. New is cheap, Answer negotiates, Run lives.
type Call struct{ opts Options }

// New makes a call; it starts nothing.
func New(o Options) *Call { return &Call{opts: o} }

// ID is the call's id.
func (c *Call) ID() string { return c.opts.ID }

// Person is whose call it is.
func (c *Call) Person() tools.Person { return c.opts.Person }

// Answer answers the client's offer. Errors are those of sfu.Engine.Accept. Run must follow a nil error.
func (c *Call) Answer(ctx context.Context, offer string) (sdp string, err error) {
	return "", ErrNotLive
}

// Run keeps the call until it ends or ctx does (drain_deadline). It returns when both legs are closed.
func (c *Call) Run(ctx context.Context) error { return ErrNotLive }

// Hangup asks for the end. It does not wait; the first reason counts.
func (c *Call) Hangup(r EndReason) {}

// Screen delivers hovor.screen.request to the page. ErrNotLive: no page is connected.
func (c *Call) Screen(req tools.ScreenRequest) error { return ErrNotLive }

// Tool tells the page how a tool call proceeds; no content.
func (c *Call) Tool(callID, name, class, status string) {}

// State is where the call stands; safe from any goroutine.
func (c *Call) State() Snapshot { return Snapshot{} }

// Session is the effective session as the client may see it.
func (c *Call) Session() realtime.Session { return realtime.Session{} }
