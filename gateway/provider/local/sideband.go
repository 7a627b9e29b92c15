package local

import (
	"context"
	"slices"
	"time"

	"hovor/signaling"
	"hovor/signaling/realtime"
)

// maxSidebands is how many a session may have at a time.
const maxSidebands = 8

// sideband is a second event channel of a running call (protocol research 1.5): it starts silent, sees what the client sees,
// and may send what the client may. What is wrong with its events only it is told.
type sideband struct{ socket signaling.Socket }

// sidebandOn joins a running call until the socket or the call is over.
func (s *Server) sidebandOn(ctx context.Context, c signaling.Caller, r signaling.SocketRequest, sock signaling.Socket) error {
	x, err := s.find(c, r.CallID)
	if err != nil {
		return err
	}
	side := &sideband{signaling.InDialect(sock, r.Dialect)}
	if err := x.attach(ctx, side); err != nil {
		return err
	}
	for {
		raw, err := side.socket.Read(ctx)
		if err != nil {
			x.detach(ctx, side)
			return nil // it left, or the call is over
		}
		select {
		case x.side <- message{raw: raw, at: time.Now(), from: side}:
		case <-x.done:
			return nil
		case <-ctx.Done():
		}
	}
}

// attach makes a sideband one of the session's. Errors: signaling.ErrCallNotFound when the call has ended meanwhile, too
// many, ctx's.
func (x *session) attach(ctx context.Context, side *sideband) error {
	taken := make(chan error, 1)
	join := func() {
		if len(x.sides) >= maxSidebands {
			taken <- unavailable(ErrFull)
			return
		}
		x.sides = append(x.sides, side)
		taken <- nil
	}
	select {
	case x.tasks <- join:
	case <-x.done:
		return signaling.ErrCallNotFound
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-taken:
		return err
	case <-x.done:
		return signaling.ErrCallNotFound
	}
}

// detach forgets a sideband whose socket is over.
func (x *session) detach(ctx context.Context, side *sideband) {
	leave := func() { x.sides = slices.DeleteFunc(x.sides, func(s *sideband) bool { return s == side }) }
	select {
	case x.tasks <- leave:
	case <-x.done:
	}
}

var _ signaling.SocketService = (*Server)(nil)

var errTranscriptionSecret = realtime.Invalid(realtime.CodeInvalidValue, "intent", "this client secret was minted for a conversation, not for transcription")
