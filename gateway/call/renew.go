package call

import (
	"context"
	"slices"
	"time"

	"hovor/gateway/call/conversation"
	"hovor/gateway/provider"
)

// spare is a second leg of the provider that may take the first one's place.
type spare struct {
	leg    provider.Leg
	number uint64
	end    context.CancelFunc
}

type (
	// spareReady is the letter that brings a second leg.
	spareReady struct{ *spare }
	// spareFailed says that there will be none.
	spareFailed struct{}
)

// renew opens a second leg.
func (c *Call) renew(e conversation.Renew) {
	setup := c.setup
	setup.Session = e.Session
	setup.History = slices.Concat(c.setup.History, e.History)
	c.spares++
	number := c.spares
	ctx, end := context.WithCancel(c.legs)
	c.work.Go(func() {
		defer end()
		leg, err := c.opts.Provider.Dial(ctx, setup, sink{c, number})
		if err != nil {
			c.log.Warn("provider could not be renewed", "class", string(provider.AsError(err).Class))
			c.mail.post(fromHouse, spareFailed{})
			return
		}
		if !c.mail.post(fromHouse, spareReady{&spare{leg: leg, number: number, end: end}}) {
			end()
		}
		_ = leg.Run(ctx) // it tells the sink
	})
}

// swap lets the second leg take the first one's place, or go.
func (c *Call) swap(take bool) {
	s := c.spare
	c.spare = nil
	switch {
	case s == nil:
	case !take:
		s.end()
	default:
		c.current.Store(s.number) // what still comes from the first is nobody's
		c.endLeg()
		c.endLeg = s.end
		c.connect(s.leg)
		c.renewals++
		c.observer.ProviderNotice(c.opts.Provider.Name(), string(provider.Renewed))
		c.log.Info("provider renewed", "after_seconds", time.Since(c.begin).Seconds())
	}
}
