package tools

import (
	"log/slog"
	"net/http"
)

// HandlerConfig is what the HTTP face of a Service needs beside it.
type HandlerConfig struct {
	Profile string       // the profile that GET /v1/tools shows; default "voice"
	MaxBody int64        // bytes of a request body; default 512 KiB
	Logger  *slog.Logger // nil = silent
}

// NewHandler serves GET /v1/tools, POST /v1/tools/calls and POST /v1/tools/calls/{call_id}/outcome. authenticate returns
// the person whose credentials came with the request; any error of it is answered 401 and its text is not shown.
func NewHandler(s *Service, authenticate func(*http.Request) (Person, error), cfg HandlerConfig) http.Handler {
	return http.NotFoundHandler()
}
