package identity

import (
	"errors"
	"net/http/httptest"
	"testing"
)

func TestATokenProvesOnePerson(t *testing.T) {
	table := NewTable([]Row{{ID: "alice", Name: "Alice", Language: "en", Token: "demo-alice"}, {ID: "bob", Token: "demo-bob"}})
	for _, c := range []struct {
		name, header, id string
		err              error
	}{
		{"alice", "Bearer demo-alice", "alice", nil},
		{"bob, scheme in small letters", "bearer demo-bob", "bob", nil},
		{"nobody", "Bearer demo-carol", "", ErrUnknown},
		{"a prefix of a token", "Bearer demo-alic", "", ErrUnknown},
		{"no header", "", "", ErrNoCredential},
		{"no token", "Bearer ", "", ErrNoCredential},
		{"another scheme", "Basic ZGVtbzphbGljZQ==", "", ErrNoCredential},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", c.header)
		p, err := table.Request(r)
		if p.ID != c.id || !errors.Is(err, c.err) {
			t.Errorf("%s: got %q, %v", c.name, p.ID, err)
		}
		if c.err == nil && p.Credential.Len() == 0 {
			t.Errorf("%s: the person must carry the credential of their own calls", c.name)
		}
	}
}

func TestTwoTokensProveNobody(t *testing.T) {
	table := NewTable([]Row{{ID: "alice", Token: "demo-alice"}, {ID: "bob", Token: "demo-bob"}})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Add("Authorization", "Bearer demo-bob")
	r.Header.Add("Authorization", "Bearer demo-alice")
	if p, err := table.Request(r); p.ID != "" || !errors.Is(err, ErrUnknown) {
		t.Errorf("got %q, %v", p.ID, err)
	}
}
