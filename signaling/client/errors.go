package client

import "errors"

// Errors of this package. What a server refuses comes as a *realtime.Error with its HTTP status instead.
var (
	// ErrConfig: a Config field is missing or cannot work; the wrapped text names it.
	ErrConfig = errors.New("bad client configuration")
	// ErrTransport: the server could not be reached, or broke off.
	ErrTransport = errors.New("the server could not be reached")
	// ErrReply: the server answered with something that is not the protocol.
	ErrReply = errors.New("the server's reply is not the Realtime protocol")
	// ErrGone: the connection failed or the far side closed it.
	ErrGone = errors.New("the call is over")
)
