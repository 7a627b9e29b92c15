package local

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/brain/dialogue"
	"hovor/gateway/provider/local/command"
	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/ear/sphinx"
	"hovor/gateway/provider/local/language"
	"hovor/gateway/provider/local/voice/espeak"
	"hovor/signaling"
	"hovor/signaling/secrets"
	"hovor/vad"
)

// Server is the embedded provider. Make one with New, mount Handler, and Run it.
type Server struct {
	cfg     Config
	log     *slog.Logger
	ear     ear.Ear
	brain   brain.Brain
	studio  *studio
	secrets *secrets.Store[claims]
	starts  chan *session // sessions that Open hands to Run
	owned   func() error  // closes what New made

	stopping chan struct{} // closed when Run takes no more sessions

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
	opening  int
	draining bool
}

// New checks the configuration and finds the voice and the ear; it starts no goroutine. A missing library or model is an
// error that names the Debian package: espeak.ErrMissing, sphinx.ErrMissing.
func New(cfg Config) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Logger, ear: cfg.Ear, brain: cfg.Brain,
		secrets: secrets.New[claims](0), starts: make(chan *session), sessions: map[string]*session{},
		stopping: make(chan struct{}),
		owned:    func() error { return nil },
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	vocabulary := cfg.vocabulary()
	if s.brain == nil {
		s.brain = dialogue.New(vocabulary, dialogue.Place{Room: cfg.Room, Project: cfg.Project})
	}
	v := cfg.Voice
	if v == nil {
		spoken, err := espeak.New()
		if err != nil {
			return nil, fmt.Errorf("embedded provider: %w", err)
		}
		v = spoken
	}
	s.studio = newStudio(v)
	if s.ear == nil {
		heard, err := sphinx.New(sphinx.Config{Vocabulary: vocabulary})
		if err != nil {
			return nil, fmt.Errorf("embedded provider: %w", err)
		}
		if names := heard.Skipped(); len(names) > 0 {
			s.log.Warn("some names cannot be spoken: the recognizer's dictionary lacks a word of theirs", "count", len(names), "names", names)
		}
		s.ear, s.owned = heard, heard.Close
	}
	return s, nil
}

// vocabulary is the configuration's names as the command grammar needs them.
func (c *Config) vocabulary() command.Vocabulary {
	named := func(list []Named) []command.Named {
		out := make([]command.Named, len(list))
		for i, n := range list {
			out[i] = command.Named{ID: n.ID, Title: n.Title, Written: n.Written, English: n.Language == "" || n.Language == language.English}
		}
		return out
	}
	v := command.Vocabulary{Documents: named(c.Documents), Processes: named(c.Processes), Topics: c.Topics, Phrases: c.Phrases, Messages: c.Messages}
	if len(v.Topics) == 0 {
		for _, d := range v.Documents {
			if d.English {
				v.Topics = append(v.Topics, d.Title)
			}
		}
	}
	if len(v.Messages) == 0 {
		v.Messages = defaultMessages
	}
	return v
}

// Handler serves /v1/realtime and everything under it: client secrets, calls, WebSockets, and the beta form of each. Sessions
// are opened only while Run runs.
func (s *Server) Handler() http.Handler {
	h := signaling.NewHandler(s, signaling.HandlerConfig{AllowedOrigins: s.cfg.AllowedOrigins, Logger: s.log})
	if _, ok := s.brain.(brain.Saboteur); ok {
		return breakable(h)
	}
	return h
}

// Run blocks until ctx ends, then ends every session and returns when the last one is gone. It owns all their goroutines.
func (s *Server) Run(ctx context.Context) error {
	var running sync.WaitGroup
	for {
		select {
		case x := <-s.starts:
			running.Go(func() {
				defer s.forget(x)
				x.run(ctx)
			})
			continue
		case <-ctx.Done():
		}
		break
	}
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	close(s.stopping)
	running.Wait()
	return s.owned()
}

// Sessions is the number of live sessions.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

func (s *Server) detector() vad.Detector {
	if s.cfg.Detector != nil {
		return s.cfg.Detector()
	}
	return newEnergy()
}

// reserve makes room for one more session. The caller calls release, or keep.
func (s *Server) reserve() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.cfg.MaxSessions
	if limit == 0 {
		limit = defaultMaxSessions
	}
	switch {
	case s.draining:
		return ErrDraining
	case len(s.sessions)+s.opening >= limit:
		return ErrFull
	}
	s.opening++
	return nil
}

func (s *Server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opening--
}

func (s *Server) remember(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[x.id] = x
}

func (s *Server) forget(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x.id)
}
