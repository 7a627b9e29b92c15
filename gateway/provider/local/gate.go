package local

import (
	"context"
	"net/http"
	"time"

	"hovor/gateway/provider/local/brain"
	"hovor/signaling/realtime"
)

// Gates, as the script names them.
const (
	gateMint    = brain.GateMint
	gateOpen    = brain.GateOpen
	gateUpgrade = brain.GateUpgrade
)

// knock asks the script whether a request is let in, and when.
func (s *Server) knock(ctx context.Context, g brain.Gate) error {
	saboteur, ok := s.brain.(brain.Saboteur)
	if !ok {
		return nil
	}
	r := saboteur.Knock(g)
	if r.Wait > 0 && !pause(ctx, r.Wait) {
		return ctx.Err()
	}
	if r.Refusal == nil {
		return nil
	}
	return refusal(r.Refusal)
}

// plan is what goes wrong in the next session.
func (s *Server) plan() brain.Plan {
	if saboteur, ok := s.brain.(brain.Saboteur); ok {
		return saboteur.Session()
	}
	return brain.Plan{}
}

// refusal is a scripted HTTP reply; what the script leaves out is what the published API says with such a status.
func refusal(r *brain.Refusal) *realtime.Error {
	e := &realtime.Error{Status: r.Status, RetryAfter: int((r.RetryAfter + time.Second - 1) / time.Second), Code: r.Code, Message: r.Message}
	code := ""
	switch {
	case r.Status == http.StatusUnauthorized:
		e.Type, code = realtime.TypeInvalidRequest, "invalid_api_key"
	case r.Status == http.StatusTooManyRequests:
		e.Type, code = realtime.TypeRateLimit, "rate_limit_exceeded"
	case r.Status >= 500:
		e.Type, code = realtime.TypeServer, realtime.TypeServer
	default:
		e.Type, code = realtime.TypeInvalidRequest, realtime.CodeInvalidValue
	}
	if e.Code == "" {
		e.Code = code
	}
	if e.Message == "" {
		e.Message = "This refusal was asked for by the script."
	}
	return e
}
