package sfu

import (
	"context"
	"net"
)

// Engine owns the sockets, the certificate and the clocks that all peers of this process share.
type Engine struct{}

// NewEngine binds the sockets. Errors: ErrPortInUse, ErrBadConfig.
func NewEngine(cfg Config) (*Engine, error) { return nil, ErrClosed }

// Addr is the UDP address really bound.
func (e *Engine) Addr() net.Addr { return nil }

// Close ends every peer and tap that is still alive, waits for them, and closes the sockets.
func (e *Engine) Close() error { return nil }

// Accept answers an offer. ctx bounds the negotiation, not the peer's life. Errors: ErrNotSDP, ErrNoAudio,
// ErrUnsupportedCodec, ErrNegotiation, ErrClosed. The caller must call Run (or Close) on the peer.
func (e *Engine) Accept(ctx context.Context, offer string, h Handlers) (*Peer, error) {
	return nil, ErrClosed
}

// Offer makes a peer that offers one audio track each way and the event channel "oai-events". Send LocalSDP to the
// far side and give its answer to SetAnswer. The caller must call Run (or Close) on the peer.
func (e *Engine) Offer(ctx context.Context, h Handlers) (*Peer, error) { return nil, ErrClosed }

// NewTap starts a decoder that calls fn with one frame every 20 ms until Close.
func (e *Engine) NewTap(fn func(Frame)) (*Tap, error) { return nil, ErrClosed }
