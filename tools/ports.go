package tools

import (
	"context"
	"encoding/json"
	"time"

	"hovor/tools/catalogue"
)

// Executor runs one call of a tool that only reads, with the person's own credential. An implementation never holds a
// credential longer than the call, never writes one anywhere but into the request, and never returns text of its own
// making from the far side's errors.
type Executor interface {
	Execute(ctx context.Context, r Request) Outcome
}

// Request is what an Executor is given: a call that was found, checked and allowed.
type Request struct {
	Entry      *catalogue.Entry
	Arguments  map[string]any // decoded: string, bool, json.Number, nil, []any, map[string]any
	Credential Credential
}

// Outcome is what an Executor established.
type Outcome struct {
	Status Status          // ok, not_found, denied, invalid or failed
	Result json.RawMessage // with ok: compact JSON, at most the entry's size limit
	Cut    int             // bytes of the full result when Result is a shortened form of it, else 0
	Detail string          // why not, for the operator: a word from a closed set, never the far side's text
}

// ScreenPort carries a screen request to the page of a session. It must not block. It returns ErrNoPage when it knows
// that no page got the request; after any other error the outcome counts as not established.
type ScreenPort interface {
	Screen(session string, r ScreenRequest) error
}

// SessionPort says which session a call belongs to: the asked id if it is a live call of this person, else, when
// nothing was asked, the person's only live call, else the person's default scope. It returns ErrSession for an id
// that is not a live call of this person. A call's id is never used again after EndSession.
type SessionPort interface {
	Session(p Person, asked string) (id, language string, err error)
}

// Observer is told of every call once, when it is recorded. The result holds its ids and its class; name is the
// catalogue's, or "unknown", and so is class. It must not block.
type Observer interface {
	ToolCall(r *Result, name, class string, took time.Duration)
}
