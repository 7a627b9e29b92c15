package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger writes one JSON object a line at the given level. What people say, arguments and credentials are types
// whose LogValue is a length, so a careless line stays clean.
func NewLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}
