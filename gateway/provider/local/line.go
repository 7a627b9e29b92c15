package local

import (
	"context"
	"time"

	"hovor/signaling/socket"
)

// line is the way between a session and its client. All but run is called by the session's loop.
type line interface {
	// run carries until ctx ends or the client is gone, and hands what comes to the session.
	run(ctx context.Context, x *session)
	// send queues one event and never blocks. An error means that the client takes no more.
	send(raw []byte) error
	// settle runs fn on the session's loop once all the audio that had arrived by at was heard.
	settle(x *session, at time.Time, fn func())
	// leave says goodbye, where the transport has a word for it; the session ends with it.
	leave(f farewell)
	// cut breaks the connection without a word.
	cut()
	// hang keeps the connection, and lets nothing through any more.
	hang()
	// discard ends a line that was never run.
	discard()
}

// message is one client event as it arrived.
type message struct {
	raw  []byte
	at   time.Time
	from *sideband // nil = the session's own client
	err  error     // it could not be translated
}

// farewell is why a session is over, as a close frame says it.
type farewell struct {
	code   int
	reason string
}

// The ends of a session.
var (
	byeDrain    = farewell{socket.CodeGoingAway, "going_away"}
	byeExpired  = farewell{socket.CodeGoingAway, codeSessionExpired}
	byeHangup   = farewell{socket.CodeNormal, "hangup"}
	byeClient   = farewell{socket.CodeNormal, "client_gone"}
	byeNever    = farewell{socket.CodeTimeout, "never_connected"}
	byeDeaf     = farewell{socket.CodePolicy, "slow_reader"}
	byeScripted = farewell{socket.CodeInternal, "closed"} // a fault of the script without a code
)
