package provider

import (
	"errors"
	"fmt"
	"time"
)

// Class is one way in which a provider fails; a closed set, used as a metrics label.
type Class string

// The classes. Every adapter maps what it meets to one of them.
const (
	Unreachable  Class = "unreachable"  // refused, no route, name not found
	Unauthorized Class = "unauthorized" // 401, 403: our credential is not accepted
	RateLimited  Class = "rate_limited" // 429: too many requests, or the quota is used up
	Overloaded   Class = "overloaded"   // 5xx
	Timeout      Class = "timeout"      // no answer, or no media, in time
	Rejected     Class = "rejected"     // another 4xx: it does not like what we ask
	BadAnswer    Class = "bad_answer"   // it answers with something that is not the protocol
	Lost         Class = "lost"         // was connected, is gone
	Expired      Class = "expired"      // the provider's limit on a session was reached and the session could not be renewed
	Overflow     Class = "overflow"     // it sends faster than a call can take
	Unclassified Class = "unclassified" // everything else; a bug report waiting to be written
)

// Classes is the closed set, in the order of the documents.
var Classes = []Class{Unreachable, Unauthorized, RateLimited, Overloaded, Timeout, Rejected, BadAnswer, Lost, Expired, Overflow, Unclassified}

// Error is a provider's failure. Its text goes to logs: it holds no credential and nothing that was said.
type Error struct {
	Class      Class
	Status     int           // HTTP status, 0 when there was none
	Code       string        // the provider's own code, "" when there was none
	RetryAfter time.Duration // how long it asks us to wait, 0 when it does not say
	Err        error         // the cause, may be nil
}

// Error names class, status, code and cause.
func (e *Error) Error() string {
	s := "provider " + string(e.Class)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Code != "" {
		s += " [" + e.Code + "]"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Sentence is what the person is told: what happened and what can be done, without blame or jargon.
func (e *Error) Sentence() string { return sentences[e.Class] }

var sentences = map[Class]string{
	Unreachable:  "The voice service cannot be reached. Check that it is running, then start a new call.",
	Unauthorized: "The voice service does not accept this server's credential. Whoever runs the server has to renew it.",
	RateLimited:  "The voice service is at its limit just now. Wait a minute, then start a new call.",
	Overloaded:   "The voice service has a problem of its own just now. Start a new call in a moment.",
	Timeout:      "The voice service did not answer in time. Start a new call.",
	Rejected:     "The voice service refused this call's settings. Whoever runs the server finds the reason in its log.",
	BadAnswer:    "The voice service answered in a way this server does not understand. Whoever runs the server finds more in its log.",
	Lost:         "The connection to the voice service was lost. What was said so far is kept; a new call continues it.",
	Expired:      "The voice service ends a conversation after a while, and this one could not be carried over. What was said is kept; a new call continues it.",
	Overflow:     "The voice service sent more than this call could take. What was said so far is kept; a new call continues it.",
	Unclassified: "The voice service failed. What was said so far is kept; a new call continues it.",
}

// AsError gives err as an *Error; one that is none becomes Unclassified. nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Class: Unclassified, Err: err}
}

// ErrNotConnected: the leg is not open, or no longer.
var ErrNotConnected = errors.New("provider leg is not connected")
