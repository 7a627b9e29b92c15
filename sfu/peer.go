package sfu

import (
	"context"

	"github.com/pion/rtp"
)

// EventChannel is the label of the data channel that carries Realtime events.
const EventChannel = "oai-events"

// Peer is one peer connection: audio each way and the event channel.
type Peer struct{}

// LocalSDP is our complete description (no trickle): every own candidate, a real msid.
func (p *Peer) LocalSDP() string { return "" }

// SetAnswer applies the far side's answer to an offering peer. Errors: ErrNotSDP, ErrNoAudio, ErrUnsupportedCodec,
// ErrNegotiation, ErrWrongState.
func (p *Peer) SetAnswer(ctx context.Context, sdp string) error { return ErrClosed }

// WriteRTP sends one audio packet. Sequence number, timestamp, marker and payload are the caller's; payload type and
// SSRC are ours; extensions are not carried over. It does not change or keep pkt, allocates nothing of ours, and
// silently drops while the transport is not up.
func (p *Peer) WriteRTP(pkt *rtp.Packet) error { return ErrClosed }

// Send queues one text frame on the event channel. It never blocks. Errors: ErrNotOpen, ErrQueueFull,
// ErrMessageTooLarge.
func (p *Peer) Send(msg []byte) error { return ErrNotOpen }

// Codec is the negotiated audio codec; zero before the answer of an offering peer.
func (p *Peer) Codec() Codec { return Codec{} }

// State is where the connection stands now.
func (p *Peer) State() State { return StateNew }

// Stats may be called at any time, also after the end.
func (p *Peer) Stats() PeerStats { return PeerStats{} }

// Run blocks until ctx ends (the far side is told by close_notify) or the far side is gone, and leaves no goroutine
// behind. It returns nil when ctx ended or the far side closed, an error when the connection failed.
func (p *Peer) Run(ctx context.Context) error { return ErrClosed }

// Close ends the peer: for one whose Run was never called, and to make a running Run return. It waits for the end.
func (p *Peer) Close() error { return nil }
