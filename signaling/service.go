package signaling

import (
	"context"
	"net/http"
	"time"

	"hovor/signaling/realtime"
)

// Service is what stands behind the door: the gateway, or the embedded provider. An error that is, or wraps, a
// *realtime.Error goes to the client as it is; one of sfu's offer errors becomes the fitting 400; a context error a 504;
// anything else a 500 that says nothing of its cause, which is logged.
type Service interface {
	// Mint makes a client secret for the caller. Errors: 401, 403.
	Mint(ctx context.Context, c Caller, req realtime.ClientSecretRequest) (*realtime.ClientSecret, error)
	// Open answers an offer. ctx ends with the request; the call itself lives on.
	Open(ctx context.Context, c Caller, o Offer) (*Answer, error)
	// Hangup ends a call. ErrCallNotFound when there is none, or when it is not the caller's.
	Hangup(ctx context.Context, c Caller, callID string) error
	// State tells how a call is. ErrCallNotFound as in Hangup.
	State(ctx context.Context, c Caller, callID string) (*CallState, error)
}

// Caller is who knocks.
type Caller struct {
	Bearer Credential
	Remote string      // host:port of the connection
	Header http.Header // only the headers named in callerHeaders
}

// Offer opens a call. Session and Model are what came with the offer; the caller's secret may say more.
type Offer struct {
	SDP     string
	Session *realtime.Session // nil in a raw offer
	Model   string            // ?model=, else the session's, else empty
}

// Answer is the reply to an Offer. CallID is the last segment of the call's URL.
type Answer struct {
	SDP    string
	CallID string
}

// CallState is the body of GET on a call.
type CallState struct {
	ID        string     `json:"id"`
	Object    string     `json:"object"` // "realtime.call"; filled in by the handler
	Status    string     `json:"status"` // "connecting", "active", "ended"
	Model     string     `json:"model,omitempty"`
	ThreadID  string     `json:"thread_id,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	EndReason string     `json:"end_reason,omitempty"`
}

// callerHeaders are the request headers a Service gets to see: none of them is a credential.
var callerHeaders = []string{
	"Accept-Language", "Origin", "User-Agent", "Traceparent", "Tracestate",
	"Openai-Beta", "Openai-Safety-Identifier", "X-Openai-Agents-Sdk", "X-Forwarded-For", "X-Request-Id",
}
