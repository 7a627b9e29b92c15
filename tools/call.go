package tools

import (
	"encoding/json"
	"time"

	"hovor/tools/effect"
)

// Class is the effect class of a tool; see package effect.
type Class = effect.Class

// Person is who speaks. The credential is theirs and nobody else's; every call of theirs runs with it.
type Person struct {
	ID         string // stable, unique; never shown to a model
	Name       string // as the page shows it
	Language   string // BCP 47 primary subtag: cs, en, de, ru
	Credential Credential
}

// Call is one tool call as a client posts it.
type Call struct {
	CallID    string          // 1 to 32 characters of A-Z a-z 0-9 . _ : -
	Name      string          // as the model spelt it; untrusted
	Arguments json.RawMessage // a JSON object, or a JSON string that holds one; empty means {}; untrusted
	Session   string          // the Realtime call's id; empty lets the SessionPort choose
	Language  string          // of the conversation; empty means the session's, then the person's
}

// Result is what became of a call. It is recorded once and never changes.
type Result struct {
	CallID  string
	Session string // the session the call was recorded under
	Status  Status
	Output  string // compact JSON, exactly what the model may be given
	Receipt string // id of the record: "rcpt_" and 26 characters
	Class   Class  // empty for a name that the catalogue does not know
}

// Status is the closed set of outcomes.
type Status string

const (
	StatusOK                   Status = "ok"                    // done, and established
	StatusNotFound             Status = "not_found"             // established: there is no such thing
	StatusPending              Status = "pending"               // nobody established the outcome
	StatusConfirmationRequired Status = "confirmation_required" // nothing done; a person must agree first
	StatusDenied               Status = "denied"                // refused by rights or by class
	StatusInvalid              Status = "invalid"               // refused for its form; nothing was run
	StatusFailed               Status = "failed"                // proved not done
	StatusUncertain            Status = "uncertain"             // may have been done
)

// Statuses returns the closed set.
func Statuses() []Status {
	return []Status{StatusOK, StatusNotFound, StatusPending, StatusConfirmationRequired, StatusDenied, StatusInvalid,
		StatusFailed, StatusUncertain}
}

// Definition is a tool as a model is told of it: the Realtime function form.
type Definition struct {
	Type        string          `json:"type"` // "function"
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema 2020-12, compact, in the catalogue's order
	Class       Class           `json:"-"`          // for our own page and metrics; a provider is not told
}

// ScreenRequest asks a person's page to show something. The page answers with an OutcomeReport.
type ScreenRequest struct {
	RequestID string          // "scr_" and 26 characters; names this request and no other
	CallID    string          // of the tool call
	Epoch     uint64          // grows with every screen request of the session; the page drops what is older
	Tool      string          // catalogue name
	Arguments json.RawMessage // checked against the tool's schema, compact
	ExpiresIn time.Duration   // from now; after it nothing the page reports is credited
}

// ScreenOutcome is what a page saw.
type ScreenOutcome string

const (
	ScreenFound    ScreenOutcome = "found"     // it is on the screen now
	ScreenNotFound ScreenOutcome = "not_found" // there is nothing of the kind that this person can see
)

// OutcomeReport is a page's own report of a screen request.
type OutcomeReport struct {
	CallID    string
	RequestID string
	Session   string // optional; when given it must be the request's session
	Outcome   ScreenOutcome
}
