package tools

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"hovor/tools/effect"
	"hovor/tools/internal/strictjson"
)

// HandlerConfig is what the HTTP face of a Service needs beside it.
type HandlerConfig struct {
	Profile string       // the profile that GET /v1/tools shows; default "voice"
	MaxBody int64        // bytes of a request body; default 512 KiB, which holds 64 KiB of arguments however escaped
	Logger  *slog.Logger // nil = silent
}

// NewHandler serves GET /v1/tools, POST /v1/tools/calls and POST /v1/tools/calls/{call_id}/outcome. authenticate returns
// the person whose credentials came with the request; any error of it is answered 401 and its text is not shown.
//
// A call that was decided is answered 200 whatever was decided: its status says it. Other answers mean that nothing was
// recorded, and have the Realtime error form.
func NewHandler(s *Service, authenticate func(*http.Request) (Person, error), cfg HandlerConfig) http.Handler {
	if cfg.Profile == "" {
		cfg.Profile = "voice"
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = 512 << 10
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	h := &handler{service: s, authenticate: authenticate, cfg: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/tools", h.as(http.MethodGet, h.list))
	mux.HandleFunc("/v1/tools/calls", h.as(http.MethodPost, h.call))
	mux.HandleFunc("/v1/tools/calls/{call_id}/outcome", h.as(http.MethodPost, h.outcome))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusNotFound, problem{"invalid_request_error", "not_found", "There is nothing at this address.", ""})
	})
	return mux
}

type handler struct {
	service      *Service
	authenticate func(*http.Request) (Person, error)
	cfg          HandlerConfig
}

// problem is the inside of a Realtime error.
type problem struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param,omitempty"`
}

// as admits one method and signed-in people only.
func (h *handler) as(method string, next func(http.ResponseWriter, *http.Request, Person)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != method {
			w.Header().Set("Allow", method)
			write(w, http.StatusMethodNotAllowed, problem{"invalid_request_error", "method_not_allowed", "Use " + method + " here.", ""})
			return
		}
		p, err := h.authenticate(r)
		if err != nil || p.ID == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			write(w, http.StatusUnauthorized, problem{"authentication_error", "not_signed_in",
				"Sign in: this needs the speaking person's own credentials in the Authorization header.", ""})
			return
		}
		next(w, r, p)
	}
}

type effectOf struct {
	Class   effect.Class   `json:"class"`
	Ceiling effect.Ceiling `json:"ceiling"`
}

// list answers with the definitions exactly as they go into a Realtime session, and beside them what a model is not
// told. The token count is an estimate and says so: one token for four bytes of the definitions.
func (h *handler) list(w http.ResponseWriter, _ *http.Request, p Person) {
	definitions := h.service.Definitions(p, h.cfg.Profile)
	if definitions == nil {
		definitions = []Definition{}
	}
	effects := map[string]effectOf{}
	for _, d := range definitions {
		if e, ok := h.service.cfg.Catalogue.Lookup(d.Name); ok {
			effects[d.Name] = effectOf{e.Class, e.Ceiling}
		}
	}
	text, err := json.Marshal(definitions)
	if err != nil {
		h.internal(w, "tool list", err)
		return
	}
	write(w, http.StatusOK, map[string]any{
		"object": "list", "profile": h.cfg.Profile, "tools": json.RawMessage(text), "effects": effects,
		"tokens": map[string]any{"count": (len(text) + 3) / 4, "estimated": true},
	})
}

func (h *handler) call(w http.ResponseWriter, r *http.Request, p Person) {
	var body struct {
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Session   string          `json:"session"`
	}
	if !h.read(w, r, &body, map[string]bool{"call_id": true, "name": true, "arguments": false, "session": false}) {
		return
	}
	result, err := h.service.Do(r.Context(), p, Call{CallID: body.CallID, Name: body.Name, Arguments: body.Arguments, Session: body.Session})
	if err != nil {
		h.refuse(w, err)
		return
	}
	write(w, http.StatusOK, map[string]any{
		"call_id": result.CallID, "status": result.Status, "output": result.Output, "receipt": result.Receipt,
	})
}

func (h *handler) outcome(w http.ResponseWriter, r *http.Request, p Person) {
	var body struct {
		RequestID string `json:"request_id"`
		Outcome   string `json:"outcome"`
		Session   string `json:"session"`
	}
	if !h.read(w, r, &body, map[string]bool{"request_id": true, "outcome": true, "session": false}) {
		return
	}
	report := OutcomeReport{CallID: r.PathValue("call_id"), RequestID: body.RequestID, Session: body.Session, Outcome: ScreenOutcome(body.Outcome)}
	if err := h.service.Outcome(r.Context(), p, report); err != nil {
		h.refuse(w, err)
		return
	}
	write(w, http.StatusOK, map[string]any{"call_id": report.CallID, "request_id": report.RequestID, "outcome": report.Outcome})
}

// read takes a bounded body that is one JSON object with exactly the keys of known; true marks those that must be there.
// Arguments inside it are only held to the envelope here: what is wrong with them is a matter of the call's result.
func (h *handler) read(w http.ResponseWriter, r *http.Request, into any, known map[string]bool) bool {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.cfg.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		write(w, http.StatusRequestEntityTooLarge, problem{"invalid_request_error", "body_too_large",
			"The body is longer than " + strconv.FormatInt(h.cfg.MaxBody, 10) + " bytes.", ""})
		return false
	case err != nil:
		write(w, http.StatusBadRequest, problem{"invalid_request_error", "body_unreadable", "The body could not be read.", ""})
		return false
	}
	members, err := strictjson.Members(text)
	if err != nil {
		write(w, http.StatusBadRequest, problem{"invalid_request_error", "invalid_json", "The body must be one JSON object without duplicate keys.", ""})
		return false
	}
	for key := range members {
		if _, ok := known[key]; !ok {
			write(w, http.StatusBadRequest, problem{"invalid_request_error", "unknown_parameter",
				"The body has a key that is not known here; it takes: " + names(known) + ".", ""})
			return false
		}
	}
	for key, required := range known {
		if _, ok := members[key]; required && !ok {
			write(w, http.StatusBadRequest, problem{"invalid_request_error", "missing_parameter", "The body lacks " + key + ".", key})
			return false
		}
	}
	if err := json.Unmarshal(text, into); err != nil {
		param := ""
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			param = kind.Field
		}
		write(w, http.StatusBadRequest, problem{"invalid_request_error", "invalid_parameter", "A value in the body is not of the right type.", param})
		return false
	}
	return true
}

// refuse answers an error of the service. Only its own sentinels are put into words.
func (h *handler) refuse(w http.ResponseWriter, err error) {
	for _, c := range []struct {
		err    error
		status int
		p      problem
	}{
		{ErrPerson, 401, problem{"authentication_error", "not_signed_in", "Sign in first.", ""}},
		{ErrCallID, 400, problem{"invalid_request_error", "invalid_call_id", "call_id must be 1 to 32 characters of A-Z a-z 0-9 . _ : -", "call_id"}},
		{ErrSessionEnded, 410, problem{"invalid_request_error", "session_ended", "This session has ended. Start a new call.", "session"}},
		{ErrSession, 404, problem{"invalid_request_error", "session_not_found", "You have no live session of that id.", "session"}},
		{ErrOutcome, 400, problem{"invalid_request_error", "invalid_outcome", "outcome must be found or not_found.", "outcome"}},
		{ErrNoRequest, 404, problem{"invalid_request_error", "request_not_found", "No screen request of that id was made to you for this call.", "request_id"}},
		{ErrOutcomeLate, 409, problem{"invalid_request_error", "outcome_too_late",
			"The request was over before this outcome came. It was not counted, for this request or any other.", "request_id"}},
		{ErrOutcomeChanged, 409, problem{"invalid_request_error", "outcome_already_counted",
			"Another outcome was already counted for this request. It stays.", "outcome"}},
	} {
		if errors.Is(err, c.err) {
			write(w, c.status, c.p)
			return
		}
	}
	h.internal(w, "tool call", err)
}

// internal logs that something of ours went wrong. The error's type is all that is known to be free of content.
func (h *handler) internal(w http.ResponseWriter, what string, err error) {
	h.cfg.Logger.Warn(what+" not answered", "error", errorKind(err))
	write(w, http.StatusInternalServerError, problem{"server_error", "internal", "This could not be answered. Nothing was recorded; try again.", ""})
}

func write(w http.ResponseWriter, status int, body any) {
	if p, ok := body.(problem); ok {
		body = map[string]problem{"error": p}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(body) // the client is gone; there is nobody to tell
}

func names(known map[string]bool) string {
	var all []string
	for _, key := range []string{"call_id", "name", "arguments", "session", "request_id", "outcome"} {
		if _, ok := known[key]; ok {
			all = append(all, key)
		}
	}
	return strings.Join(all, ", ")
}
