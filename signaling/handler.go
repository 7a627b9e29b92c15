package signaling

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"hovor/signaling/realtime"
)

// HandlerConfig shapes the door. The zero value admits same-origin pages and clients that are no browsers.
type HandlerConfig struct {
	AllowedOrigins []string     // "https://app.example.org"; "*" = any
	MaxBody        int64        // bytes of a request body; 0 = DefaultMaxBody
	ICE            ICEServers   // announced with an answer and to OPTIONS
	Socket         SocketConfig // limits of the WebSocket front
	Logger         *slog.Logger // nil = discard
}

// DefaultMaxBody is room for an SDP offer with many candidates and a session with many tools.
const DefaultMaxBody = 1 << 20

// root is the WebSocket and the beta form's calls; base is where all other endpoints live.
const (
	root = "/v1/realtime"
	base = root + "/"
)

type handler struct {
	service Service
	origins origins
	maxBody int64
	ice     ICEServers
	socket  SocketConfig
	log     *slog.Logger
}

// NewHandler serves /v1/realtime and what is under it on top of s: mount it on both "/v1/realtime" and "/v1/realtime/".
// What else s is, a Patcher, a SocketService, an Authenticator, is found out here.
func NewHandler(s Service, cfg HandlerConfig) http.Handler {
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = DefaultMaxBody
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &handler{
		service: s, origins: newOrigins(cfg.AllowedOrigins), maxBody: cfg.MaxBody,
		ice: cfg.ICE, socket: cfg.Socket, log: cfg.Logger,
	}
}

// endpoint is one method of one path.
type endpoint func(h *handler, w *reply, r *http.Request, c Caller, callID string)

// routes lists the methods of each path, "{id}" standing for a call id. GET on the root is the WebSocket, which knows its
// caller in another way and is not here.
var routes = map[string]map[string]endpoint{
	"":                       {http.MethodPost: (*handler).openBeta},
	"client_secrets":         {http.MethodPost: (*handler).mint},
	"sessions":               {http.MethodPost: (*handler).mintBeta},
	"transcription_sessions": {http.MethodPost: (*handler).mintBetaTranscription},
	"calls":                  {http.MethodPost: (*handler).open},
	"calls/{id}":             {http.MethodGet: (*handler).state, http.MethodDelete: (*handler).hangup},
	"calls/{id}/hangup":      {http.MethodPost: (*handler).hangup},
	"calls/{id}/accept":      {http.MethodPost: (*handler).sip},
	"calls/{id}/reject":      {http.MethodPost: (*handler).sip},
	"calls/{id}/refer":       {http.MethodPost: (*handler).sip},
}

// patchable is "calls/{id}" of a Service that is a Patcher.
var patchable = map[string]endpoint{
	http.MethodGet: (*handler).state, http.MethodDelete: (*handler).hangup, http.MethodPatch: (*handler).patch,
}

// route finds the path's methods and the call id in it.
func (h *handler) route(path string) (methods map[string]endpoint, callID string) {
	rest, ok := strings.CutPrefix(path, base)
	if !ok && path != root {
		return nil, ""
	}
	if tail, ok := strings.CutPrefix(rest, "calls/"); ok {
		id, verb, more := strings.Cut(tail, "/")
		if rest = "calls/{id}"; more {
			rest += "/" + verb
		}
		if id == "" {
			return nil, ""
		}
		if _, ok := h.service.(Patcher); ok && !more {
			return patchable, id
		}
		return routes[rest], id
	}
	if !ok {
		rest = ""
	}
	return routes[rest], ""
}

// pattern is a path as the log may hold it: without what the client put into it, because people paste tokens into addresses.
func (h *handler) pattern(path string) string {
	methods, callID := h.route(path)
	switch {
	case methods == nil && !isRoot(path):
		return "(none)"
	case callID != "":
		return base + "calls/{id}" + strings.TrimPrefix(path, base+"calls/"+callID)
	}
	return path
}

// isRoot tells the path of the WebSocket.
func isRoot(path string) bool { return path == root || path == base }

// ServeHTTP answers in JSON whatever happens, never in HTML.
func (h *handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := &reply{ResponseWriter: rw, started: time.Now()}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	defer h.logRequest(w, r)

	methods, callID := h.route(r.URL.Path)
	if !h.origins.admit(w.Header(), r) {
		h.log.Warn("origin refused", "origin", clipHeader(r.Header.Get("Origin")), "fix", "add it to the allowed origins")
		w.fail(errOrigin)
		return
	}
	switch {
	case methods == nil:
		w.fail(errNoEndpoint)
	case r.Method == http.MethodOptions:
		h.options(w, r, methods)
	case isRoot(r.URL.Path) && r.Method == http.MethodGet:
		h.serveSocket(w, r)
	case methods[r.Method] == nil:
		w.Header().Set("Allow", allow(r, methods))
		w.fail(errMethod)
	case callID != "" && !plausibleID(callID):
		w.fail(ErrCallNotFound)
	default:
		caller, err := callerOf(r)
		if err != nil {
			w.fail(err)
			return
		}
		r.Body = http.MaxBytesReader(rw, r.Body, h.maxBody)
		methods[r.Method](h, w, r, caller, callID)
	}
}

func (h *handler) logRequest(w *reply, r *http.Request) {
	level := slog.LevelDebug
	if w.status >= 500 {
		level = slog.LevelError
	} else if w.status >= 400 {
		level = slog.LevelInfo
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", h.pattern(r.URL.Path)), slog.Int("status", w.status),
		slog.Duration("took", time.Since(w.started)),
	}
	if w.code != "" {
		attrs = append(attrs, slog.String("code", w.code))
	}
	if w.cause != nil {
		attrs = append(attrs, slog.String("cause", w.cause.Error()))
	}
	h.log.LogAttrs(r.Context(), level, "signaling request", attrs...)
}

// mintBody bounds the request for a secret, because its session is held for as long as the secret is.
const mintBody = 128 << 10

func (h *handler) mint(w *reply, r *http.Request, c Caller, _ string) {
	var req realtime.ClientSecretRequest
	r.Body = http.MaxBytesReader(w, r.Body, mintBody)
	body, err := readBody(r)
	if err != nil {
		w.fail(err)
		return
	}
	if len(body) > 0 { // the body is optional
		if err := wantType(r, jsonType); err != nil {
			w.fail(err)
			return
		}
		if err := realtime.DecodeBody(body, &req); err != nil {
			w.fail(err)
			return
		}
	}
	secret, err := h.service.Mint(r.Context(), c, req)
	if err != nil {
		w.fail(err)
		return
	}
	w.json(http.StatusOK, secret)
}

func (h *handler) open(w *reply, r *http.Request, c Caller, _ string) {
	h.answer(w, r, c, dialectOf(r))
}

// answer opens a call and writes the answer to its offer.
func (h *handler) answer(w *reply, r *http.Request, c Caller, d realtime.Dialect) {
	offer, err := readOffer(r, d)
	if err != nil {
		w.fail(err)
		return
	}
	answer, err := h.service.Open(r.Context(), c, offer)
	if err != nil {
		w.fail(inDialect(err, offer.Dialect))
		return
	}
	// Relative, without query and trailing slash: clients take the last segment for the call id.
	w.Header().Set("Location", base+"calls/"+answer.CallID)
	w.Header().Set("Content-Type", sdpType)
	setETag(w.Header(), answer.ETag)
	h.announceICE(w.Header(), answer.CallID, true)
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(answer.SDP))
}

func (h *handler) hangup(w *reply, r *http.Request, c Caller, callID string) {
	if err := h.service.Hangup(r.Context(), c, callID); err != nil {
		w.fail(err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (h *handler) state(w *reply, r *http.Request, c Caller, callID string) {
	state, err := h.service.State(r.Context(), c, callID)
	if err != nil {
		w.fail(err)
		return
	}
	state.Object = "realtime.call"
	w.json(http.StatusOK, state)
}

// reply remembers what was answered, for the log line.
type reply struct {
	http.ResponseWriter
	started time.Time
	status  int
	code    string
	cause   error // of a 5xx; never shown to the client
}

// WriteHeader notes the status.
func (w *reply) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *reply) json(status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		w.fail(err)
		return
	}
	w.raw(status, body)
}

// raw writes a body that is JSON already.
func (w *reply) raw(status int, body []byte) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
