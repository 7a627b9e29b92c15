package tools

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"hovor/tools/catalogue"
)

// screenExpiry is how long a page has to say what it shows (requirement S1-62).
const screenExpiry = 7 * time.Second

// screenMemory is how many requests of a session are remembered, so that a late outcome gets a clear answer.
const screenMemory = 32

// screenState says how a screen request stands. It leaves waiting once and for all.
type screenState int

const (
	screenWaiting     screenState = iota
	screenFound                   // the page said so, in time
	screenNotFound                // the page said so, in time
	screenExpired                 // nobody said anything in time
	screenCancelled               // the call or the session ended first
	screenSuperseded              // a newer request of the session took the page
	screenUndelivered             // proved never to have reached a page
)

// screen is a session's screen tools. Everything in it is guarded by the session's mu.
type screen struct {
	epoch   uint64
	current *screenRequest // nil, or the newest, whatever its state
	recent  []*screenRequest
}

type screenRequest struct {
	id     string
	callID string
	state  screenState
	done   chan struct{} // closed when state leaves waiting
}

// settle moves a waiting request to its one final state, and reports whether it did.
func (*screen) settle(q *screenRequest, to screenState) bool {
	if q == nil || q.state != screenWaiting {
		return false
	}
	q.state = to
	close(q.done)
	return true
}

// verdict says what a settled request proves. This is the only place that can call a screen tool a success, and the
// only state that it does so for is one that the page's own report set (requirement S1-64).
func (st screenState) verdict() verdict {
	switch st {
	case screenFound:
		return verdict{status: StatusOK, result: json.RawMessage(`{"outcome":"found"}`)}
	case screenNotFound:
		return verdict{status: StatusNotFound}
	case screenUndelivered:
		return verdict{status: StatusFailed, saying: catalogue.SayNoPage}
	default:
		return verdict{status: StatusPending}
	}
}

// show asks the session's page to do what a screen tool says and waits for the page's own report.
func (s *Service) show(ctx context.Context, sess *session, e *catalogue.Entry, callID string, arguments json.RawMessage) verdict {
	if s.cfg.Screen == nil {
		return screenUndelivered.verdict()
	}
	timer := time.NewTimer(screenExpiry)
	defer timer.Stop()
	q, epoch := s.record.openRequest(sess, callID)
	if err := s.cfg.Screen.Screen(sess.id, ScreenRequest{
		RequestID: q.id, CallID: callID, Epoch: epoch, Tool: e.Name, Arguments: arguments, ExpiresIn: screenExpiry,
	}); errors.Is(err, ErrNoPage) {
		return sess.settle(q, screenUndelivered)
	} else if err != nil {
		// It may have left; only the page could say.
		return sess.settle(q, screenCancelled)
	}
	select {
	case <-q.done:
		return sess.settle(q, screenExpired) // settled already; this reads how
	case <-timer.C:
		return sess.settle(q, screenExpired)
	case <-ctx.Done():
		return sess.settle(q, screenCancelled)
	}
}

// settle settles q if nothing else has, and returns what its final state proves.
func (s *session) settle(q *screenRequest, to screenState) verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen.settle(q, to)
	return q.state.verdict()
}

// openRequest makes the session's newest screen request. An older one that still waits is superseded.
func (r *record) openRequest(s *session, callID string) (q *screenRequest, epoch uint64) {
	q = &screenRequest{id: newID("scr_"), callID: callID, done: make(chan struct{})}
	r.mu.Lock()
	r.requests[q.id] = s
	r.mu.Unlock()
	forgotten, epoch := s.openRequest(q)
	r.mu.Lock()
	delete(r.requests, forgotten)
	r.mu.Unlock()
	return q, epoch
}

func (s *session) openRequest(q *screenRequest) (forgotten string, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen.settle(s.screen.current, screenSuperseded)
	s.screen.epoch++
	s.screen.current = q
	if s.over {
		s.screen.settle(q, screenCancelled)
		return q.id, s.screen.epoch
	}
	s.screen.recent = append(s.screen.recent, q)
	if len(s.screen.recent) > screenMemory {
		forgotten = s.screen.recent[0].id
		s.screen.recent = s.screen.recent[1:]
	}
	return forgotten, s.screen.epoch
}

// credit gives a page's report to the request it names, if that request still waits. The same report again is no error.
func (s *session) credit(r OutcomeReport) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := screenFound
	if r.Outcome == ScreenNotFound {
		to = screenNotFound
	}
	for _, q := range s.screen.recent {
		if q.id != r.RequestID || q.callID != r.CallID {
			continue
		}
		if s.screen.settle(q, to) || q.state == to {
			return nil
		}
		if q.state == screenFound || q.state == screenNotFound {
			return ErrOutcomeChanged
		}
		return ErrOutcomeLate
	}
	return ErrNoRequest
}

// Outcome credits a page's report to the one screen request it answers. Errors: ErrOutcome, ErrNoRequest,
// ErrOutcomeLate, ErrOutcomeChanged. Whatever it answers, no recorded output changes.
func (s *Service) Outcome(_ context.Context, p Person, r OutcomeReport) error {
	switch {
	case p.ID == "":
		return ErrPerson
	case r.Outcome != ScreenFound && r.Outcome != ScreenNotFound:
		return ErrOutcome
	}
	s.record.mu.Lock()
	sess := s.record.requests[r.RequestID]
	s.record.mu.Unlock()
	if sess == nil || sess.person != p.ID || (r.Session != "" && r.Session != sess.id) {
		return ErrNoRequest
	}
	return sess.credit(r)
}
