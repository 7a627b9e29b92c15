package call

import (
	"context"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/call/conversation"
	"hovor/gateway/provider"
	"hovor/sfu"
	"hovor/signaling/realtime"
	"hovor/signaling/realtime/dialect"
)

// legReady is the letter that brings the upstream leg.
type legReady struct {
	leg  provider.Leg
	took time.Duration
}

// clientFrame is a message of the event channel, not decoded yet.
type clientFrame []byte

// clientHandlers are what the browser's peer calls on media goroutines: atomics and non-blocking posts only.
func (c *Call) clientHandlers(edge *dialect.Edge) sfu.Handlers {
	return sfu.Handlers{
		Open:    func() { c.mail.post(fromHouse, conversation.ChannelOpened{}) },
		Message: func(b []byte) { c.clientSaid(edge, b) },
		TooLarge: func(limit int) {
			c.mail.post(fromClient, conversation.ClientRefused{Err: realtime.TooLarge(limit)})
		},
		Packet: c.up.packet,
		Phase:  func(p sfu.Phase, d time.Duration) { c.observer.SetupPhase(p.String(), d) },
	}
}

// runClient keeps the client's leg.
func (c *Call) runClient(ctx context.Context) {
	err := c.client.Run(ctx)
	if ctx.Err() == nil {
		c.mail.post(fromHouse, conversation.ClientLeft{Failed: err != nil})
	}
}

// runProvider dials and keeps the provider's leg.
func (c *Call) runProvider(ctx context.Context, setup provider.Setup) {
	begin := time.Now()
	leg, err := c.opts.Provider.Dial(ctx, setup, sink{c, 0})
	if err != nil {
		if ctx.Err() == nil {
			c.providerGone(err)
		}
		return
	}
	c.mail.post(fromHouse, legReady{leg: leg, took: time.Since(begin)})
	_ = leg.Run(ctx) // it tells the sink
}

func (c *Call) providerGone(err error) {
	e := provider.AsError(err)
	if e.Class == provider.Lost && c.expired.Load() {
		e = &provider.Error{Class: provider.Expired}
	}
	c.log.Warn("provider gone", "class", string(e.Class), "status", e.Status)
	c.mail.post(fromHouse, conversation.ProviderGone{Class: string(e.Class), Sentence: e.Sentence()})
}

// sink is the call as its provider sees it.
type sink struct {
	c      *Call
	number uint64 // of the leg
}

// codeExpired is how a provider says that a session has reached its limit.
const codeExpired = "session_expired"

// counts: the leg is the one that the call is had over. A second leg that waits is not heard yet, the one before it no more.
func (s sink) counts() bool { return s.c.current.Load() == s.number }

func (s sink) ProviderEvent(raw []byte, ev realtime.Event) {
	if !s.counts() {
		return
	}
	if ev == nil {
		ev = unknown{raw}
	}
	if e, ok := ev.(*realtime.ErrorEvent); ok && e.Error != nil && e.Error.Code == codeExpired {
		s.c.expired.Store(true)
	}
	if !s.c.mail.post(fromProvider, conversation.ProviderEvent{Event: ev, Raw: raw}) && s.c.overflow.CompareAndSwap(false, true) {
		// Half a conversation is worse than none: without this event the state would be wrong.
		s.c.providerGone(&provider.Error{Class: provider.Overflow})
	}
}

func (s sink) ProviderPacket(p *rtp.Packet, at time.Time) {
	if s.counts() {
		s.c.down.packet(p, at)
	}
}

// ProviderUsage and ProviderNotice make the sink one that wants to know (provider.UsageSink, provider.NoticeSink).
func (s sink) ProviderUsage(u provider.Usage) {
	if s.counts() {
		s.c.mail.post(fromProvider, u)
	}
}

// ProviderNotice takes what the leg says of its own connection.
func (s sink) ProviderNotice(n provider.Notice) {
	if s.counts() {
		s.c.mail.post(fromProvider, n)
	}
}

func (s sink) ProviderClosed(err error) {
	if err != nil && s.counts() {
		s.c.providerGone(err)
	}
}

// unknown is an event of the provider that this module has no type for; it is passed on as it came.
type unknown struct{ raw []byte }

// EventType reads the type from the bytes.
func (u unknown) EventType() string {
	t, _, _ := realtime.Peek(u.raw)
	return t
}
