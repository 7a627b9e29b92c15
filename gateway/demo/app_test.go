package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// ask makes one request and decodes the answer.
func ask(t *testing.T, h http.Handler, token, method, path, body string, headers ...string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var out map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &out)
	return w.Code, out
}

func ids(list any) (out []string) {
	for _, one := range list.([]any) {
		out = append(out, one.(map[string]any)["id"].(string))
	}
	return out
}

func TestNobodyGetsInWithoutAToken(t *testing.T) {
	h := New().Handler()
	for _, token := range []string{"", "demo-carol", "demo-alice ", "DEMO-ALICE"} {
		for _, path := range []string{"/documents", "/documents/welcome", "/processes", "/changes", "/rooms/room-1/messages"} {
			if code, _ := ask(t, h, token, "GET", path, ""); code != 401 {
				t.Errorf("%q %s: %d", token, path, code)
			}
		}
	}
}

// What one person may not see is nowhere: not in the list, the search, the changes, a process's documents or its own page.
func TestTheSameAccessEverywhere(t *testing.T) {
	h := New().Handler()
	for _, c := range []struct {
		token   string
		sees    bool
		code    int
		queries []string
	}{
		{"demo-alice", true, 200, []string{"pricing", "margin", "pricing-2019", "pricing twenty nineteen"}},
		{"demo-bob", false, 403, []string{"pricing", "margin", "pricing-2019", "pricing twenty nineteen", "insurer third off", "schools eleven euros"}},
	} {
		code, page := ask(t, h, c.token, "GET", "/documents/pricing-2019", "")
		if code != c.code || (page["text"] != nil) != c.sees {
			t.Errorf("%s: %d %v", c.token, code, page)
		}
		if code, _ := ask(t, h, c.token, "GET", "/processes/price-review", ""); code != c.code {
			t.Errorf("%s: process %d", c.token, code)
		}
		_, list := ask(t, h, c.token, "GET", "/documents", "")
		if slices.Contains(ids(list["documents"]), "pricing-2019") != c.sees {
			t.Errorf("%s: list", c.token)
		}
		for _, q := range c.queries {
			_, found := ask(t, h, c.token, "GET", "/documents?query="+strings.ReplaceAll(q, " ", "+"), "")
			if slices.Contains(ids(found["documents"]), "pricing-2019") != c.sees {
				t.Errorf("%s: search %q: %v", c.token, q, ids(found["documents"]))
			}
		}
		_, tree := ask(t, h, c.token, "GET", "/processes", "")
		if slices.Contains(ids(tree["processes"]), "price-review") != c.sees {
			t.Errorf("%s: tree", c.token)
		}
		_, changes := ask(t, h, c.token, "GET", "/changes", "")
		for _, secret := range []string{"pricing-2019", "price-review"} {
			if slices.Contains(ids(changes["changes"]), secret) != c.sees {
				t.Errorf("%s: changes", c.token)
			}
		}
	}
	if code, _ := ask(t, h, "demo-bob", "GET", "/documents/no-such", ""); code != 404 {
		t.Errorf("missing: %d", code)
	}
}

func TestTheContentHangsTogether(t *testing.T) {
	c := load()
	if len(c.Documents) < 14 || len(c.Processes) < 5 || len(c.Processes) > 8 {
		t.Fatalf("%d documents, %d processes", len(c.Documents), len(c.Processes))
	}
	known, languages := map[string]bool{}, map[string]int{}
	for _, d := range c.Documents {
		if known[d.ID] {
			t.Errorf("%s twice", d.ID)
		}
		known[d.ID] = true
		languages[d.Language]++
		if n := len(strings.Fields(d.text())); n < 80 || n > 200 {
			t.Errorf("%s has %d words", d.ID, n)
		}
		if d.Title == "" || d.Updated.IsZero() || len(d.Passages) < 2 {
			t.Errorf("%s is not whole", d.ID)
		}
	}
	for _, language := range []string{"cs", "de", "en", "ru"} {
		if languages[language] < 3 {
			t.Errorf("%d documents in %s", languages[language], language)
		}
	}
	processes := map[string]bool{"": true}
	for _, p := range c.Processes {
		if !processes[p.Parent] {
			t.Errorf("process %s stands before its parent", p.ID)
		}
		processes[p.ID] = true
		for _, id := range p.Documents {
			if !known[id] {
				t.Errorf("process %s names document %s", p.ID, id)
			}
		}
	}
	for i, change := range c.Changes {
		if !known[change.ID] && !processes[change.ID] {
			t.Errorf("change of %s", change.ID)
		}
		if i > 0 && change.At.After(c.Changes[i-1].At) {
			t.Error("changes are not newest first")
		}
	}
}

func TestEveryTitleCanBeSpoken(t *testing.T) {
	words := regexp.MustCompile(`^[a-z]+( [a-z]+)*$`)
	seen := map[string]bool{}
	for _, title := range Titles() {
		if len(title.Spoken) == 0 || title.ID == "" || title.Title == "" {
			t.Errorf("%+v", title)
		}
		for _, phrase := range title.Spoken {
			if !words.MatchString(phrase) || seen[title.Kind+phrase] {
				t.Errorf("%s: %q is not speakable or not the only one", title.ID, phrase)
			}
			seen[title.Kind+phrase] = true
		}
	}
}

func TestSearchFindsInEveryLanguageWithoutAccentsAndEndings(t *testing.T) {
	h := New().Handler()
	for query, want := range map[string]string{
		"kauce": "deposit-rules", "kaucí": "deposit-rules", "kauci": "deposit-rules", "uskladneni": "winter-storage",
		"Akku": "battery-care", "Schlüssel Druckerei": "dresden-handover", "schlussel druckerei": "dresden-handover",
		"замков": "lock-updates", "импорта": "old-import", "deposit rules": "deposit-rules", "night tram": "night-return",
		"why are bikes named after trees": "bike-names", "Feiertage": "holiday-calendar",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/documents", nil)
		q := r.URL.Query()
		q.Set("query", query)
		_, found := ask(t, h, "demo-bob", "GET", "/documents?"+q.Encode(), "")
		all := found["documents"].([]any)
		if len(all) == 0 || all[0].(map[string]any)["id"] != want || all[0].(map[string]any)["passage"] == "" {
			t.Errorf("%q: %v", query, all)
		}
	}
	for _, query := range []string{"xylophone", "banana"} { // "banka" is in there
		if _, found := ask(t, h, "demo-bob", "GET", "/documents?query="+query, ""); len(found["documents"].([]any)) != 0 {
			t.Errorf("found %s, which is not there", query)
		}
	}
}

func TestAMessageIsPublishedOncePerKey(t *testing.T) {
	a := New()
	h := a.Handler()
	send := func(token, room, key, text string) (int, map[string]any) {
		body, _ := json.Marshal(map[string]string{"text": text})
		return ask(t, h, token, "POST", "/rooms/"+room+"/messages", string(body), "Idempotency-Key", key)
	}
	code, first := send("demo-alice", "room-1", "k", "  I will leave at eight. ")
	if code != 201 || first["text"] != "I will leave at eight." || first["by"] != "alice" {
		t.Fatalf("%d %v", code, first)
	}
	if code, again := send("demo-alice", "room-1", "k", "I will leave at eight."); code != 201 || again["id"] != first["id"] {
		t.Fatalf("again: %d %v", code, again)
	}
	if code, _ := send("demo-alice", "room-1", "k", "I will leave at nine."); code != 422 {
		t.Errorf("same key, other text: %d", code)
	}
	if code, _ := send("demo-alice", "room-2", "k", "I will leave at eight."); code != 422 {
		t.Errorf("same key, other room: %d", code)
	}
	if code, other := send("demo-bob", "room-1", "k", "Me too."); code != 201 || other["id"] == first["id"] {
		t.Errorf("another person's key: %d %v", code, other)
	}
	for name, c := range map[string]struct {
		token, room, key, text string
		code                   int
	}{
		"no key":     {"demo-alice", "room-1", "", "x", 400},
		"empty":      {"demo-alice", "room-1", "a", "   ", 422},
		"too long":   {"demo-alice", "room-1", "b", strings.Repeat("ž", 281), 422},
		"no room":    {"demo-alice", "room-9", "c", "x", 404},
		"not inside": {"demo-bob", "room-2", "d", "x", 403},
	} {
		if code, _ := send(c.token, c.room, c.key, c.text); code != c.code {
			t.Errorf("%s: %d", name, code)
		}
	}
	if code, _ := send("demo-alice", "room-1", "e", strings.Repeat("ž", 280)); code != 201 || utf8.RuneCountInString(strings.Repeat("ž", 280)) != 280 {
		t.Errorf("280 characters: %d", code)
	}
	_, list := ask(t, h, "demo-bob", "GET", "/rooms/room-1/messages", "")
	if len(list["messages"].([]any)) != 3 || a.Published() != 3 {
		t.Fatalf("%v", list)
	}
}

func TestEqualMessagesAtOnceArePublishedOnce(t *testing.T) {
	a := New()
	h := a.Handler()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			ask(t, h, "demo-alice", "POST", "/rooms/room-1/messages", `{"text":"x"}`, "Idempotency-Key", fmt.Sprint(i%2))
		})
	}
	all.Wait()
	if a.Published() != 2 {
		t.Fatalf("%d messages for 2 keys", a.Published())
	}
}

func TestAProjectIsDeletedOnlyFromItsOwnPage(t *testing.T) {
	a := New()
	h := a.Handler()
	for _, c := range []struct {
		token, id, typed string
		code, deletions  int
	}{
		{"demo-alice", "linden", "", 403, 0}, {"demo-bob", "linden", "linden", 403, 0}, {"demo-alice", "other", "other", 404, 0},
		{"demo-alice", "linden", "linden", 204, 1},
	} {
		if code, _ := ask(t, h, c.token, "DELETE", "/projects/"+c.id, "", "X-Typed-Project", c.typed); code != c.code || a.Deletions() != c.deletions {
			t.Errorf("%+v: %d, %d deletions", c, code, a.Deletions())
		}
	}
}

func TestPhrasesStandWordForWordInTheirDocument(t *testing.T) {
	seen := 0
	for _, d := range load().Documents {
		for _, p := range d.Phrases {
			seen++
			if !strings.Contains(d.text(), p) {
				t.Errorf("%s: %q is not in the text, so nobody could highlight it", d.ID, p)
			}
		}
	}
	if seen == 0 || seen != len(Phrases()) {
		t.Errorf("%d phrases in the documents, %d offered", seen, len(Phrases()))
	}
}
