package call

import (
	"errors"
	"time"

	"hovor/gateway/call/conversation"
	"hovor/gateway/provider"
	"hovor/sfu"
	"hovor/signaling/realtime"
)

// execute does what the last step asked for, in order. Nothing here waits.
func (c *Call) execute() {
	effects := c.now
	c.now = nil
	for _, e := range effects {
		switch e := e.(type) {
		case conversation.ToClient:
			c.toClient(e.Event, e.To)
		case conversation.ToClientRaw:
			c.sendClient(e.Raw, e.Type, e.To)
		case conversation.ToProvider:
			c.toProvider(e.Event)
		case conversation.Cut:
			c.next = append([]conversation.Happening{conversation.WasCut{Heard: c.down.cutNow(c.sinceBegin)}}, c.next...)
		case conversation.Begin:
			if w, ok := c.client.(*wire); ok {
				w.begin(e)
			}
			c.down.beginItem(e, c.sinceBegin())
		case conversation.AudioDone:
			c.down.End(e.ItemID)
			if c.opts.Socket != nil {
				c.down.Cut() // the next item's audio waits for its name
			}
		case conversation.WatchFirstAudio:
			if first, ok := c.down.watchFirst(e.Epoch); ok {
				c.next = append(c.next, first)
			}
		case conversation.Listen:
			if c.ear != nil {
				c.ear.wanted.Store(listen(e.Detection, c.opts.Ear))
			}
		case conversation.AssistantAudible:
			if c.ear != nil {
				c.ear.audible.Store(e.On)
			}
		case conversation.Playout:
			c.down.SetPlayout(e.Buffered)
			if p, ok := c.leg.(provider.Playout); ok {
				p.SetPlayout(e.Buffered)
			}
		case conversation.Flush:
			c.drained(func() { c.mail.post(fromHouse, conversation.Flushed{Barrier: e.Barrier}) })
		case conversation.Renew:
			c.renew(e)
		case conversation.Swap:
			c.swap(e.Take)
		case conversation.Formats:
			if w, ok := c.client.(*wire); ok {
				w.formats(e)
			}
		case conversation.Keep:
			c.keep(e)
		case conversation.Forget:
			if c.opts.Thread != nil {
				_ = c.opts.Thread.Remove(e.ItemID) // counted by the store
			}
		case conversation.Count:
			c.count(e.Observation)
		case conversation.Close:
			// The loop sees that the conversation has ended.
		}
	}
}

// drained calls do, on a media goroutine, when everything that has arrived by now has been passed on and heard.
func (c *Call) drained(do func()) {
	if c.up.tap != nil {
		heard := do
		do = func() { c.up.tap.Flush(time.Now(), heard) }
	}
	if w, ok := c.client.(*wire); ok {
		w.mic.flush(do)
		return
	}
	do()
}

func (c *Call) sinceBegin() time.Duration { return time.Since(c.begin) }

func (c *Call) keep(e conversation.Keep) {
	if c.opts.Thread == nil {
		return
	}
	if err := c.opts.Thread.Put(e.Item); err != nil {
		c.log.Warn("thread item not kept", "error", err)
	}
}

// toClient sends an event of ours.
func (c *Call) toClient(ev realtime.Event, to conversation.Party) {
	b, err := realtime.Encode(ev)
	if err != nil {
		c.log.Error("event cannot be encoded", "type", ev.EventType(), "error", err)
		return
	}
	c.sendClient(b, ev.EventType(), to)
}

func (c *Call) sendClient(b []byte, what string, to conversation.Party) {
	c.toSidebands(b, to)
	if to > conversation.Everybody {
		return
	}
	err := c.client.Send(b)
	switch {
	case err == nil, errors.Is(err, sfu.ErrNotOpen):
	case errors.Is(err, sfu.ErrMessageTooLarge):
		c.log.Warn("event too large for the client", "type", what, "bytes", len(b))
		e := realtime.Error{Type: realtime.TypeServer, Code: realtime.CodeMessageTooLarge,
			Message: "An event of the voice service is larger than this client accepts, and was left out."}
		if small, err := realtime.Encode(e.Event()); err == nil && len(b) > len(small) {
			c.sendClient(small, "error", conversation.ClientAlone)
		}
	case errors.Is(err, sfu.ErrQueueFull):
		// A client that does not read would go on with half a conversation.
		c.next = append(c.next, conversation.ClientLeft{Failed: true})
	}
}

// toProvider sends an event upstream.
func (c *Call) toProvider(ev realtime.Event) {
	if c.leg == nil {
		return
	}
	err := c.leg.Send(ev)
	switch {
	case err == nil:
	case errors.Is(err, sfu.ErrMessageTooLarge):
		e := realtime.Error{Type: realtime.TypeInvalidRequest, Code: realtime.CodeMessageTooLarge, EventID: conversation.EventID(ev),
			Message: "This event is larger than the voice service accepts."}
		c.next = append(c.next, conversation.ClientRefused{Err: &e})
	default:
		lost := provider.Error{Class: provider.Lost, Err: err}
		c.next = append(c.next, conversation.ProviderGone{Class: string(lost.Class), Sentence: lost.Sentence()})
	}
}

// connect makes the leg the way upstream, for events and for audio.
func (c *Call) connect(leg provider.Leg) {
	c.leg = leg
	c.up.forward.Store(sfu.NewForwarder(leg))
}

// count passes an observation to the metrics.
func (c *Call) count(o conversation.Observation) {
	switch o := o.(type) {
	case conversation.TurnStage:
		c.observer.TurnStage(o.Stage, o.Mode, o.Took)
	case conversation.TurnOutcome:
		c.observer.Turn(o.Mode, o.Outcome)
		if n := c.down.staleSince(); n > 0 {
			c.observer.StaleFrames(n)
		}
	case conversation.Yielded:
		c.observer.Yield(o.Took)
	case conversation.Spoke:
		c.spoke(o)
	case conversation.EventRefused:
		c.observer.EventRefused(o.Code)
	case conversation.OutputReplaced:
		c.observer.OutputReplaced()
	case conversation.ProviderFault:
		c.observer.ProviderError(o.Class)
	case conversation.SetupDone:
		c.observer.SetupPhase(o.Phase, o.Took)
	}
}

// asRealtime gives a decoding error in the protocol's form.
func asRealtime(err error) *realtime.Error {
	var e *realtime.Error
	if errors.As(err, &e) {
		return e
	}
	return &realtime.Error{Type: realtime.TypeInvalidRequest, Code: realtime.CodeInvalidEvent, Message: "This event cannot be read."}
}
