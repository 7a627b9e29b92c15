package gateway

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"hovor/gateway/telemetry"
)

// readiness is what /readyz says. It depends on this node alone: a provider that is down does not make a node unready,
// or one bad hour upstream would take every node out at once.
type readiness struct{ why atomic.Pointer[string] }

func (r *readiness) set(why string) { r.why.Store(&why) }

func adminHandler(m *telemetry.Metrics, ready *readiness) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "/metrics\n/healthz\n/readyz")
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := *ready.why.Load(); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}
