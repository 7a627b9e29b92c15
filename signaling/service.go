package signaling

import (
	"context"
	"net/http"
	"time"

	"hovor/signaling/realtime"
	"hovor/signaling/sdpfrag"
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
	Session *realtime.Session // GA form, whatever the dialect; nil when none came with the offer
	Model   string            // ?model=, else the session's, else empty
	// Dialect is what the event channel starts with. A first session.update without type turns GA into Beta; dialect.Edge
	// does that.
	Dialect realtime.Dialect
}

// Answer is the reply to an Offer. CallID is the last segment of the call's URL.
type Answer struct {
	SDP    string
	CallID string
	// ETag names the ICE session, for a Service that is a Patcher: printable ASCII without quotes. It changes with each
	// restart, and is empty when there are none.
	ETag string
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

// Patcher is implemented by a Service whose calls take trickled candidates and ICE restarts after the answer (RFC 9725
// section 4.3). The door has read the fragment and has made sure that there is an If-Match; the Service knows which ICE
// session is current. Errors: ErrCallNotFound, ErrPrecondition (412), ErrPatchKind (422).
type Patcher interface {
	Patch(ctx context.Context, c Caller, callID string, p PatchRequest) (*PatchAnswer, error)
}

// PatchRequest is one PATCH on a call.
type PatchRequest struct {
	// IfMatch is the entity-tag that the client holds, as in Answer.ETag; empty with Restart.
	IfMatch string
	// Restart is set by If-Match: *. A fragment whose credentials are not the current ones is a restart too (RFC 9725
	// section 4.3.3), which only the Service can tell.
	Restart  bool
	Fragment *sdpfrag.Fragment
}

// PatchAnswer is what came of a PATCH. Candidates taken in: nil Fragment, no ETag, answered by 204. A restart: the new
// credentials and candidates of this side, and the entity-tag of the new ICE session, answered by 200.
type PatchAnswer struct {
	ETag     string
	Fragment *sdpfrag.Fragment
}

// SocketService is implemented by a Service with a WebSocket front.
type SocketService interface {
	// Socket lives one WebSocket and returns when its life is over. The handshake is answered at the first Read or Write:
	// an error before it is an HTTP reply; an error after it is sent as an error event, and the socket is closed with the
	// fitting code. So write session.created at once, and wait for a slow provider afterwards. ctx ends when the socket is
	// gone. A nil error closes the socket normally, unless Close was called.
	Socket(ctx context.Context, c Caller, r SocketRequest, s Socket) error
}

// IntentTranscription asks for a session that only listens and writes.
const IntentTranscription = "transcription"

// SocketRequest is what a WebSocket is opened for: exactly one of Model, CallID and Intent is set.
type SocketRequest struct {
	Model   string           // ?model=: a call of its own
	CallID  string           // ?call_id=: a sideband of a running call
	Intent  string           // ?intent=: IntentTranscription
	Dialect realtime.Dialect // by header or subprotocol; see dialect.Edge for the rest of the rule
}

// Socket is an open WebSocket. Read is for one goroutine, Write and Close for any.
type Socket interface {
	// Read is the next message. Errors: ctx's, and those of package socket when the socket is over.
	Read(ctx context.Context) ([]byte, error)
	// Write queues one message and never blocks; the socket keeps the slice. A client that lets the queue fill up loses
	// the socket: socket.ErrSlowReader.
	Write(msg []byte) error
	// Close sends what is queued, then the code and the reason (123 bytes at most), and does not wait. The first Close counts.
	Close(code int, reason string)
}

// Authenticator is implemented by a Service that can tell whether a caller is somebody, without using a secret up. It
// decides whether OPTIONS may hand out TURN credentials.
type Authenticator interface {
	Authenticate(ctx context.Context, c Caller) error
}
