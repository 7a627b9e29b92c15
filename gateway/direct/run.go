package direct

import (
	"context"
	"sync"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/provider"
	"hovor/gateway/usage"
	"hovor/signaling/realtime"
)

// maxFixes bounds how often a locked session is put right: who goes on all the same is hung up on.
const maxFixes = 10

// Run stands beside the call until it ends or ctx does (drain_deadline).
func (c *Call) Run(ctx context.Context) error {
	c.opts.Observer.CallStarted(c.opts.Upstream.Name)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var wg sync.WaitGroup
	over := make(chan error, 1)
	say := make(chan realtime.Event, 16)
	if c.theirs != "" {
		wg.Go(func() { c.watch(life, say, over) })
	}
	reason := c.loop(ctx, say, over)
	if c.theirs != "" && reason != call.ClientGone {
		if err := c.opts.Upstream.hangup(life, c.theirs); err != nil {
			c.log.Warn("hang-up not delivered", "class", string(provider.AsError(err).Class))
		}
	}
	end()
	wg.Wait()
	c.drain()
	c.finish(reason)
	return nil
}

// watch keeps the control connection, if the provider has one, and says when it is over; nil: there was none.
func (c *Call) watch(ctx context.Context, say <-chan realtime.Event, over chan<- error) {
	conn, err := c.opts.Upstream.control(ctx, c.theirs)
	if err != nil {
		e := provider.AsError(err)
		if ctx.Err() == nil {
			c.log.Warn("no control connection: what the call costs is not known, and its end only by hang-up or limit", "class", string(e.Class), "status", e.Status)
		}
		return
	}
	run, stop := context.WithCancel(ctx)
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case ev := <-say:
				if b, err := realtime.Encode(ev); err == nil {
					_ = conn.Write(b)
				}
			case <-run.Done():
				return
			}
		}
	})
	c.event(ready{})
	err = conn.Run(ctx, func(raw []byte) {
		if ev, err := realtime.Decode(realtime.FromServer, raw); err == nil {
			c.event(ev)
		}
	})
	stop()
	writer.Wait()
	over <- err
}

// ready is the event that the control connection stands.
type ready struct{}

// EventType is of no protocol.
func (ready) EventType() string { return "ready" }

// event queues one and does not block.
func (c *Call) event(ev realtime.Event) {
	select {
	case c.events <- ev:
	default:
		c.lost.Add(1)
	}
}

// loop takes events until something ends the call.
func (c *Call) loop(ctx context.Context, say chan<- realtime.Event, over <-chan error) call.EndReason {
	limit := timer(c.opts.Limits.Duration, time.Hour)
	defer limit.Stop()
	idle := timer(0, time.Hour)
	idle.Stop() // until there are events to be idle of
	for {
		select {
		case ev := <-c.events:
			if !c.take(ev, say) {
				return call.Hangup
			}
			if c.now.Ready && c.opts.Limits.Idle >= 0 {
				idle.Reset(orDefault(c.opts.Limits.Idle, 10*time.Minute))
			}
			c.publish()
		case err := <-over:
			c.drain()
			if err == nil || provider.AsError(err).Class == provider.Lost {
				return call.ClientGone // the provider's call is over, and with it the browser's
			}
			c.opts.Observer.ProviderError(string(provider.AsError(err).Class))
			return call.ProviderLost
		case r := <-c.ask:
			return r
		case <-limit.C:
			return call.MaxDuration
		case <-idle.C:
			return call.Idle
		case <-ctx.Done():
			return call.DrainDeadline
		}
	}
}

func timer(d, def time.Duration) *time.Timer {
	if d < 0 {
		t := time.NewTimer(def)
		t.Stop()
		return t
	}
	return time.NewTimer(orDefault(d, def))
}

func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

// drain takes what came before the end.
func (c *Call) drain() {
	for {
		select {
		case ev := <-c.events:
			c.take(ev, nil)
		default:
			return
		}
	}
}

// take takes one event; false: this client does not let the session be what it must.
func (c *Call) take(ev realtime.Event, say chan<- realtime.Event) bool {
	switch ev := ev.(type) {
	case ready:
		c.now.Ready, c.now.Phase = true, "listening"
	case *realtime.SessionUpdated:
		return c.hold(ev.Session, say)
	case *realtime.InputAudioBufferCommitted:
		c.now.Turns++
	case *realtime.ResponseCreated:
		c.ledger.Told(provider.Usage{Kind: provider.UsageResponse, ID: ev.Response.ID, Model: c.opts.Assistant.Model, Status: realtime.StatusInProgress})
	}
	c.words.take(ev)
	if u, ok := provider.UsageOf(ev, c.opts.Assistant.Model); ok {
		c.cost(u)
	}
	return true
}

// hold puts a locked session right when the browser has changed it at the provider.
func (c *Call) hold(s realtime.Session, say chan<- realtime.Event) bool {
	if c.opts.Assistant.Policy != call.Locked || say == nil {
		return true
	}
	want := c.state.Upstream()
	if s.Instructions == nil || *s.Instructions == *want.Instructions && len(s.Tools) == len(want.Tools) {
		return true
	}
	c.opts.Observer.EventRefused("session_field")
	if c.fixes++; c.fixes > maxFixes {
		return false
	}
	select {
	case say <- &realtime.SessionUpdate{Session: realtime.Session{Type: realtime.SessionRealtime, Instructions: want.Instructions, Tools: want.Tools}}:
	default:
	}
	return true
}

func (c *Call) cost(u provider.Usage) {
	c.opts.Observer.Usage(c.opts.Upstream.Name, u)
	r := c.ledger.Told(u)
	if c.opts.Books == nil {
		return
	}
	r.At = time.Now()
	if err := c.opts.Books.PutResponse(r); err != nil {
		c.log.Warn("usage record not kept", "error", err)
	}
}

// finish closes the account and writes the call's one line.
func (c *Call) finish(reason call.EndReason) {
	for _, r := range c.ledger.Running() {
		r.Status = "lost"
		c.cost(r.Usage)
	}
	sums, took := c.ledger.Sum(), time.Since(c.begin)
	c.now.Ended, c.now.Reason, c.now.Phase = true, reason, "ended"
	c.publish()
	o := &c.opts
	o.Observer.CallEnded(o.Upstream.Name, reason, took)
	if o.Books != nil {
		err := o.Books.PutCall(usage.Call{ID: o.ID, Person: o.Person.ID, Assistant: o.Assistant.Name, Provider: o.Upstream.Name, Model: o.Assistant.Model,
			AudioPath: "direct", ThreadID: c.now.ThreadID, Reason: string(reason), Began: c.begin, Lasted: took, Turns: c.now.Turns, Sums: sums})
		if err != nil {
			c.log.Warn("usage record not kept", "error", err)
		}
	}
	c.log.Info("call ended", "reason", string(reason), "seconds", took.Seconds(), "turns", c.now.Turns, "provider", o.Upstream.Name,
		"assistant", o.Assistant.Name, "audio_path", "direct", "control", c.now.Ready, "responses", sums.Responses, "untold", sums.Untold,
		"tokens", sums.Total, "input_text", sums.Input.Text, "input_audio", sums.Input.Audio, "cached", sums.Cached.Sum(),
		"output_text", sums.Output.Text, "output_audio", sums.Output.Audio, "lost_events", c.lost.Load())
	close(c.done)
	if o.Ended != nil {
		o.Ended(c)
	}
}
