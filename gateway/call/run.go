package call

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"hovor/gateway/call/conversation"
	"hovor/gateway/provider"
	"hovor/gateway/thread"
	"hovor/signaling/realtime"
)

// Bounds of the history that a resumed thread gives the provider.
const (
	historyItems = 60
	historyBytes = 24 << 10
)

// goodbye is how long the last events may take to arrive: SCTP sends a lost one again after at most a second.
const goodbye = 2500 * time.Millisecond

// Run keeps the call until it ends or ctx does (drain_deadline). It returns when both legs are closed and nothing of the call runs.
func (c *Call) Run(ctx context.Context) error {
	c.observer.CallStarted(c.opts.Provider.Name())
	legs, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	setup := provider.Setup{Session: c.state.Upstream(), Model: c.opts.Assistant.Model, CallID: c.opts.ID}
	if c.opts.Thread != nil {
		setup.History = history(c.opts.Thread)
	}
	c.legs, c.setup = legs, setup
	first, end := context.WithCancel(legs)
	c.endLeg = end
	c.work.Go(func() { c.runClient(legs) })
	c.work.Go(func() { defer end(); c.runProvider(first, setup) })

	c.loop(ctx)
	c.flush()
	c.client.Bye(c.state.Snapshot().Reason)
	cut()
	if c.up.tap != nil {
		c.up.tap.Close()
	}
	c.work.Wait()
	c.finished()
	return nil
}

// loop is the actor: it takes one letter at a time and sleeps until the next deadline otherwise.
func (c *Call) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	c.execute()
	for !c.state.Snapshot().Ended && !c.broken {
		if due, ok := c.state.Deadline(); ok {
			timer.Reset(max(due-time.Since(c.begin), 0))
		} else {
			timer.Stop()
		}
		select {
		case l := <-c.mail.ch:
			c.mail.taken(l)
			c.take(l)
		case <-timer.C:
			c.step(conversation.Tick{})
		case <-ctx.Done():
			c.step(conversation.EndAsked{Reason: DrainDeadline})
		}
		if n := c.mail.drops(fromClient); n > 0 {
			c.step(conversation.ClientFlooded{Dropped: n})
		}
	}
}

// take turns a letter into what the conversation understands.
func (c *Call) take(l letter) {
	switch w := l.what.(type) {
	case clientFrame:
		c.step(c.decode(w, conversation.Everybody))
	case sideFrame:
		c.step(c.decode(w.frame, w.from))
	case attached:
		c.sides = append(c.sides, w.sideband)
	case detached:
		c.sides = slices.DeleteFunc(c.sides, func(s *sideband) bool { return s == w.sideband })
	case legReady:
		c.observer.SetupPhase("provider_connect", w.took)
		c.connect(w.leg)
		c.step(conversation.ProviderReady{})
	case spareReady:
		c.spare = w.spare
		c.step(conversation.RenewReady{})
	case spareFailed:
		c.step(conversation.RenewFailed{})
	case provider.Usage:
		c.cost(w)
	case provider.Notice:
		c.notice(w)
	case conversation.ProviderEvent:
		c.begun(w.Event)
		c.step(w)
	case conversation.Happening:
		c.step(w)
	}
}

// decode reads a client's event and looks up what the tool path recorded for the outputs in it.
func (c *Call) decode(b []byte, from conversation.Party) conversation.Happening {
	ev, err := realtime.Decode(realtime.FromClient, b)
	if err != nil {
		return conversation.ClientRefused{Err: asRealtime(err), From: from}
	}
	return conversation.ClientEvent{Event: ev, Recorded: c.recorded(ev), From: from}
}

func (c *Call) recorded(ev realtime.Event) map[string]string {
	var items []realtime.Item
	switch e := ev.(type) {
	case *realtime.ConversationItemCreate:
		items = []realtime.Item{e.Item}
	case *realtime.ResponseCreate:
		if e.Response != nil {
			items = e.Response.Input
		}
	}
	var out map[string]string
	for _, it := range items {
		if it.Type != realtime.ItemFunctionCallOutput || c.opts.Recorded == nil {
			continue
		}
		if text, ok := c.opts.Recorded.RecordedOutput(c.opts.ID, it.CallID); ok {
			if out == nil {
				out = make(map[string]string)
			}
			out[it.CallID] = text
		}
	}
	return out
}

// step steps the conversation and does what it asks for; what that brings back is stepped before anything else.
func (c *Call) step(what conversation.Happening) {
	defer c.survive()
	c.next = append(c.next, what)
	for len(c.next) > 0 {
		what, c.next = c.next[0], c.next[1:]
		c.state, c.now = conversation.Step(c.state, conversation.Input{At: time.Since(c.begin), Media: c.media(), What: what})
		c.execute()
	}
	c.publish()
}

// survive ends the call, and only this call, when a step panics: a fault of ours that a thousand other people should not feel.
func (c *Call) survive() {
	fault := recover()
	if fault == nil {
		return
	}
	c.log.Error("call broke", "fault", fmt.Sprintf("%T", fault), "stack", string(debug.Stack())) // the value may hold what was said
	if c.broken {
		return
	}
	c.broken, c.next, c.now = true, nil, nil
	c.step(conversation.EndAsked{Reason: Internal})
}

// media is what the media goroutines know now.
func (c *Call) media() conversation.Media {
	m := conversation.Media{Received: time.Duration(c.up.received.Load()), ProviderPacket: time.Duration(c.down.last.Load()),
		Heard: conversation.Heard(c.down.Heard())}
	if w, ok := c.client.(*wire); ok {
		m.Backlog = w.mic.waiting()
	}
	if c.ear != nil {
		m.PossibleSpeech = time.Duration(c.ear.possible.Load())
	}
	return m
}

func (c *Call) publish() {
	s, v := c.state.Snapshot(), c.state.View()
	c.snapshot.Store(&s)
	c.view.Store(&v)
}

// flush waits, briefly, until the client has what was sent last.
func (c *Call) flush() {
	deadline := time.NewTimer(goodbye)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for c.client.Stats().QueuedBytes > 0 {
		select {
		case <-tick.C:
		case <-deadline.C:
			return
		}
	}
}

// finished writes the call's one line of the log, its last figures, and tells whoever waits.
func (c *Call) finished() {
	s, took := c.state.Snapshot(), time.Since(c.begin)
	in, out := c.client.Stats(), c.down.Stats()
	up := MediaSample{Packets: in.PacketsIn, Lost: in.LostIn, Jitter: in.JitterIn, RTT: in.RTT, Dropped: uint64(c.up.early.Load())}
	if c.up.tap != nil {
		up.Concealed = c.up.tap.Stats().Concealed
	}
	c.observer.Media("from_client", up)
	c.observer.Media("to_client", MediaSample{Packets: in.PacketsOut, Lost: in.LostOut, Jitter: in.JitterOut, RTT: in.RTT,
		Stale: out.StaleDropped, Dropped: out.WriteErrors})
	if n := c.down.staleSince(); n > 0 {
		c.observer.StaleFrames(n)
	}
	c.observer.CallEnded(c.opts.Provider.Name(), s.Reason, took)
	sums := c.close(s, took)
	c.log.Info("call ended", "reason", string(s.Reason), "seconds", took.Seconds(), "turns", s.Turns, "provider", c.opts.Provider.Name(),
		"assistant", c.opts.Assistant.Name, "audio_path", c.opts.AudioPath, "client", c.transport(), "sidebands", c.attached.Load(),
		"packets_in", in.PacketsIn, "lost_in", in.LostIn, "packets_out", in.PacketsOut, "stale", out.StaleDropped, "early", c.up.early.Load(),
		"responses", sums.Responses, "untold", sums.Untold, "tokens", sums.Total, "input_text", sums.Input.Text, "input_audio", sums.Input.Audio,
		"cached", sums.Cached.Sum(), "output_text", sums.Output.Text, "output_audio", sums.Output.Audio,
		"audio_in_seconds", sums.AudioIn.Seconds(), "audio_out_seconds", sums.AudioOut.Seconds(), "heard_seconds", sums.Heard.Seconds(),
		"renewals", c.renewals, "dropped_events", c.mail.dropped[fromHouse].Load())
	c.once.Do(func() { close(c.done) })
	if c.opts.Ended != nil {
		c.opts.Ended(c)
	}
}

// history is a thread's earlier words as a provider takes them.
func history(h *thread.Handle) []realtime.Item {
	var items []realtime.Item
	for _, it := range h.History(historyItems, historyBytes) {
		if it.Role == thread.User {
			items = append(items, realtime.UserText(string(it.Text)))
		} else {
			items = append(items, realtime.AssistantText(string(it.Text)))
		}
	}
	return items
}
