package gateway

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"hovor/gateway/identity"
	"hovor/gateway/thread"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/tools"
)

// threadItem is one utterance as its person may read it: for the assistant only what was heard.
type threadItem struct {
	ID       string    `json:"id"`
	Role     string    `json:"role"`
	Kind     string    `json:"kind"`
	Text     string    `json:"text"`
	Complete bool      `json:"complete"`
	AudioMS  int64     `json:"audio_ms,omitempty"`
	CallID   string    `json:"call_id,omitempty"`
	At       time.Time `json:"at"`
}

// threadLine is one line of the list of a person's threads.
type threadLine struct {
	ID        string    `json:"id"`
	Items     int       `json:"items"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// reader is the person who asks; when it is nobody that we know, the request is answered.
func (d *door) reader(w http.ResponseWriter, r *http.Request) (tools.Person, bool) {
	p, err := d.people.Request(r)
	switch {
	case err == nil:
		return p, true
	case errors.Is(err, identity.ErrNoCredential):
		err = signaling.ErrNoCredential
	default:
		err = signaling.ErrBadCredential
	}
	signaling.WriteError(w, err)
	return tools.Person{}, false
}

func (d *door) getThread(w http.ResponseWriter, r *http.Request) {
	p, ok := d.reader(w, r)
	if !ok {
		return
	}
	t, err := d.threads.Get(r.Context(), p.ID, r.PathValue("id"))
	if errors.Is(err, thread.ErrNotFound) {
		signaling.WriteError(w, &realtime.Error{Status: http.StatusNotFound, Type: realtime.TypeInvalidRequest, Code: realtime.CodeNotFound,
			Message: "there is no thread of yours with this id"})
		return
	}
	if err != nil {
		signaling.WriteError(w, err)
		return
	}
	items := make([]threadItem, len(t.Items))
	for i, it := range t.Items {
		items[i] = threadItem{ID: it.ID, Role: string(it.Role), Kind: string(it.Kind), Text: string(it.Text), Complete: it.Complete,
			AudioMS: it.Audio.Milliseconds(), CallID: it.CallID, At: it.At}
	}
	writeJSON(w, map[string]any{"id": t.ID, "object": "hovor.thread", "items": items})
}

func (d *door) listThreads(w http.ResponseWriter, r *http.Request) {
	p, ok := d.reader(w, r)
	if !ok {
		return
	}
	list, err := d.threads.List(r.Context(), p.ID, 50)
	if err != nil {
		signaling.WriteError(w, err)
		return
	}
	lines := make([]threadLine, len(list))
	for i, t := range list {
		lines[i] = threadLine{ID: t.ID, Items: t.Items, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt}
	}
	writeJSON(w, map[string]any{"object": "list", "data": lines})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}
