package gateway

import (
	"context"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/direct"
	"hovor/signaling"
)

// openDirect hands the offer to the assistant's provider and stands beside the call.
func (d *door) openDirect(ctx context.Context, cl claims, o signaling.Offer) (*signaling.Answer, error) {
	handle, err := d.thread(ctx, cl)
	if err != nil {
		return nil, err
	}
	asked := o.Session
	if asked == nil {
		asked = cl.session
	}
	up := d.providers[cl.assistant.Provider]
	id, answer := d.callID(), ""
	_, err = d.calls.Open(func() (_ call.Live, err error) {
		c := direct.New(direct.Options{ID: id, Person: cl.person, Assistant: d.describe(cl), Session: asked, Thread: handle,
			Upstream: direct.Upstream{Name: up.Name(), BaseURL: up.base, Key: up.key},
			Limits:   call.Limits{Duration: d.longest(cl), Idle: time.Duration(d.cfg.Limits.Idle)},
			Observer: d.metrics, Books: d.books, Logger: d.log, Ended: func(c call.Live) { d.tools.EndSession(c.ID()) }})
		answer, err = c.Open(ctx, o.SDP)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	return &signaling.Answer{SDP: answer, CallID: id}, nil
}
