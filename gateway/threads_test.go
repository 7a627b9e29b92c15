package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"hovor/gateway/identity"
	"hovor/gateway/thread"
)

func TestTheListOfThreadsIsAListAndSaysWhoIsMissing(t *testing.T) {
	store, err := thread.Open(filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	d := &door{people: identity.NewTable([]identity.Row{{ID: "alice", Token: "demo-alice"}}), threads: store}
	for _, c := range []struct {
		name, token string
		status      int
		code        string
	}{
		{"nobody", "", http.StatusUnauthorized, "missing_credential"},
		{"a stranger", "Bearer demo-carol", http.StatusUnauthorized, "invalid_credential"},
		{"alice, who has none", "Bearer demo-alice", http.StatusOK, ""},
	} {
		r := httptest.NewRequest("GET", "/v1/threads", nil)
		if c.token != "" {
			r.Header.Set("Authorization", c.token)
		}
		w := httptest.NewRecorder()
		d.listThreads(w, r)
		var got struct {
			Data  []threadLine
			Error struct{ Code string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if w.Code != c.status || got.Error.Code != c.code {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
		if c.code == "" && !strings.Contains(w.Body.String(), `"data":[]`) {
			t.Errorf("%s: %s", c.name, w.Body)
		}
	}
}
