package direct

import (
	"log/slog"

	"hovor/gateway/call"
	"hovor/gateway/thread"
	"hovor/signaling/realtime"
	"hovor/tools"
)

// Options is everything a direct call is made of. Observer, Person and Upstream must be there.
type Options struct {
	ID        string // the Realtime call's id on our side
	Person    tools.Person
	Assistant call.Assistant
	Session   *realtime.Session // what the client asked for; passes the assistant's policy
	Thread    *thread.Handle    // nil: nothing is kept
	Upstream  Upstream
	Limits    call.Limits // of which Duration and Idle count
	Observer  call.Observer
	Books     call.Books
	Logger    *slog.Logger

	// Ended is called once when the call is over; nil means nobody cares.
	Ended func(call.Live)
}
