package gateway

import (
	"context"
	"errors"
	"net/http"

	"hovor/gateway/call"
	"hovor/gateway/config"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/signaling/secrets"
)

// Socket lives one WebSocket: a call of its own, or a sideband of a running one.
func (d *door) Socket(ctx context.Context, c signaling.Caller, r signaling.SocketRequest, s signaling.Socket) error {
	switch {
	case r.CallID != "":
		return d.sideband(ctx, c, r, s)
	case r.Intent != "":
		return signaling.ErrNoTranscription
	}
	cl, err := d.claims(c, signaling.Offer{Model: r.Model})
	if err != nil {
		return err
	}
	if cl.assistant.Mode == config.Direct {
		return &realtime.Error{Status: http.StatusBadRequest, Type: realtime.TypeInvalidRequest, Code: realtime.CodeNotSupported,
			Message: "this assistant's audio goes straight to its provider, which a WebSocket to this server cannot do; open the call with an SDP offer"}
	}
	o, err := d.options(ctx, cl, nil)
	if err != nil {
		return err
	}
	o.Socket, o.Dialect = s, r.Dialect
	started, _, err := d.begin(ctx, cl, o, "")
	if err != nil {
		return err
	}
	<-started.Done() // it ends with the socket
	return nil
}

// sideband attaches to a call of the same person. With a client secret, what the secret's holder may send is what it says.
func (d *door) sideband(ctx context.Context, c signaling.Caller, r signaling.SocketRequest, s signaling.Socket) error {
	var takes []string
	if isSecret(c) {
		cl, err := d.secrets.Redeem(c.Bearer.Reveal())
		if errors.Is(err, secrets.ErrUsed) { // by the call itself
			cl, err = d.secrets.Recall(c.Bearer.Reveal())
		}
		if err != nil {
			return err
		}
		takes = cl.events
	}
	found, err := d.find(c, r.CallID)
	if err != nil {
		return err
	}
	err = found.Attach(ctx, s, r.Dialect, takes)
	switch {
	case errors.Is(err, call.ErrNotLive):
		return signaling.ErrCallNotFound
	case err != nil:
		return &realtime.Error{Status: http.StatusTooManyRequests, Type: realtime.TypeRateLimit, Code: "too_many_sidebands", Message: err.Error()}
	}
	return nil
}
