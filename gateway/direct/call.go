package direct

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/call/conversation"
	"hovor/gateway/provider"
	"hovor/gateway/usage"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/tools"
)

// Call is one direct call. New is cheap, Open hands the offer over, Run stands beside the call until it ends.
type Call struct {
	opts  Options
	log   *slog.Logger
	begin time.Time
	state conversation.State // never stepped: it holds the session

	theirs string // the provider's id of the call
	ask    chan call.EndReason
	events chan realtime.Event
	lost   atomic.Int64 // events that were dropped

	snapshot atomic.Pointer[call.Snapshot]
	done     chan struct{}

	ledger *usage.Ledger // Run only, like what follows
	now    call.Snapshot
	words  words
	fixes  int // how often the session was put right
}

var _ call.Live = (*Call)(nil)

// room is for a burst of a provider's transcripts.
const room = 1024

// New makes a call; it starts nothing.
func New(o Options) *Call {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Call{opts: o, log: o.Logger.With("call", o.ID), begin: time.Now(), ask: make(chan call.EndReason, 1), events: make(chan realtime.Event, room),
		done: make(chan struct{}), ledger: usage.NewLedger(o.ID)}
	c.state, _ = conversation.Start(conversation.Config{CallID: o.ID, Assistant: o.Assistant, Requested: o.Session, SessionID: realtime.NewID("sess")})
	c.now = call.Snapshot{CallID: o.ID, Phase: "connecting", Channel: true, Mode: "open"}
	if o.Thread != nil {
		c.now.ThreadID = o.Thread.ID()
	}
	c.words.init(o.Thread, o.ID)
	c.publish()
	return c
}

func (c *Call) publish() {
	s := c.now
	c.snapshot.Store(&s)
}

// Open hands the client's offer to the provider, with the session that the assistant and its policy make of the client's,
// and gives the answer as it came. Errors: a *realtime.Error with the provider's failure in a sentence. Run must follow a
// nil error.
func (c *Call) Open(ctx context.Context, offer string) (answer string, err error) {
	begin := time.Now()
	answer, c.theirs, err = c.opts.Upstream.open(ctx, offer, c.state.Upstream())
	if err != nil {
		e := provider.AsError(err)
		c.opts.Observer.ProviderError(string(e.Class))
		c.log.Warn("provider took no offer", "class", string(e.Class), "status", e.Status, "code", e.Code)
		return "", refusal(err)
	}
	c.opts.Observer.SetupPhase("signaling", time.Since(begin))
	return answer, nil
}

// ID is the call's id on our side.
func (c *Call) ID() string { return c.opts.ID }

// Person is whose call it is.
func (c *Call) Person() tools.Person { return c.opts.Person }

// Assistant is who answers.
func (c *Call) Assistant() call.Assistant { return c.opts.Assistant }

// Began is when the call was made.
func (c *Call) Began() time.Time { return c.begin }

// State is where the call stands, as far as it can be known from beside it: Ready says that the control connection stands.
func (c *Call) State() call.Snapshot { return *c.snapshot.Load() }

// Session is the session that the call was opened with, as the client may see it.
func (c *Call) Session() realtime.Session { return c.state.View() }

// Done is closed when the call is over.
func (c *Call) Done() <-chan struct{} { return c.done }

// Hangup asks for the end.
func (c *Call) Hangup(r call.EndReason) {
	select {
	case c.ask <- r:
	default:
	}
}

// Screen cannot reach the page: its event channel ends at the provider.
func (c *Call) Screen(tools.ScreenRequest) error { return call.ErrNotLive }

// Tool has nobody to tell.
func (c *Call) Tool(string, string, string, string) {}

// Attach is refused: the sidebands of a direct call are the provider's.
func (c *Call) Attach(context.Context, signaling.Socket, realtime.Dialect, []string) error {
	return &realtime.Error{Status: 409, Type: realtime.TypeInvalidRequest, Code: realtime.CodeNotSupported,
		Message: "This call's events go straight to the provider; attach a sideband there."}
}
