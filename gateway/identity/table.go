package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"hovor/tools"
)

var (
	// ErrNoCredential says that a request came without a bearer token.
	ErrNoCredential = errors.New("sign in first: send Authorization: Bearer and your token")
	// ErrUnknown says that no person has this token.
	ErrUnknown = errors.New("nobody here has this token; sign in again")
)

// Row is one person and the token that proves them.
type Row struct{ ID, Name, Language, Token string }

// Table is the closed list of people of a demo. Safe for concurrent use; it never changes.
type Table struct{ rows []row }

type row struct {
	person Row
	hash   [sha256.Size]byte
}

// NewTable keeps the rows; of each token only its hash is used to compare.
func NewTable(rows []Row) *Table {
	t := &Table{}
	for _, r := range rows {
		t.rows = append(t.rows, row{person: r, hash: sha256.Sum256([]byte(r.Token))})
	}
	return t
}

// Person returns who the token proves, holding the credential for the call. It looks at every row whatever matches, so
// that the time taken tells nothing.
func (t *Table) Person(token string) (tools.Person, error) {
	if token == "" {
		return tools.Person{}, ErrNoCredential
	}
	hash := sha256.Sum256([]byte(token))
	found := -1
	for i := range t.rows {
		if subtle.ConstantTimeCompare(hash[:], t.rows[i].hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return tools.Person{}, ErrUnknown
	}
	p := t.rows[found].person
	return tools.Person{ID: p.ID, Name: p.Name, Language: p.Language, Credential: tools.NewCredential(token)}, nil
}

// Request is Person for the bearer token of an HTTP request (RFC 6750 section 2.1).
// A request with two of them proves nobody: another server on its way may have read the other one.
func (t *Table) Request(r *http.Request) (tools.Person, error) {
	if len(r.Header.Values("Authorization")) > 1 {
		return tools.Person{}, ErrUnknown
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return tools.Person{}, ErrNoCredential
	}
	return t.Person(strings.TrimSpace(token))
}
