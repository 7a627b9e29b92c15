package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"hovor/gateway/config"
	"hovor/gateway/identity"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/tools"
)

// person is who holds the token that came with a request. The credential is not kept.
func (d *door) person(c signaling.Caller) (tools.Person, error) {
	p, err := d.people.Person(c.Bearer.Reveal())
	switch {
	case errors.Is(err, identity.ErrNoCredential):
		return tools.Person{}, signaling.ErrNoCredential
	case err != nil:
		return tools.Person{}, signaling.ErrBadCredential
	}
	p.Credential = tools.Credential{}
	return p, nil
}

// holder is the person of a client secret or of an own token; unlike claims it does not use a secret up.
func (d *door) holder(c signaling.Caller) (tools.Person, error) {
	if !isSecret(c) {
		return d.person(c)
	}
	cl, err := d.secrets.Recall(c.Bearer.Reveal())
	return cl.person, err
}

// claims is what the caller may open: a secret's, or for a person's own token the assistant that the offer names.
func (d *door) claims(c signaling.Caller, o signaling.Offer) (claims, error) {
	if isSecret(c) {
		return d.secrets.Redeem(c.Bearer.Reveal())
	}
	p, err := d.person(c)
	if err != nil {
		return claims{}, err
	}
	a, err := d.assistant(o.Model)
	return claims{person: p, assistant: a, session: o.Session, model: o.Model}, err
}

func isSecret(c signaling.Caller) bool { return strings.HasPrefix(c.Bearer.Reveal(), "ek_") }

// assistant is whom a model name stands for; an empty name is the first assistant.
func (d *door) assistant(model string) (*config.Assistant, error) {
	if model == "" {
		return &d.cfg.Assistants[0], nil
	}
	a, exact := d.cfg.Assistant(model)
	if a == nil {
		return nil, &realtime.Error{Status: http.StatusNotFound, Type: realtime.TypeInvalidRequest, Code: realtime.CodeNotFound, Param: "model",
			Message: fmt.Sprintf("no assistant here answers to this model name; known: %s", strings.Join(d.aliases(), ", "))}
	}
	if !exact {
		d.log.Warn("a model name that no assistant lists was given the catch-all assistant", "model_chars", len(model), "assistant", a.Name)
	}
	return a, nil
}

func (d *door) aliases() []string {
	var all []string
	for _, a := range d.cfg.Assistants {
		all = append(all, a.Aliases...)
	}
	return all
}

// live implements tools.SessionPort, tools.ScreenPort and tools.Observer over the registry of calls.
type live struct{ d *door }

// Session is the asked call when it is this person's, else the person's only live call, else a scope of the person.
func (l live) Session(p tools.Person, asked string) (id, lang string, err error) {
	if asked != "" {
		c, err := l.d.calls.Get(p.ID, asked)
		if err != nil {
			return "", "", tools.ErrSession
		}
		return c.ID(), c.Assistant().Language, nil
	}
	if of := l.d.calls.Of(p.ID); len(of) == 1 {
		return of[0].ID(), of[0].Assistant().Language, nil
	}
	return "person:" + p.ID, p.Language, nil
}

// Screen carries a screen request to the page of a call.
func (l live) Screen(session string, r tools.ScreenRequest) error {
	c, err := l.d.calls.Get("", session)
	if err != nil {
		return tools.ErrNoPage
	}
	if err := c.Screen(r); err != nil {
		return fmt.Errorf("%w: %w", tools.ErrNoPage, err)
	}
	return nil
}

// ToolCall counts a tool call and tells the page of its session how it ended, without content.
func (l live) ToolCall(r *tools.Result, name, class string, took time.Duration) {
	l.d.metrics.ToolCall(name, class, string(r.Status), took)
	if c, err := l.d.calls.Get("", r.Session); err == nil {
		c.Tool(r.CallID, name, class, string(r.Status))
	}
}
