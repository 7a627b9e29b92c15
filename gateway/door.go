package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/config"
	"hovor/gateway/identity"
	"hovor/gateway/telemetry"
	"hovor/gateway/thread"
	"hovor/gateway/usage"
	"hovor/sfu"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/signaling/secrets"
	"hovor/tools"
	"hovor/vad"
)

// door answers the handshake: it turns a caller into a person, a model name into an assistant, and an offer into a call.
// It implements signaling.Service.
type door struct {
	cfg       *config.Config
	people    *identity.Table
	secrets   *secrets.Store[claims]
	calls     *call.Manager
	threads   *thread.Store
	books     *usage.Store
	tools     *tools.Service
	providers map[string]upstream
	engine    *sfu.Engine
	detector  func() vad.Detector
	metrics   *telemetry.Metrics
	log       *slog.Logger
}

// claims is what a client secret stands for. It holds no credential: tools are called with the credentials that come
// with their own request.
type claims struct {
	person    tools.Person
	assistant *config.Assistant
	session   *realtime.Session
	threadID  string
	model     string        // the name that the client asked for
	events    []string      // that its holder may send; nil = the assistant's
	fields    []string      // of the session that its holder may change; nil = the assistant's
	duration  time.Duration // of a call; 0 = the assistant's
}

// transcriber is the name under which every provider of the Realtime API knows its transcription.
const transcriber = "gpt-4o-mini-transcribe"

// profile is the part of the catalogue that a voice assistant is offered.
const profile = "voice"

// Mint binds a secret to the person and the assistant.
func (d *door) Mint(_ context.Context, c signaling.Caller, req realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	p, err := d.person(c)
	if err != nil {
		return nil, err
	}
	cl := claims{person: p, session: req.Session}
	model := ""
	if req.Session != nil {
		model = req.Session.Model
	}
	cl.model = model
	if cl.assistant, err = d.assistant(model); err != nil {
		return nil, err
	}
	var ttl time.Duration
	if req.ExpiresAfter != nil {
		ttl = time.Duration(req.ExpiresAfter.Seconds) * time.Second
	}
	oneUse := false
	if req.Hovor != nil {
		cl.threadID, oneUse = req.Hovor.ThreadID, req.Hovor.OneUse
		cl.events, cl.fields, cl.duration = req.Hovor.Events, req.Hovor.Fields, time.Duration(req.Hovor.MaxDuration)*time.Second
	}
	token, expires, err := d.secrets.MintFor(p.ID, cl, ttl, oneUse)
	if err != nil {
		return nil, err
	}
	return &realtime.ClientSecret{Value: token, ExpiresAt: expires.Unix(), Session: d.shown(cl, model)}, nil
}

// shown is the session as the reply to a mint may tell it.
func (d *door) shown(cl claims, model string) realtime.Session {
	s := realtime.Session{Type: "realtime", Object: "realtime.session", Model: model}
	if policyOf(cl.assistant) == call.Locked {
		return s
	}
	text := instructionsFor(cl.assistant, language(cl.assistant, cl.person))
	s.Instructions = &text
	s.Tools = d.definitions(cl)
	return s
}

// Open answers an offer of somebody who holds a client secret, or a person's own token.
func (d *door) Open(ctx context.Context, c signaling.Caller, o signaling.Offer) (*signaling.Answer, error) {
	cl, err := d.claims(c, o)
	if err != nil {
		return nil, err
	}
	if cl.assistant.Mode == config.Direct {
		return d.openDirect(ctx, cl, o)
	}
	started, sdp, err := d.start(ctx, cl, o)
	if err != nil {
		return nil, err
	}
	return &signaling.Answer{SDP: sdp, CallID: started.ID(), ETag: started.ETag()}, nil
}

func (d *door) start(ctx context.Context, cl claims, o signaling.Offer) (*call.Call, string, error) {
	options, err := d.options(ctx, cl, o.Session)
	if err != nil {
		return nil, "", err
	}
	options.Dialect = o.Dialect
	return d.begin(ctx, cl, options, o.SDP)
}

// begin starts a call. The thread that was made for it goes when it does not come about: a refused offer leaves nothing behind.
func (d *door) begin(ctx context.Context, cl claims, o call.Options, sdp string) (*call.Call, string, error) {
	started, answer, err := d.calls.Start(ctx, o, sdp)
	if err != nil && cl.threadID == "" {
		if e := d.threads.Discard(context.WithoutCancel(ctx), o.Thread); e != nil {
			d.log.Warn("an unused thread is left", "cause", e)
		}
	}
	return started, answer, err
}

// options are those of a call by these claims; asked is the session that came with the offer, if one did.
func (d *door) options(ctx context.Context, cl claims, asked *realtime.Session) (call.Options, error) {
	handle, err := d.thread(ctx, cl)
	if err != nil {
		return call.Options{}, err
	}
	if asked == nil {
		asked = cl.session
	}
	return call.Options{
		ID:        d.callID(),
		Person:    cl.person,
		Assistant: d.describe(cl),
		Session:   asked,
		Thread:    handle,
		Provider:  d.providers[cl.assistant.Provider].Provider,
		Engine:    d.engine,
		Detector:  d.detector,
		Recorded:  d.tools,
		Limits: call.Limits{
			Setup:    time.Duration(d.cfg.Limits.SetupTimeout),
			Duration: d.longest(cl),
			Idle:     time.Duration(d.cfg.Limits.Idle),
			Session:  d.providers[cl.assistant.Provider].limit,
		},
		Books:    d.books,
		Observer: d.metrics,
		Logger:   d.log,
		Ended:    func(c *call.Call) { d.tools.EndSession(c.ID()) },
	}, nil
}

// longest is how long a call by these claims may last.
func (d *door) longest(cl claims) time.Duration {
	return shorter(shorter(time.Duration(d.cfg.Limits.MaxDuration), time.Duration(cl.assistant.MaxDuration)), cl.duration)
}

// callID names the node, so that any node can pass a request on without a look-up.
func (d *door) callID() string {
	return "rtc_" + d.cfg.NodeID + "_" + strings.TrimPrefix(realtime.NewID("x"), "x_")[:16]
}

func (d *door) describe(cl claims) call.Assistant {
	a := cl.assistant
	lang := language(a, cl.person)
	model := ""
	for _, p := range d.cfg.Providers {
		if p.Name == a.Provider {
			model = p.Model
			if model == "" && p.Kind != "local" {
				model = asked(a, cl.model)
			}
		}
	}
	described := call.Assistant{
		Name: a.Name, Language: lang, Model: model, Policy: policyOf(a),
		Fields:       nilIfEmpty(a.ClientFields),
		Events:       narrow(nilIfEmpty(a.ClientEvents), cl.events),
		Instructions: instructionsFor(a, lang),
		Tools:        d.definitions(cl),
	}
	if cl.fields != nil {
		described.Fields = narrow(described.MayChange(), cl.fields)
	}
	voice := a.Voice
	if voice == "" && d.local(a.Provider) {
		voice = lang // the embedded provider's voices are named by their languages
	}
	// The person's own words come from the provider's transcription; the thread and the captions need them.
	described.Session.Audio = &realtime.Audio{
		Input:  &realtime.AudioInput{Transcription: realtime.Some(realtime.Transcription{Model: transcriber, Language: lang})},
		Output: &realtime.AudioOutput{Voice: realtime.Voice(voice)},
	}
	return described
}

// asked is the model's name when the configuration leaves it to the client: the client's, else the assistant's first.
func asked(a *config.Assistant, model string) string {
	if model == "" {
		model = a.Aliases[0]
	}
	return strings.TrimPrefix(model, "*")
}

func (d *door) local(providerName string) bool {
	for _, p := range d.cfg.Providers {
		if p.Name == providerName {
			return p.Kind == "local"
		}
	}
	return false
}

// definitions are the tools of the catalogue that this person's assistant is offered, in the Realtime form.
func (d *door) definitions(cl claims) []realtime.Tool {
	if cl.assistant.NoTools {
		return nil
	}
	var list []realtime.Tool
	for _, t := range d.tools.Definitions(cl.person, profile) {
		list = append(list, realtime.Tool{Type: t.Type, Name: t.Name, Description: t.Description, Parameters: realtime.Raw(t.Parameters)})
	}
	return list
}

func (d *door) thread(ctx context.Context, cl claims) (*thread.Handle, error) {
	if cl.threadID == "" {
		return d.threads.Create(ctx, cl.person.ID)
	}
	h, err := d.threads.Resume(ctx, cl.person.ID, cl.threadID)
	if errors.Is(err, thread.ErrNotFound) {
		return nil, &realtime.Error{Status: http.StatusNotFound, Type: realtime.TypeInvalidRequest, Code: realtime.CodeNotFound, Param: "hovor.thread_id",
			Message: "there is no thread of yours with this id; leave it out to start a new one"}
	}
	return h, err
}

// Hangup ends a call of the caller.
func (d *door) Hangup(_ context.Context, c signaling.Caller, callID string) error {
	found, err := d.find(c, callID)
	if err != nil {
		return err
	}
	found.Hangup(call.Hangup)
	return nil
}

// State tells how a call of the caller is.
func (d *door) State(_ context.Context, c signaling.Caller, callID string) (*signaling.CallState, error) {
	found, err := d.find(c, callID)
	if err != nil {
		return nil, err
	}
	s := found.State()
	state := &signaling.CallState{ID: callID, Status: "connecting", CreatedAt: found.Began(), ThreadID: s.ThreadID, Model: found.Session().Model}
	switch {
	case s.Ended:
		state.Status, state.EndReason = "ended", string(s.Reason)
	case s.Channel:
		state.Status = "active"
	}
	return state, nil
}

func (d *door) find(c signaling.Caller, callID string) (call.Live, error) {
	p, err := d.holder(c)
	if err != nil {
		return nil, err
	}
	found, err := d.calls.Get(p.ID, callID)
	if err != nil {
		return nil, signaling.ErrCallNotFound
	}
	return found, nil
}
