package call

import (
	"time"

	"hovor/gateway/call/conversation"
	"hovor/gateway/provider"
	"hovor/gateway/usage"
	"hovor/signaling/realtime"
)

// statusLost is the status of a response that ended with its connection.
const statusLost = "lost"

// begun notes a response that will cost something, whatever becomes of it.
func (c *Call) begun(ev realtime.Event) {
	if e, ok := ev.(*realtime.ResponseCreated); ok {
		c.ledger.Told(provider.Usage{Kind: provider.UsageResponse, ID: e.Response.ID, Model: c.opts.Assistant.Model, Status: realtime.StatusInProgress})
	}
}

// cost takes what a response or a transcription cost.
func (c *Call) cost(u provider.Usage) {
	c.observer.Usage(c.opts.Provider.Name(), u)
	c.book(c.ledger.Told(u))
}

// spoke takes how much of a response there was to hear.
func (c *Call) spoke(o conversation.Spoke) { c.book(c.ledger.Spoke(o.Response, o.Sent, o.Heard)) }

func (c *Call) book(r usage.Response) {
	if c.opts.Books == nil {
		return
	}
	r.At = time.Now()
	if err := c.opts.Books.PutResponse(r); err != nil {
		c.log.Warn("usage record not kept", "error", err)
	}
}

// close closes the account: what was begun and never told is lost, and still a record.
func (c *Call) close(s Snapshot, took time.Duration) usage.Sums {
	for _, r := range c.ledger.Running() {
		r.Status = statusLost
		c.cost(r.Usage)
	}
	sums := c.ledger.Sum()
	sums.AudioIn = time.Duration(c.up.received.Load())
	for direction, d := range map[string]time.Duration{"from_client": sums.AudioIn, "to_client": sums.AudioOut, "heard": sums.Heard} {
		c.observer.Audio(direction, d)
	}
	if c.opts.Books != nil {
		err := c.opts.Books.PutCall(usage.Call{ID: c.opts.ID, Person: c.opts.Person.ID, Assistant: c.opts.Assistant.Name, Provider: c.opts.Provider.Name(),
			Model: c.opts.Assistant.Model, AudioPath: c.opts.AudioPath, ThreadID: s.ThreadID, Reason: string(s.Reason), Began: c.begin, Lasted: took,
			Turns: s.Turns, Sums: sums})
		if err != nil {
			c.log.Warn("usage record not kept", "error", err)
		}
	}
	return sums
}

func (c *Call) transport() string {
	if c.opts.Socket != nil {
		return "websocket"
	}
	return "webrtc"
}

// notice takes what the leg says of its own connection.
func (c *Call) notice(n provider.Notice) {
	c.observer.ProviderNotice(c.opts.Provider.Name(), string(n.Kind))
	if n.Kind == provider.Renewed {
		c.renewals++
	}
	class := ""
	if n.Cause != nil {
		class = string(n.Cause.Class)
	}
	c.log.Info("provider notice", "kind", string(n.Kind), "class", class, "in_seconds", n.In.Seconds())
	c.step(conversation.ProviderNoticed{Kind: string(n.Kind), Class: class, In: n.In, Sentence: n.Sentence()})
}
