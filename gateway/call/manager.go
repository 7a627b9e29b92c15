package call

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"hovor/signaling/realtime"
)

// ManagerConfig bounds a node's calls.
type ManagerConfig struct {
	Limit  int // live calls at most; 0 = 1000
	Logger *slog.Logger
}

// retryAfter is what a refused caller is told to wait, in seconds: long enough for a drained node to be taken out of the way.
const retryAfter = 5

// drainGrace is how long a call that was ended may take to say goodbye.
const drainGrace = 5 * time.Second

// Manager is the registry of a node's live calls. It is safe for concurrent use.
type Manager struct {
	limit int
	log   *slog.Logger
	life  context.Context // of the calls; ended by Run, or by Drain's deadline
	end   context.CancelFunc

	mu       sync.Mutex // guards what follows
	calls    map[string]Live
	opening  int // between the check of the limit and registration
	draining bool
	empty    chan struct{} // closed when draining and the last call is gone; nil while not draining
}

// NewManager makes an empty registry; it starts nothing.
func NewManager(cfg ManagerConfig) *Manager {
	if cfg.Limit == 0 {
		cfg.Limit = 1000
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Manager{limit: cfg.Limit, log: cfg.Logger, calls: make(map[string]Live)}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// Run lets calls live until ctx ends; then it ends those that are left (drain_deadline) and waits for them.
func (m *Manager) Run(ctx context.Context) error {
	<-ctx.Done()
	m.drain()
	m.end()
	m.wait(drainGrace)
	return nil
}

// Start makes, answers and runs a call. It returns the answer; the call lives on in the manager, and ctx bounds the
// negotiation only. Errors: a *realtime.Error with status 503 that wraps ErrFull or ErrDraining, and those of Call.Answer.
func (m *Manager) Start(ctx context.Context, o Options, offer string) (*Call, string, error) {
	c, sdp := New(o), ""
	_, err := m.Open(func() (_ Live, err error) {
		sdp, err = c.Answer(ctx, offer)
		return c, err
	})
	if err != nil {
		return nil, "", err
	}
	return c, sdp, nil
}

// Open takes a place, makes a call and keeps it until it ends. Errors: as for Start, and those of making it.
func (m *Manager) Open(open func() (Live, error)) (Live, error) {
	if err := m.admit(); err != nil {
		return nil, err
	}
	c, err := open()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opening--
	if err != nil {
		m.settled()
		return nil, err
	}
	m.calls[c.ID()] = c
	if m.draining {
		c.Hangup(Drain)
	}
	go m.keep(c) // waited for by Run and Drain, through the registry
	return c, nil
}

// admit takes a place for a new call.
func (m *Manager) admit() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.draining:
		return refusal{ErrDraining}
	case len(m.calls)+m.opening >= m.limit:
		return refusal{ErrFull}
	}
	m.opening++
	return nil
}

// keep runs a call and takes it out of the registry.
func (m *Manager) keep(c Live) {
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.calls, c.ID())
		m.settled()
	}()
	_ = c.Run(m.life) // it reports by its reason
}

// settled wakes those who wait for the last call. The caller holds mu.
func (m *Manager) settled() {
	if m.draining && len(m.calls)+m.opening == 0 && m.empty != nil {
		close(m.empty)
		m.empty = nil
	}
}

// refusal is an error of the Realtime form that still is the sentinel it stands for.
type refusal struct{ error }

// As gives the Realtime form.
func (r refusal) As(target any) bool {
	e, ok := target.(**realtime.Error)
	if ok {
		code := realtime.CodeTooManyCalls
		if r.error == ErrDraining {
			code = realtime.CodeUnavailable
		}
		*e = &realtime.Error{Status: http.StatusServiceUnavailable, RetryAfter: retryAfter, Type: realtime.TypeServer, Code: code, Message: r.Error()}
	}
	return ok
}

// Unwrap gives the sentinel.
func (r refusal) Unwrap() error { return r.error }

// Get finds a live call. ErrNotFound when there is none, or it is not this person's; person "" finds anybody's.
func (m *Manager) Get(person, id string) (Live, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.calls[id]
	if c == nil || person != "" && c.Person().ID != person {
		return nil, ErrNotFound
	}
	return c, nil
}

// Of lists a person's live calls, the oldest first.
func (m *Manager) Of(person string) []Live {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Live
	for _, c := range m.calls {
		if c.Person().ID == person {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Live) int { return a.Began().Compare(b.Began()) })
	return out
}

// Len is how many calls are live.
func (m *Manager) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.calls)
}

// Draining reports whether the manager takes no more calls.
func (m *Manager) Draining() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.draining
}

// Drain takes no new calls, ends those that have not begun, waits for the others until ctx ends, then ends the rest with
// drain_deadline and waits for them, at most 5 s more. It reports how many had to be ended. It does not stop the engine.
func (m *Manager) Drain(ctx context.Context) (cut int) {
	select {
	case <-m.drain():
		return 0
	case <-ctx.Done():
	}
	cut = m.Len()
	m.end()
	m.wait(drainGrace)
	return cut
}

// drain begins to drain and gives a channel that is closed when no call is left.
func (m *Manager) drain() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.draining = true
	if m.empty == nil {
		m.empty = make(chan struct{})
	}
	empty := m.empty
	for _, c := range m.calls {
		if !c.State().Channel {
			c.Hangup(Drain)
		}
	}
	m.settled()
	return empty
}

// wait gives calls that were ended the time to say goodbye.
func (m *Manager) wait(grace time.Duration) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-m.drain():
	case <-timer.C:
		m.log.Warn("calls did not end in time", "left", m.Len())
	}
}
