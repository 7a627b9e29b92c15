package call

import (
	"context"

	"github.com/pion/rtp"

	"hovor/gateway/call/conversation"
	"hovor/sfu"
	"hovor/signaling/realtime/dialect"
)

// client is the person's end of a call: a page's peer connection, or a WebSocket. Events are in the GA form on our side of
// it, whatever the client speaks.
type client interface {
	// Send queues one event and never blocks. Errors: sfu.ErrNotOpen, sfu.ErrMessageTooLarge, sfu.ErrQueueFull.
	Send(b []byte) error
	// WriteRTP gives one packet of the assistant's audio to the client.
	WriteRTP(p *rtp.Packet) error
	// Run keeps the leg until ctx ends or the client is gone; an error means that it broke.
	Run(ctx context.Context) error
	// Bye is called once, before ctx ends, with the reason of the end.
	Bye(r EndReason)
	Stats() sfu.PeerStats
}

// peer is a client over WebRTC.
type peer struct {
	*sfu.Peer
	edge *dialect.Edge
}

// Send translates for a client of the older dialect.
func (p *peer) Send(b []byte) error {
	out, err := p.edge.Out(b)
	if err != nil {
		return err
	}
	for _, b := range out {
		if err := p.Peer.Send(b); err != nil {
			return err
		}
	}
	return nil
}

// Bye has nothing to add: the closed connection says it.
func (p *peer) Bye(EndReason) {}

// clientSaid takes a message of the client's event channel, on the goroutine that received it.
func (c *Call) clientSaid(edge *dialect.Edge, b []byte) {
	b, err := edge.In(b)
	if err != nil {
		c.mail.post(fromClient, conversation.ClientRefused{Err: asRealtime(err)})
		return
	}
	c.mail.post(fromClient, clientFrame(b))
}
