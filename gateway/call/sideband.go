package call

import (
	"context"
	"slices"
	"sync"
	"time"

	"hovor/gateway/call/conversation"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/signaling/realtime/dialect"
)

// maxSidebands is how many may hang on a call over its life: a server or two, each after a reconnect or two.
const maxSidebands = 32

// sideband is a second event channel of a running call, without audio: it sees what the client sees, and may send what the
// gate lets through. What is wrong with its events only it is told.
type sideband struct {
	number conversation.Party
	socket signaling.Socket
	edge   *dialect.Edge
	takes  []string // events; nil = all that the assistant takes
}

type (
	// attached is the letter that brings a sideband, detached the one that takes it away.
	attached struct{ *sideband }
	detached struct{ *sideband }
	// sideFrame is a message of a sideband, not decoded yet.
	sideFrame struct {
		from  conversation.Party
		frame []byte
	}
)

// Attach makes a WebSocket a sideband and returns when the socket is over, or the call: then the socket is closed with the
// reason. It may be called from the moment the call exists. takes narrows the events that it may send; nil does not. Errors: ErrNotLive, ErrBusy, ErrSidebands.
func (c *Call) Attach(ctx context.Context, s signaling.Socket, d realtime.Dialect, takes []string) error {
	n := c.attached.Add(1)
	if n > maxSidebands {
		return ErrSidebands
	}
	if c.State().Ended {
		return ErrNotLive
	}
	side := &sideband{number: conversation.Party(n), socket: s, edge: dialect.NewEdge(d), takes: takes}
	if !c.mail.post(fromHouse, attached{side}) {
		return ErrBusy
	}
	defer c.mail.post(fromHouse, detached{side})
	life, end := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-c.done:
			r := c.State().Reason
			s.Close(farewell(r), string(r))
		case <-life.Done():
		}
	})
	defer watch.Wait()
	defer end()
	for {
		b, err := s.Read(life)
		if err != nil {
			return nil // it left, or the call is over
		}
		c.sideSaid(side, b)
	}
}

func (c *Call) sideSaid(side *sideband, b []byte) {
	b, err := side.edge.In(b)
	if err == nil {
		err = side.allows(b)
	}
	switch {
	case err != nil:
		c.mail.post(fromSide, conversation.ClientRefused{Err: asRealtime(err), From: side.number})
	case !c.mail.post(fromSide, sideFrame{from: side.number, frame: b}):
		e := realtime.Error{Type: realtime.TypeRateLimit, Code: "too_many_events", Message: "Events came faster than they can be handled. Send this again, and fewer."}
		if b, err := realtime.Encode(e.Event()); err == nil {
			side.send(b)
		}
		select {
		case <-time.After(sidePause):
		case <-c.done:
		}
	}
}

// allows refuses an event that this sideband may not send.
func (s *sideband) allows(b []byte) error {
	what, id, err := realtime.Peek(b)
	if err != nil || s.takes == nil || slices.Contains(s.takes, what) {
		return nil // what cannot be read the gate will refuse
	}
	return &realtime.Error{Type: realtime.TypePermission, Code: realtime.CodeEventNotAllowed, EventID: id, Message: "This sideband may not send " + what + " events."}
}

// sidePause slows a sideband down that floods.
const sidePause = 100 * time.Millisecond

// send queues an event; a sideband that does not read loses its socket, which its reader notices.
func (s *sideband) send(b []byte) {
	out, _ := s.edge.Out(b)
	for _, b := range out {
		_ = s.socket.Write(b)
	}
}

// toSidebands passes on what the client is told.
func (c *Call) toSidebands(b []byte, to conversation.Party) {
	for _, s := range c.sides {
		if to == conversation.Everybody || to == s.number {
			s.send(b)
		}
	}
}
