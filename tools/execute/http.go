package execute

import (
	"context"
	"net/http"

	"hovor/tools"
)

// Config is what the HTTP executor is built from.
type Config struct {
	Services  map[string]string // service name in the catalogue to base URL, as in "http://127.0.0.1:8081"
	MaxBody   int64             // bytes of an answer that are read; default 1 MiB
	Transport http.RoundTripper // nil = an own transport without proxies
}

// HTTP runs catalogue entries as HTTP requests. It implements tools.Executor.
type HTTP struct{}

// NewHTTP checks the base URLs and returns an executor. Errors wrap ErrService.
func NewHTTP(cfg Config) (*HTTP, error) { return &HTTP{}, nil }

// Execute sends the call and reads the answer.
func (h *HTTP) Execute(ctx context.Context, r tools.Request) tools.Outcome { return tools.Outcome{} }
