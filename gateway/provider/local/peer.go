package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"hovor/sfu"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/signaling/realtime/dialect"
)

// peerLine is a call over WebRTC: events on the data channel, audio on the track.
type peerLine struct {
	peer *sfu.Peer
	tap  *sfu.Tap
	edge *dialect.Edge
	out  *playout
	gone chan struct{} // the far side is gone
}

// newCall answers the offer. The session does nothing until run.
func newCall(ctx context.Context, s *Server, o signaling.Offer, config realtime.Session, owner string) (*session, error) {
	x, err := newSession(s, config, owner, "rtc")
	if err != nil {
		return nil, err
	}
	tap, err := s.cfg.Engine.NewTap(x.hearing.frame)
	if err != nil {
		return nil, err
	}
	l := &peerLine{tap: tap, edge: dialect.NewEdge(o.Dialect), gone: make(chan struct{})}
	gone := sync.OnceFunc(func() { close(l.gone) })
	l.peer, err = s.cfg.Engine.Accept(ctx, o.SDP, sfu.Handlers{
		State: func(st sfu.State) {
			if st == sfu.StateFailed || st == sfu.StateClosed {
				gone()
			}
		},
		Open:    sync.OnceFunc(func() { close(x.opened) }),
		Message: func(raw []byte) { l.receive(x, raw) },
		Packet:  tap.Push,
	})
	if err != nil {
		tap.Close()
		return nil, err
	}
	l.out = newPlayout(l.peer) // Opus, which the peer codes anew for a client that offered none
	x.line, x.out = l, l.out
	return x, nil
}

// receive is the data channel's callback.
func (l *peerLine) receive(x *session, raw []byte) {
	ga, err := l.edge.In(raw)
	select {
	case x.inbox <- message{raw: ga, at: time.Now(), err: err}:
	default:
		x.flood()
	}
}

func (l *peerLine) run(ctx context.Context, x *session) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var carrying sync.WaitGroup
	carrying.Go(func() { l.out.run(ctx) })
	carrying.Go(func() {
		defer stop()
		if err := l.peer.Run(ctx); err != nil {
			x.log.Info("call failed", "call_id", x.id, "error", err)
		}
	})
	select {
	case <-ctx.Done():
	case <-l.gone:
	}
	x.end()
	carrying.Wait()
	l.tap.Close()
}

func (l *peerLine) send(raw []byte) error {
	out, err := l.edge.Out(raw)
	if err != nil {
		return err
	}
	for _, msg := range out {
		err := l.peer.Send(msg)
		if err != nil && !errors.Is(err, sfu.ErrNotOpen) && !errors.Is(err, sfu.ErrClosed) {
			return err
		}
	}
	return nil
}

func (l *peerLine) settle(x *session, at time.Time, fn func()) {
	l.tap.Flush(at, func() { x.hearing.mark(fn) })
}

// lastWords bounds how long a client may take to acknowledge what it was told last.
const (
	lastWords = 300 * time.Millisecond
	lookAgain = 5 * time.Millisecond
)

// leave waits until the client has what was said last: the end of the connection is the only farewell, and overtakes it.
func (l *peerLine) leave(farewell) {
	for begin := time.Now(); l.peer.Stats().QueuedBytes > 0 && time.Since(begin) < lastWords; time.Sleep(lookAgain) {
		select {
		case <-l.gone:
			return
		default:
		}
	}
}

func (l *peerLine) cut()  {}
func (l *peerLine) hang() { l.out.mute() }

func (l *peerLine) discard() {
	l.tap.Close()
	_ = l.peer.Close()
}
