package tools

import (
	"context"
	"log/slog"

	"hovor/tools/catalogue"
)

// Config is what a Service is built from.
type Config struct {
	Catalogue *catalogue.Catalogue // required
	HTTP      Executor             // required when the catalogue has HTTP tools
	Screen    ScreenPort           // nil = no page is ever connected
	Sessions  SessionPort          // nil = one scope per person, "person:" and the person's id
	Observer  Observer             // nil = nobody counts
	Logger    *slog.Logger         // nil = silent; no argument, result or credential is ever logged
	Limits    Limits               // zero fields take the defaults
}

// Limits bound what the record keeps and what a call may bring.
type Limits struct {
	ArgumentBytes int // of one call's arguments; default 64 KiB
	ArgumentDepth int // of their nesting; default 16
	SessionCalls  int // outputs kept per session; default 256
	SessionBytes  int // bytes of outputs kept per session; default 4 MiB
	SessionIDs    int // call ids remembered per session after their output was let go; default 4096
	Sessions      int // sessions kept; default 10 000
}

// Service decides about calls, runs those that may run, and keeps the record of every one. It is safe for concurrent
// use and owns no goroutine.
type Service struct{ cfg Config }

// New checks the configuration and returns a Service. It starts nothing. Errors wrap ErrConfig.
func New(cfg Config) (*Service, error) { return &Service{cfg: cfg}, nil }

// Do decides about a call, runs it if it may run, and records the result. A repeated call of the same id with the same
// name and arguments returns the recorded result and runs nothing; with others it is answered invalid and runs nothing.
// An error means that nothing was recorded.
func (s *Service) Do(ctx context.Context, p Person, c Call) (*Result, error) { return nil, ErrSession }

// RecordedOutput returns the exact output that was recorded for a call, once the call is over.
func (s *Service) RecordedOutput(session, callID string) (output string, ok bool) { return "", false }

// Outcome credits a page's report to the one screen request it answers.
func (s *Service) Outcome(ctx context.Context, p Person, r OutcomeReport) error { return ErrNoRequest }

// Definitions returns the tools that a person's assistant is offered under a profile; nil for an unknown profile.
func (s *Service) Definitions(p Person, profile string) []Definition { return nil }

// EndSession forgets a session: its outputs, its call ids and its open screen requests, which become pending.
func (s *Service) EndSession(session string) {}
