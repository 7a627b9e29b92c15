package signaling

import (
	"log/slog"
	"net/http"
)

// HandlerConfig shapes the door. The zero value admits same-origin pages and clients that are no browsers.
type HandlerConfig struct {
	AllowedOrigins []string     // "https://app.example.org"; "*" = any
	MaxBody        int64        // bytes of a request body; 0 = DefaultMaxBody
	Logger         *slog.Logger // nil = discard
}

// DefaultMaxBody is room for an SDP offer with many candidates and a session with many tools.
const DefaultMaxBody = 1 << 20

// NewHandler serves the Realtime HTTP endpoints under /v1/realtime/ on top of s.
func NewHandler(s Service, cfg HandlerConfig) http.Handler { return http.NotFoundHandler() }
