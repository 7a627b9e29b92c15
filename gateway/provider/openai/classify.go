package openai

import (
	"context"
	"errors"
	"net/http"
	"time"

	"hovor/gateway/provider"
	"hovor/sfu"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// classify names a failure of the opening.
func classify(err error) error {
	if err == nil {
		return nil
	}
	e := &provider.Error{Class: provider.Unclassified, Err: err}
	var reply *realtime.Error
	switch {
	case errors.As(err, &reply):
		e.Status, e.Code = reply.Status, reply.Code
		e.RetryAfter = time.Duration(reply.RetryAfter) * time.Second
		e.Class, e.Err = classOf(reply.Status), nil // the provider's own words may repeat what we sent
	case errors.Is(err, context.DeadlineExceeded):
		e.Class = provider.Timeout
	case errors.Is(err, client.ErrTransport):
		e.Class = provider.Unreachable
	case errors.Is(err, client.ErrReply), errors.Is(err, sfu.ErrNotSDP), errors.Is(err, sfu.ErrNoAudio), errors.Is(err, sfu.ErrUnsupportedCodec),
		errors.Is(err, sfu.ErrNegotiation):
		e.Class = provider.BadAnswer
	case errors.Is(err, client.ErrGone):
		e.Class = provider.Unreachable // the handshake stood, the media path did not
	}
	return e
}

// classOf names an HTTP status.
func classOf(status int) provider.Class {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return provider.Unauthorized
	case status == http.StatusTooManyRequests:
		return provider.RateLimited
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return provider.Timeout
	case status >= 500:
		return provider.Overloaded
	case status >= 400:
		return provider.Rejected
	}
	return provider.BadAnswer
}
