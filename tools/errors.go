package tools

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrCallID says that a call id is missing, longer than 32 characters, or has other characters than allowed.
	ErrCallID = errors.New("call_id must be 1 to 32 characters of A-Z a-z 0-9 . _ : -")
	// ErrPerson says that a call came without a person.
	ErrPerson = errors.New("no person is signed in")
	// ErrSession says that a session does not exist or is not this person's.
	ErrSession = errors.New("there is no such session of this person")
	// ErrSessionEnded says that the session ended; nothing of it is kept.
	ErrSessionEnded = errors.New("the session has ended")
	// ErrNoPage says that no page is connected that could show anything.
	ErrNoPage = errors.New("no page is connected to this session")
	// ErrOutcome says that an outcome is neither found nor not_found.
	ErrOutcome = errors.New("outcome must be found or not_found")
	// ErrNoRequest says that no screen request of that id was made to this person for this call.
	ErrNoRequest = errors.New("there is no such screen request")
	// ErrOutcomeLate says that the request was over before the outcome came; the outcome is credited to nothing.
	ErrOutcomeLate = errors.New("the outcome came too late and was not counted")
	// ErrOutcomeChanged says that another outcome was already credited to the request.
	ErrOutcomeChanged = errors.New("another outcome was already counted for this request")
	// ErrConfig says that a Service cannot be built from its Config.
	ErrConfig = errors.New("tools: configuration")
)

// errorKind names an error without its text, which may repeat what a person or a far side said.
func errorKind(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline"
	}
	return fmt.Sprintf("%T", err)
}
