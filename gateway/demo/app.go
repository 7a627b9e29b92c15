package demo

import (
	"net/http"

	"hovor/tools/catalogue"
)

// Person is one of the app's people.
type Person struct {
	ID       string // "alice"
	Name     string // "Alice"
	Language string // "en"
	Token    string // bearer token
}

// People returns the demo's people: alice with token demo-alice, bob with token demo-bob.
func People() []Person {
	return []Person{{"alice", "Alice", "en", "demo-alice"}, {"bob", "Bob", "en", "demo-bob"}}
}

// App is the demo app: an HTTP handler over its own data. It is safe for concurrent use.
type App struct{}

// New returns an app with its first data. No people means People().
func New(people ...Person) *App { return &App{} }

// Handler serves GET /documents, GET /documents/{id}, GET /processes, GET /processes/{id}, GET /changes,
// GET and POST /rooms/{id}/messages and DELETE /projects/{id}, all JSON, all with a bearer token.
func (a *App) Handler() http.Handler { return http.NotFoundHandler() }

// Deletions counts the projects that were deleted; it stays 0 unless somebody found a way around the gateway.
func (a *App) Deletions() int { return 0 }

// Catalogue returns the embedded catalogue of the demo's tools. Its one service is named "demo"; its profile "voice".
func Catalogue() (*catalogue.Catalogue, error) { return catalogue.Parse("catalogue.yaml", nil) }

// Title is how a document or a process can be named aloud.
type Title struct {
	ID       string
	Kind     string   // "document" or "process"
	Language string   // of the text
	Title    string   // as written
	Spoken   []string // English phrases, lower case, words only: "pricing twenty nineteen"
}

// Titles returns every document and process, whoever may see them, for a speech grammar.
func Titles() []Title { return nil }
