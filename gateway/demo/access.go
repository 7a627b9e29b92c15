package demo

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
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
	return []Person{
		{ID: "alice", Name: "Alice", Language: "en", Token: "demo-alice"},
		{ID: "bob", Name: "Bob", Language: "en", Token: "demo-bob"},
	}
}

// maySee is the whole of the access control for reading. Lists, searches, changes and single pages all ask it, so that
// none of them can know more than another.
func maySee(personID string, only []string) bool {
	return len(only) == 0 || slices.Contains(only, personID)
}

// signedIn returns the person whose bearer token came with the request.
func (a *App) signedIn(r *http.Request) (Person, bool) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return Person{}, false
	}
	for _, p := range a.people {
		if subtle.ConstantTimeCompare([]byte(p.Token), []byte(token)) == 1 {
			return p, true
		}
	}
	return Person{}, false
}
