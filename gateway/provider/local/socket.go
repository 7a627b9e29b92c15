package local

import (
	"context"
	"net/http"
	"time"

	"hovor/signaling"
	"hovor/signaling/realtime"
)

// socketLine is a session over a WebSocket: events and audio on one channel. The client plays, and knows what was heard.
type socketLine struct {
	socket signaling.Socket // in the client's dialect
	wire   *wire            // the connection under it; nil when nothing is to be broken
}

// socketBacklog is how many messages of a WebSocket wait; the next one is not read.
const socketBacklog = 4

// Socket implements signaling.SocketService.
func (s *Server) Socket(ctx context.Context, c signaling.Caller, r signaling.SocketRequest, sock signaling.Socket) error {
	if err := s.knock(ctx, gateUpgrade); err != nil {
		return err
	}
	if r.CallID != "" {
		return s.sidebandOn(ctx, c, r, sock)
	}
	cl, err := s.caller(c)
	if err != nil {
		return err
	}
	config := cl.session
	switch {
	case r.Intent != signaling.IntentTranscription:
	case config.Type == "":
		config.Type = realtime.SessionTranscription
	case config.Type != realtime.SessionTranscription:
		return errTranscriptionSecret
	}
	if config.Model == "" {
		config.Model = r.Model
	}
	if err := s.reserve(); err != nil {
		return unavailable(err)
	}
	defer s.release()
	x, err := newSocketSession(ctx, s, signaling.InDialect(sock, r.Dialect), config, cl.id)
	if err != nil {
		return err
	}
	if err := s.begin(ctx, x); err != nil {
		return err
	}
	<-x.done
	return nil
}

func newSocketSession(ctx context.Context, s *Server, sock signaling.Socket, config realtime.Session, owner string) (*session, error) {
	x, err := newSession(s, config, owner, "ws")
	if err != nil {
		return nil, err
	}
	x.inbox = make(chan message, socketBacklog)
	if x.intake, err = newIntake(formPCM); err != nil {
		return nil, err
	}
	if err := x.tune(x.config); err != nil {
		return nil, err
	}
	x.line = &socketLine{socket: sock, wire: wireOf(ctx)}
	close(x.opened)
	return x, nil
}

// run reads until the socket is over. A session that does not keep up holds the client back.
func (l *socketLine) run(ctx context.Context, x *session) {
	defer x.end()
	for {
		raw, err := l.socket.Read(ctx)
		if err != nil {
			return
		}
		select {
		case x.inbox <- message{raw: raw, at: time.Now()}:
		case <-ctx.Done():
			return
		}
	}
}

func (l *socketLine) send(raw []byte) error { return l.socket.Write(raw) }

func (l *socketLine) settle(x *session, _ time.Time, fn func()) {
	x.intake.flush(x.hear)
	fn()
}

func (l *socketLine) leave(f farewell) { l.socket.Close(f.code, f.reason) }
func (l *socketLine) cut()             { l.wire.cut() }
func (l *socketLine) hang()            { l.wire.hang() }
func (l *socketLine) discard()         {}

// breakable makes the connections of h ones that a script can break.
func breakable(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		under := &wire{}
		h.ServeHTTP(&breakableWriter{w, under}, r.WithContext(context.WithValue(r.Context(), wireKey{}, under)))
	})
}
