package socket

import (
	"errors"
	"fmt"
)

// Errors of this package.
var (
	// ErrClosed: the socket is over. A *CloseError in the chain tells the peer's code and reason, where there was one.
	ErrClosed = errors.New("the socket is closed")
	// ErrSlowReader: the peer does not read, the queue is full, and the socket was ended for it.
	ErrSlowReader = errors.New("the peer does not read fast enough")
	// ErrHalfOpen: the peer answered no ping; the connection is most likely gone.
	ErrHalfOpen = errors.New("the peer does not answer")
	// ErrTooLarge: the peer sent a message larger than the limit.
	ErrTooLarge = errors.New("the message is too large")
	// ErrDial: the server could not be reached, or refused the handshake.
	ErrDial = errors.New("the socket could not be opened")
)

// CloseError is the peer's farewell.
type CloseError struct {
	Code   int // RFC 6455 section 7.4; CodeNone when there was no close frame
	Reason string
}

// Error names the code; the reason is the peer's own words, cut to what a close frame can hold.
func (e *CloseError) Error() string {
	return fmt.Sprintf("closed by the peer with %d %q", e.Code, e.Reason)
}

// Unwrap makes every farewell an ErrClosed.
func (e *CloseError) Unwrap() error { return ErrClosed }
