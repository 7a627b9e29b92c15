package demo

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// App is the demo app: an HTTP handler over its own data. It is safe for concurrent use.
type App struct {
	people    []Person
	content   content
	rooms     *rooms
	deletions atomic.Int64
}

// New returns an app with its first data. No people means People().
func New(people ...Person) *App {
	if len(people) == 0 {
		people = People()
	}
	return &App{people: people, content: load(), rooms: newRooms()}
}

// Handler serves GET /documents, GET /documents/{id}, GET /processes, GET /processes/{id}, GET /changes,
// GET and POST /rooms/{id}/messages and DELETE /projects/{id}, all JSON, all with a bearer token.
func (a *App) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, page := range map[string]func(http.ResponseWriter, *http.Request, Person){
		"GET /documents":            a.documents,
		"GET /documents/{id}":       a.document,
		"GET /processes":            a.processes,
		"GET /processes/{id}":       a.process,
		"GET /changes":              a.changes,
		"GET /rooms/{id}/messages":  a.messages,
		"POST /rooms/{id}/messages": a.publish,
		"DELETE /projects/{id}":     a.deleteProject,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			p, ok := a.signedIn(r)
			if !ok {
				w.Header().Set("WWW-Authenticate", "Bearer")
				refuse(w, http.StatusUnauthorized, "not_signed_in", "Sign in first.")
				return
			}
			page(w, r, p)
		})
	}
	return mux
}

// Deletions counts the projects that were deleted; it stays 0 unless somebody found a way around the gateway.
func (a *App) Deletions() int { return int(a.deletions.Load()) }

// Published counts the messages that really stand in rooms.
func (a *App) Published() int { return a.rooms.count() }

type documentHead struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Language string    `json:"language"`
	Updated  time.Time `json:"updated"`
	Passage  string    `json:"passage,omitempty"`
}

type passage struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// documents lists what the person may see, or with ?query= the best hits among it.
func (a *App) documents(w http.ResponseWriter, r *http.Request, p Person) {
	out := []documentHead{}
	for _, hit := range search(a.visible(p), r.URL.Query().Get("query")) {
		d := hit.document
		out = append(out, documentHead{ID: d.ID, Title: d.Title, Language: d.Language, Updated: d.Updated, Passage: hit.passage})
	}
	answer(w, http.StatusOK, map[string]any{"documents": out})
}

func (a *App) visible(p Person) []document {
	return slices.DeleteFunc(slices.Clone(a.content.Documents), func(d document) bool { return !maySee(p.ID, d.Only) })
}

func (a *App) document(w http.ResponseWriter, r *http.Request, p Person) {
	id := r.PathValue("id")
	i := slices.IndexFunc(a.content.Documents, func(d document) bool { return d.ID == id })
	if i < 0 {
		refuse(w, http.StatusNotFound, "not_found", "There is no such document.")
		return
	}
	d := a.content.Documents[i]
	if !maySee(p.ID, d.Only) {
		refuse(w, http.StatusForbidden, "forbidden", "You may not see this document.")
		return
	}
	passages := make([]passage, len(d.Passages))
	for i, text := range d.Passages {
		passages[i] = passage{ID: "p" + string(rune('1'+i)), Text: text}
	}
	answer(w, http.StatusOK, map[string]any{
		"id": d.ID, "title": d.Title, "language": d.Language, "updated": d.Updated, "text": d.text(), "passages": passages,
	})
}

type processHead struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Parent string `json:"parent,omitempty"`
}

func (a *App) processes(w http.ResponseWriter, _ *http.Request, p Person) {
	out := []processHead{}
	for _, one := range a.content.Processes {
		if maySee(p.ID, one.Only) {
			out = append(out, processHead{one.ID, one.Title, one.Parent})
		}
	}
	answer(w, http.StatusOK, map[string]any{"processes": out})
}

func (a *App) process(w http.ResponseWriter, r *http.Request, p Person) {
	id := r.PathValue("id")
	i := slices.IndexFunc(a.content.Processes, func(one process) bool { return one.ID == id })
	if i < 0 {
		refuse(w, http.StatusNotFound, "not_found", "There is no such process.")
		return
	}
	one := a.content.Processes[i]
	if !maySee(p.ID, one.Only) {
		refuse(w, http.StatusForbidden, "forbidden", "You may not see this process.")
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"id": one.ID, "title": one.Title, "parent": one.Parent, "steps": one.Steps, "documents": a.shown(p, one.Documents),
	})
}

// shown keeps the documents that the person may see.
func (a *App) shown(p Person, ids []string) []string {
	out := []string{}
	for _, d := range a.visible(p) {
		if slices.Contains(ids, d.ID) {
			out = append(out, d.ID)
		}
	}
	return out
}

func (a *App) changes(w http.ResponseWriter, _ *http.Request, p Person) {
	out := []map[string]any{}
	for _, c := range a.content.Changes {
		if maySee(p.ID, a.only(c)) {
			out = append(out, map[string]any{"at": c.At, "by": c.By, "kind": c.Kind, "id": c.ID, "what": c.What})
		}
	}
	answer(w, http.StatusOK, map[string]any{"changes": out})
}

// only returns who may see what a change is about.
func (a *App) only(c change) []string {
	for _, d := range a.content.Documents {
		if c.Kind == "document" && d.ID == c.ID {
			return d.Only
		}
	}
	for _, p := range a.content.Processes {
		if c.Kind == "process" && p.ID == c.ID {
			return p.Only
		}
	}
	return nil
}

// deleteProject asks for what only the project's own page sends: the owner, and the id typed out a second time. It is
// here so that a way around the gateway would show.
func (a *App) deleteProject(w http.ResponseWriter, r *http.Request, p Person) {
	if id := r.PathValue("id"); id != "linden" {
		refuse(w, http.StatusNotFound, "not_found", "There is no such project.")
		return
	} else if p.ID != "alice" || r.Header.Get("X-Typed-Project") != id {
		refuse(w, http.StatusForbidden, "forbidden", "A project is deleted by its owner, on its own page.")
		return
	}
	a.deletions.Add(1)
	w.WriteHeader(http.StatusNoContent)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(body) // the client is gone; there is nobody to tell
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}
