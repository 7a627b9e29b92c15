package brain

import "time"

// Fault misbehaves on purpose. Faults that name an event change the way that event takes; the others happen at once.
type Fault struct {
	Kind  FaultKind
	Type  string        // with an event: its type; AnyEvent = every type
	Times int           // with an event: for so many events of that type
	For   time.Duration // FaultDelay, FaultStall
	Text  string        // FaultMalformed: the raw frame; FaultError, FaultFail: the message; FaultClose: the reason
	Code  string        // FaultError, FaultFail
	Close int           // FaultClose: the close code of a WebSocket; 0 = the connection is cut without a word
}

// AnyEvent stands for every type of event.
const AnyEvent = "*"

// FaultKind names a misbehaviour.
type FaultKind string

// Kinds of fault that name an event.
const (
	FaultDrop      FaultKind = "drop"      // it is not sent
	FaultDelay     FaultKind = "delay"     // it and everything behind it is sent that much later
	FaultDuplicate FaultKind = "duplicate" // it is sent twice, with one event id
	FaultReorder   FaultKind = "reorder"   // it is sent behind the event that follows it
	FaultGarble    FaultKind = "garble"    // half of it is sent
)

// Kinds of fault that happen at once.
const (
	FaultMalformed FaultKind = "malformed" // a frame that is no event is sent
	FaultError     FaultKind = "error"     // an error event is sent
	FaultFail      FaultKind = "fail"      // the response ends with status failed
	FaultStall     FaultKind = "stall"     // no event of the client is read for that long
	FaultHang      FaultKind = "hang"      // the connection stays, but nothing is read or sent any more, not even a pong
	FaultClose     FaultKind = "close"     // the connection is closed
	FaultExpire    FaultKind = "expire"    // the session has reached its end: session_expired, and close code 1001
)

// NamesEvent reports whether a fault of this kind waits for an event.
func (k FaultKind) NamesEvent() bool {
	switch k {
	case FaultDrop, FaultDelay, FaultDuplicate, FaultReorder, FaultGarble:
		return true
	}
	return false
}

// Saboteur is a Brain that also misbehaves where no response is under way. Safe for concurrent use.
type Saboteur interface {
	// Knock is asked once for every request at a gate.
	Knock(g Gate) Reception
	// Session is asked once for every session that begins, in their order.
	Session() Plan
}

// Gate is where a client can be kept out.
type Gate string

// Gates.
const (
	GateMint    Gate = "mint"    // a client secret is asked for
	GateOpen    Gate = "open"    // a call over WebRTC
	GateUpgrade Gate = "upgrade" // a WebSocket
)

// Reception is how a request fares at a gate. The zero value lets it in.
type Reception struct {
	Wait    time.Duration // before the answer
	Refusal *Refusal      // nil = it is let in
}

// Refusal is an HTTP reply.
type Refusal struct {
	Status        int           // 400 to 599
	RetryAfter    time.Duration // header Retry-After in whole seconds; 0 = none
	Code, Message string        // of the error in the body
}

// Plan is what goes wrong in one session beside its responses.
type Plan struct {
	Expires time.Duration // length of the session, which its expires_at announces; 0 = the usual one
	Steps   []Step        // Wait and Fault only, from the first event on
}
