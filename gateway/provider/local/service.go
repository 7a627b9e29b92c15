package local

import (
	"context"
	"errors"
	"net/http"
	"time"

	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/signaling/secrets"
)

// claims are what a client secret is bound to.
type claims struct {
	id      string // stands for the secret, which is never stored
	session realtime.Session
}

// project is the owner of calls that the API key opened.
const project = "project"

// Mint implements signaling.Service: the project key makes a client secret with a session in it.
func (s *Server) Mint(ctx context.Context, c signaling.Caller, req realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	if err := s.knock(ctx, gateMint); err != nil {
		return nil, err
	}
	if c.Bearer.IsZero() {
		return nil, signaling.ErrNoCredential
	}
	if !c.Bearer.Equal(s.cfg.APIKey) {
		return nil, signaling.ErrBadCredential
	}
	cl := claims{id: realtime.NewID("cs")}
	if req.Session != nil {
		cl.session = req.Session.Clone()
	}
	ttl := time.Duration(0)
	if req.ExpiresAfter != nil {
		ttl = time.Duration(req.ExpiresAfter.Seconds) * time.Second
	}
	token, expires, err := s.secrets.Mint(cl, ttl, req.Hovor != nil && req.Hovor.OneUse)
	if err != nil {
		return nil, err
	}
	whole := effective(cl.session)
	whole.ID = realtime.NewID("sess")
	return &realtime.ClientSecret{Value: token, ExpiresAt: expires.Unix(), Session: whole}, nil
}

// caller proves who opens, ends or asks for a call: the project key or a client secret.
func (s *Server) caller(c signaling.Caller) (claims, error) {
	switch {
	case c.Bearer.IsZero():
		return claims{}, signaling.ErrNoCredential
	case c.Bearer.Equal(s.cfg.APIKey):
		return claims{id: project}, nil
	}
	cl, err := s.secrets.Redeem(c.Bearer.Reveal())
	return cl, secretError(err)
}

// secretError is the reply to a secret that does not open a call.
func secretError(err error) error {
	say := func(code, message string) error {
		return &realtime.Error{Status: http.StatusUnauthorized, Type: realtime.TypeAuthentication, Code: code, Message: message}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, secrets.ErrExpired):
		return say(realtime.CodeExpiredCredential, "this client secret has expired: mint a new one")
	case errors.Is(err, secrets.ErrUsed):
		return say(realtime.CodeUsedCredential, "this client secret was good for one call: mint a new one")
	case errors.Is(err, secrets.ErrUnknown):
		return signaling.ErrBadCredential
	}
	return err
}

// Open implements signaling.Service: it answers the offer and hands the session to Run.
func (s *Server) Open(ctx context.Context, c signaling.Caller, o signaling.Offer) (*signaling.Answer, error) {
	if err := s.knock(ctx, gateOpen); err != nil {
		return nil, err
	}
	cl, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	if err := s.reserve(); err != nil {
		return nil, unavailable(err)
	}
	defer s.release()
	config := cl.session
	if o.Session != nil {
		config = config.Merge(*o.Session)
	}
	if config.Model == "" {
		config.Model = o.Model
	}
	x, err := newCall(ctx, s, o, config, cl.id)
	if err != nil {
		return nil, err
	}
	sdp := x.line.(*peerLine).peer.LocalSDP()
	if err := s.begin(ctx, x); err != nil {
		return nil, err
	}
	return &signaling.Answer{SDP: sdp, CallID: x.id}, nil
}

// begin hands a session to Run, or discards it.
func (s *Server) begin(ctx context.Context, x *session) error {
	s.remember(x)
	var err error
	select {
	case s.starts <- x:
		s.log.Info("session opened", "call_id", x.id)
		return nil
	case <-s.stopping:
		err = unavailable(ErrDraining)
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.forget(x)
	x.line.discard()
	return err
}

func unavailable(err error) error {
	e := &realtime.Error{Status: http.StatusServiceUnavailable, Type: realtime.TypeServer, Code: realtime.CodeUnavailable, Message: err.Error()}
	if errors.Is(err, ErrFull) {
		e.Status, e.Type, e.Code, e.RetryAfter = http.StatusTooManyRequests, realtime.TypeRateLimit, realtime.CodeTooManyCalls, 5
	}
	return e
}

// Hangup implements signaling.Service.
func (s *Server) Hangup(_ context.Context, c signaling.Caller, callID string) error {
	x, err := s.find(c, callID)
	if err != nil {
		return err
	}
	x.hangup()
	return nil
}

// State implements signaling.Service.
func (s *Server) State(_ context.Context, c signaling.Caller, callID string) (*signaling.CallState, error) {
	x, err := s.find(c, callID)
	if err != nil {
		return nil, err
	}
	return &signaling.CallState{ID: x.id, Status: x.currentStatus(), Model: x.model, CreatedAt: x.created}, nil
}

// find returns the caller's live call: the project key sees all, a client secret (spent ones too) the calls it opened.
func (s *Server) find(c signaling.Caller, callID string) (*session, error) {
	owner := project
	switch {
	case c.Bearer.IsZero():
		return nil, signaling.ErrNoCredential
	case !c.Bearer.Equal(s.cfg.APIKey):
		cl, err := s.secrets.Recall(c.Bearer.Reveal())
		if err != nil {
			return nil, secretError(err)
		}
		owner = cl.id
	}
	s.mu.Lock()
	x := s.sessions[callID]
	s.mu.Unlock()
	if x == nil || owner != project && x.owner != owner {
		return nil, signaling.ErrCallNotFound
	}
	return x, nil
}
