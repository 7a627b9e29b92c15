package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"hovor/tools/catalogue"
	"hovor/tools/effect"
	"hovor/tools/internal/strictjson"
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
	SessionBytes  int // bytes of outputs kept per session, beside the newest; default 4 MiB
	SessionIDs    int // call ids remembered per session after their output was let go; default 4096
	Sessions      int // sessions kept; the oldest idle one makes room; default 10 000
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&l.ArgumentBytes, 64 << 10}, {&l.ArgumentDepth, 16}, {&l.SessionCalls, 256}, {&l.SessionBytes, 4 << 20},
		{&l.SessionIDs, 4096}, {&l.Sessions, 10_000},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return l
}

// Service decides about calls, runs those that may run, and keeps the record of every one. It is safe for concurrent
// use and owns no goroutine.
type Service struct {
	cfg    Config
	record *record
}

// New checks the configuration and returns a Service. It starts nothing. Errors wrap ErrConfig.
func New(cfg Config) (*Service, error) {
	if cfg.Catalogue == nil {
		return nil, fmt.Errorf("%w: no catalogue", ErrConfig)
	}
	if cfg.HTTP == nil {
		for _, e := range cfg.Catalogue.Entries() {
			if e.HTTP != nil {
				return nil, fmt.Errorf("%w: tool %s needs an HTTP executor", ErrConfig, e.Name)
			}
		}
	}
	if cfg.Sessions == nil {
		cfg.Sessions = personScope{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Limits = cfg.Limits.withDefaults()
	return &Service{cfg: cfg, record: newRecord(cfg.Limits)}, nil
}

// personScope gives each person one scope that never ends.
type personScope struct{}

func (personScope) Session(p Person, asked string) (id, language string, err error) {
	if own := "person:" + p.ID; asked == "" || asked == own {
		return own, p.Language, nil
	}
	return "", "", ErrSession
}

// Do decides about a call, runs it if it may run, and records the result. A repeated call of the same id with the same
// name and arguments returns the recorded result and runs nothing; with others it is answered invalid and runs nothing.
//
// A read goes on to its end even if ctx is cancelled, because its record must not depend on who was waiting; a screen
// tool ends as pending. An error means that nothing was recorded: ErrPerson, ErrCallID, ErrSession, ErrSessionEnded, or
// ctx's own while waiting for the first of several equal calls.
func (s *Service) Do(ctx context.Context, p Person, c Call) (*Result, error) {
	switch {
	case p.ID == "":
		return nil, ErrPerson
	case !validCallID(c.CallID):
		return nil, ErrCallID
	}
	id, language, err := s.cfg.Sessions.Session(p, c.Session)
	if err != nil {
		return nil, err
	}
	sess, err := s.record.session(id, p.ID)
	if err != nil {
		return nil, err
	}
	w := &work{call: c, session: sess, credential: p.Credential, language: first(c.Language, language, p.Language), start: time.Now()}
	w.entry, _ = s.cfg.Catalogue.Lookup(c.Name)
	w.read(s.cfg.Limits)
	k, fresh, err := sess.begin(c.CallID, w.what, s.cfg.Limits)
	switch {
	case err != nil:
		return nil, err
	case !fresh && k.what != w.what:
		return s.result(w, verdict{status: StatusInvalid, saying: catalogue.SayReusedID}), nil
	case !fresh:
		return s.again(ctx, w, k)
	}
	return s.run(ctx, w, k), nil
}

// RecordedOutput returns the exact output that was recorded for a call, once the call is over.
func (s *Service) RecordedOutput(session, callID string) (output string, ok bool) {
	sess, ok := s.record.find(session)
	if !ok {
		return "", false
	}
	return sess.recorded(callID)
}

// EndSession forgets a session for good: its outputs, its call ids and its open screen requests, which become pending.
// No call is ever recorded under that id again.
func (s *Service) EndSession(session string) { s.record.end(session) }

// Definitions returns the tools that a person's assistant is offered under a profile, in the profile's order; nil for a
// profile that the catalogue does not have.
func (s *Service) Definitions(_ Person, profile string) []Definition {
	entries, ok := s.cfg.Catalogue.Profile(profile)
	if !ok {
		return nil
	}
	out := make([]Definition, 0, len(entries))
	for _, e := range entries {
		out = append(out, Definition{Type: "function", Name: e.Name, Description: e.Description, Parameters: e.Parameters, Class: e.Class})
	}
	return out
}

// work is one call on its way through the service.
type work struct {
	call       Call
	session    *session
	entry      *catalogue.Entry // nil for an unknown name
	credential Credential
	language   string
	start      time.Time

	text     []byte // the arguments, unwrapped
	value    any
	key      string
	parseErr error
	what     [sha256.Size]byte
}

// read unwraps and parses the arguments once, and takes the call's fingerprint: over the canonical form when there is
// one, so that a client that writes the same arguments in another order repeats the call and does not change it.
func (w *work) read(l Limits) {
	w.text = unwrap(w.call.Arguments)
	form := w.text
	if len(w.text) <= l.ArgumentBytes {
		if w.value, w.key, w.parseErr = strictjson.Parse(w.text, l.ArgumentDepth); w.parseErr == nil {
			if canonical, err := strictjson.Canonical(w.value); err == nil {
				form = canonical
			}
		}
	}
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, uint64(len(w.call.Name)))
	h.Write([]byte(w.call.Name))
	h.Write(form)
	h.Sum(w.what[:0])
}

// unwrap returns the JSON text of the arguments. Realtime events carry it as a string, SDKs as the parsed object.
func unwrap(raw json.RawMessage) []byte {
	text := bytes.TrimSpace(raw)
	if len(text) > 0 && text[0] == '"' {
		// A string that is broken stays as it is, and is then refused for what it is.
		if inner, _, err := strictjson.Parse(text, 0); err == nil {
			text = bytes.TrimSpace([]byte(inner.(string)))
		}
	}
	if len(text) == 0 {
		return []byte("{}")
	}
	return text
}

// again answers a repeated call with what the first one gets.
func (s *Service) again(ctx context.Context, w *work, k *kept) (*Result, error) {
	select {
	case <-k.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	result, gone := w.session.look(k)
	if gone {
		return s.result(w, verdict{status: StatusFailed, saying: catalogue.SayForgotten}), nil
	}
	return result, nil
}

// run carries out a fresh call and records it, whatever happens on the way.
func (s *Service) run(ctx context.Context, w *work, k *kept) (result *Result) {
	v := verdict{status: StatusFailed}
	defer func() {
		if r := recover(); r != nil {
			// The value may hold anything of the call's; its type may not.
			s.cfg.Logger.Error("tool call panicked", "tool", w.name(), "panic", fmt.Sprintf("%T", r))
			v = verdict{status: StatusFailed}
		}
		result = s.result(w, v)
		w.session.finish(k, result, s.cfg.Limits)
	}()
	v = s.decide(ctx, w)
	return nil
}

// decide looks the tool up, checks the arguments, applies the class and runs what may run at once.
func (s *Service) decide(ctx context.Context, w *work) verdict {
	if w.entry == nil {
		return verdict{status: StatusInvalid, saying: catalogue.SayUnknownTool}
	}
	decision := w.entry.Decision()
	if decision == effect.Never {
		return verdict{status: StatusDenied, saying: catalogue.SayNeverByVoice}
	}
	arguments, wrong := w.decode(s.cfg.Limits)
	if wrong != nil {
		return verdict{status: StatusInvalid, detail: wrong.sentence(w.language)}
	}
	switch {
	case decision == effect.Confirm:
		// Preparing an action comes here. Until it can, nothing is kept and nothing is promised.
		return verdict{status: StatusConfirmationRequired}
	case decision != effect.Run:
		return verdict{status: StatusDenied}
	case w.entry.Screen:
		compact, err := strictjson.Canonical(arguments)
		if err != nil {
			return verdict{status: StatusFailed}
		}
		return s.show(ctx, w.session, w.entry, w.call.CallID, compact)
	case w.entry.HTTP != nil && w.entry.Class.Reads():
		return s.execute(ctx, w, arguments)
	}
	return verdict{status: StatusDenied}
}

// execute runs a read to its end or its time limit, or until the session ends.
func (s *Service) execute(ctx context.Context, w *work, arguments map[string]any) verdict {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.entry.HTTP.Timeout)
	defer cancel()
	defer context.AfterFunc(w.session.ctx, cancel)()
	o := s.cfg.HTTP.Execute(ctx, Request{Entry: w.entry, Arguments: arguments, Credential: w.credential})
	if o.Detail != "" {
		s.cfg.Logger.Debug("tool executor", "tool", w.entry.Name, "status", string(o.Status), "detail", o.Detail)
	}
	switch o.Status {
	case StatusOK:
		if !json.Valid(o.Result) {
			return verdict{status: StatusFailed}
		}
		return verdict{status: StatusOK, result: o.Result, cut: o.Cut}
	case StatusNotFound, StatusDenied, StatusInvalid:
		return verdict{status: o.Status}
	default:
		return verdict{status: StatusFailed}
	}
}

// result puts a verdict into words and tells the log and the observer.
func (s *Service) result(w *work, v verdict) *Result {
	r := &Result{
		CallID: w.call.CallID, Session: w.session.id, Status: v.status,
		Output: v.output(w.entry, w.language), Receipt: newID("rcpt_"),
	}
	class := "unknown"
	if w.entry != nil {
		r.Class, class = w.entry.Class, string(w.entry.Class)
	}
	took := time.Since(w.start)
	s.cfg.Logger.Info("tool call", "session", r.Session, "call_id", r.CallID, "tool", w.name(), "class", class,
		"status", string(r.Status), "receipt", r.Receipt, "seconds", took.Seconds(), "output_bytes", len(r.Output))
	if s.cfg.Observer != nil {
		s.cfg.Observer.ToolCall(r, w.name(), class, took)
	}
	return r
}

// name is the catalogue's name, never what a model made up.
func (w *work) name() string {
	if w.entry == nil {
		return "unknown"
	}
	return w.entry.Name
}

func validCallID(id string) bool {
	if len(id) < 1 || len(id) > 32 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}

func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
