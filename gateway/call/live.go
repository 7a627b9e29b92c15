package call

import (
	"context"
	"time"

	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/tools"
)

// Live is a call that goes on, as the rest of the gateway sees it: one that the gateway carries (Call), or one that it only
// opened (package direct). Its methods are safe from any goroutine.
type Live interface {
	ID() string
	Person() tools.Person
	Assistant() Assistant
	Began() time.Time
	State() Snapshot
	// Session is the effective session as the client may see it.
	Session() realtime.Session
	// Done is closed when the call is over.
	Done() <-chan struct{}
	// Run keeps the call until it ends or ctx does (drain_deadline).
	Run(ctx context.Context) error
	// Hangup asks for the end and does not wait; the first reason counts.
	Hangup(r EndReason)
	// Screen and Tool talk to the page. Errors of Screen: ErrNotLive, ErrBusy.
	Screen(r tools.ScreenRequest) error
	Tool(callID, name, class, status string)
	// Attach makes a WebSocket a sideband; see Call.Attach.
	Attach(ctx context.Context, s signaling.Socket, d realtime.Dialect, takes []string) error
}

var _ Live = (*Call)(nil)
