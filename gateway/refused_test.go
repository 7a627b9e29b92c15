package gateway

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"hovor/gateway/config"
)

// An offer that is refused makes no call, and leaves no thread in the store however often it comes.
func TestARefusedOfferLeavesNothingInTheStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.db")
	h := open(t, func(c *config.Config) { c.Store.Path = path })
	for range 3 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.PublicURL()+"/v1/realtime/calls", strings.NewReader("v=0\r\nno offer\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer demo-alice")
		r.Header.Set("Content-Type", "application/sdp")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Fatalf("an offer that is none was answered %d", answer.StatusCode)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM threads`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d threads of calls that never were, %v", n, err)
	}
}
