package tools

import (
	"context"
	"crypto/sha256"
	"sync"
)

// record keeps what became of every call, per session. It is the memory that makes a repeated call harmless and that
// the event gate compares outputs with.
type record struct {
	limits Limits

	mu       sync.Mutex // never taken while a session's mu is held
	sessions map[string]*session
	requests map[string]*session // by id of a screen request that is still remembered
	order    []string            // session ids, oldest first; may hold ids that are gone
	ended    map[string]struct{} // ids that EndSession was called for
	endOrder []string
}

// session is what is kept of one session. Fields below mu are guarded by it.
type session struct {
	id     string
	person string // whose it is; nobody else's call is ever recorded here
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	over     bool
	calls    map[string]*kept
	order    []*kept // kept calls that are over and still have their output, oldest first
	idOrder  []string
	bytes    int
	inFlight int
	screen   screen
}

// kept is one call. result and gone are guarded by the session's mu; result is written once, by finish.
type kept struct {
	id     string
	what   [sha256.Size]byte // name and arguments
	done   chan struct{}     // closed by finish
	result *Result           // nil until finish, and again once gone
	gone   bool              // the output was let go to make room
}

func newRecord(l Limits) *record {
	return &record{limits: l, sessions: map[string]*session{}, requests: map[string]*session{}, ended: map[string]struct{}{}}
}

// session returns the session of that id, making it for this person if it is new.
func (r *record) session(id, person string) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ended := r.ended[id]; ended {
		return nil, ErrSessionEnded
	}
	if s, ok := r.sessions[id]; ok {
		if s.person != person {
			return nil, ErrSession
		}
		return s, nil
	}
	r.makeRoom()
	s := &session{id: id, person: person, calls: map[string]*kept{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	r.sessions[id] = s
	r.order = append(r.order, id)
	return s, nil
}

// makeRoom ends the oldest idle session when too many are kept. Callers hold mu.
func (r *record) makeRoom() {
	for tries := len(r.order); len(r.sessions) >= r.limits.Sessions && tries > 0; tries-- {
		id := r.order[0]
		r.order = r.order[1:]
		s, ok := r.sessions[id]
		if !ok {
			continue
		}
		if !s.idle() {
			r.order = append(r.order, id)
			continue
		}
		r.drop(s)
		s.end()
	}
}

// drop takes a session out of the indexes. Callers hold mu.
func (r *record) drop(s *session) {
	delete(r.sessions, s.id)
	for id, owner := range r.requests {
		if owner == s {
			delete(r.requests, id)
		}
	}
}

func (r *record) find(id string) (*session, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.sessions[id]
	return s, ok
}

// end forgets a session for good. Ended ids are remembered, so that a call which was on its way cannot bring one back.
func (r *record) end(id string) {
	r.mu.Lock()
	s := r.sessions[id]
	if s != nil {
		r.drop(s)
	}
	if _, known := r.ended[id]; !known {
		r.ended[id] = struct{}{}
		r.endOrder = append(r.endOrder, id)
	}
	for len(r.endOrder) > r.limits.Sessions {
		delete(r.ended, r.endOrder[0])
		r.endOrder = r.endOrder[1:]
	}
	r.order = compact(r.order, r.sessions)
	r.mu.Unlock()
	if s != nil {
		s.end()
	}
}

// compact drops ids that are gone once they are the larger part, so that the list stays in proportion.
func compact(order []string, live map[string]*session) []string {
	if len(order) < 2*len(live)+64 {
		return order
	}
	out := make([]string, 0, len(live))
	for _, id := range order {
		if _, ok := live[id]; ok {
			out = append(out, id)
		}
	}
	return out
}

func (s *session) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inFlight == 0
}

func (s *session) end() {
	s.mu.Lock()
	s.over = true
	clear(s.calls)
	s.order, s.idOrder, s.bytes = nil, nil, 0
	s.screen.settle(s.screen.current, screenCancelled)
	s.screen.recent = nil
	s.mu.Unlock()
	s.cancel(ErrSessionEnded)
}

// begin enters a call. fresh means that the caller must run it and finish it; otherwise k is the call that the id
// belongs to, which may be another one.
func (s *session) begin(id string, what [sha256.Size]byte, l Limits) (k *kept, fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, false, ErrSessionEnded
	}
	if k, ok := s.calls[id]; ok {
		return k, false, nil
	}
	k = &kept{id: id, what: what, done: make(chan struct{})}
	s.calls[id] = k
	s.idOrder = append(s.idOrder, id)
	s.inFlight++
	s.forgetIDs(l)
	return k, true, nil
}

// finish records the result and wakes whoever waits for it. It is called exactly once per fresh call.
func (s *session) finish(k *kept, result *Result, l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.result = result
	s.inFlight--
	if !s.over {
		s.order = append(s.order, k)
		s.bytes += len(result.Output)
		for len(s.order) > 1 && (len(s.order) > l.SessionCalls || s.bytes > l.SessionBytes) {
			oldest := s.order[0]
			s.order = s.order[1:]
			s.bytes -= len(oldest.result.Output)
			oldest.gone, oldest.result = true, nil
		}
	}
	close(k.done)
}

// forgetIDs lets go of the oldest call ids whose output is gone already. Callers hold mu.
func (s *session) forgetIDs(l Limits) {
	for len(s.idOrder) > l.SessionIDs {
		k := s.calls[s.idOrder[0]]
		if k != nil && !k.gone {
			return // still in use; the outputs' own bounds will let it go
		}
		delete(s.calls, s.idOrder[0])
		s.idOrder = s.idOrder[1:]
	}
}

// recorded returns the output of a call that is over and whose output is kept.
func (s *session) recorded(id string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.calls[id]
	if !ok || k.gone || k.result == nil {
		return "", false
	}
	return k.result.Output, true
}

// look returns the result of a call that is over; gone means that its output was let go.
func (s *session) look(k *kept) (result *Result, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return k.result, k.gone
}
