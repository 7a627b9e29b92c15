package dialect

import (
	"sync/atomic"

	"hovor/signaling/realtime"
)

// Edge is the translation at one client's event channel. It carries the last clause of the dialect rule: a first
// session.update without type turns a connection that started as GA into a beta one. In is for one goroutine, Out for
// another.
type Edge struct {
	beta    atomic.Bool
	decided bool // the first session.update was seen; only In touches it
}

// NewEdge makes the edge of a connection that starts in dialect d.
func NewEdge(d realtime.Dialect) *Edge {
	e := &Edge{decided: d == realtime.Beta}
	e.beta.Store(d == realtime.Beta)
	return e
}

// Dialect is what the connection speaks now.
func (e *Edge) Dialect() realtime.Dialect {
	if e.beta.Load() {
		return realtime.Beta
	}
	return realtime.GA
}

// In turns a client's message into the GA form. Errors as in ToGA: send them back, through Out, as an error event.
func (e *Edge) In(raw []byte) ([]byte, error) {
	if !e.decided {
		e.decide(raw)
	}
	if !e.beta.Load() {
		return raw, nil
	}
	return ToGA(raw)
}

func (e *Edge) decide(raw []byte) {
	switch typeOf(raw) {
	case "transcription_session.update": // beta only
	case "session.update":
		o, _ := parse(raw)
		session, _ := o.get("session")
		if _, ok := parse(session); !ok {
			return // the decoder will say what is wrong with it
		}
		if !IsBetaSession(session) {
			e.decided = true
			return
		}
	default:
		return
	}
	e.decided = true
	e.beta.Store(true)
}

// Out turns an event for the client into what it is sent: as it is on a GA connection, one event or none on a beta one.
func (e *Edge) Out(raw []byte) ([][]byte, error) {
	if !e.beta.Load() {
		return [][]byte{raw}, nil
	}
	return FromGA(raw)
}
