package demo_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"hovor/gateway/demo"
	"hovor/tools"
	"hovor/tools/execute"
)

// house is the demo app on a socket with the tools in front of it, as the quickstart has them.
type house struct {
	app     *demo.App
	url     string
	tools   *tools.Service
	persons []tools.Person
	calls   int
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{app: demo.New()}
	server := httptest.NewServer(h.app.Handler())
	t.Cleanup(server.Close)
	h.url = server.URL
	executor, err := execute.NewHTTP(execute.Config{Services: map[string]string{"demo": server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(executor.Close)
	c, err := demo.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if h.tools, err = tools.New(tools.Config{Catalogue: c, HTTP: executor}); err != nil {
		t.Fatal(err)
	}
	for _, p := range demo.People() {
		h.persons = append(h.persons, tools.Person{ID: p.ID, Name: p.Name, Language: p.Language, Credential: tools.NewCredential(p.Token)})
	}
	return h
}

// byTool runs a tool and decodes its output.
func (h *house) byTool(t *testing.T, p tools.Person, name, arguments string) (tools.Status, any) {
	t.Helper()
	h.calls++
	r, err := h.tools.Do(t.Context(), p, tools.Call{CallID: fmt.Sprintf("call_%d", h.calls), Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Result any }
	if err := json.Unmarshal([]byte(r.Output), &out); err != nil {
		t.Fatal(err)
	}
	return r.Status, out.Result
}

// byPage asks the app as the page does.
func (h *house) byPage(t *testing.T, p tools.Person, path string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Credential.Reveal())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, out
}

func only(value any, names ...string) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = only(v[i], names...)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for _, name := range names {
			if member, ok := v[name]; ok {
				out[name] = member
			}
		}
		return out
	}
	return value
}

// If you cannot open it, neither can the voice: for every document and process and for each person, the tool's status
// and every word of its result are what the app itself gives that person.
func TestWhatAToolGivesIsWhatThePageGives(t *testing.T) {
	h := newHouse(t)
	status := map[int]tools.Status{200: tools.StatusOK, 403: tools.StatusDenied, 404: tools.StatusNotFound}
	refused := 0
	for _, p := range h.persons {
		titles := append(demo.Titles(), demo.Title{ID: "no-such", Kind: "document"}, demo.Title{ID: "no-such", Kind: "process"})
		for _, title := range titles {
			tool, path, names := "get_document", "/documents/", []string{"id", "title", "language", "updated", "text"}
			if title.Kind == "process" {
				tool, path, names = "get_process", "/processes/", []string{"id", "title", "parent", "steps", "documents"}
			}
			code, page := h.byPage(t, p, path+title.ID)
			got, result := h.byTool(t, p, tool, fmt.Sprintf(`{"id":%q}`, title.ID))
			if got != status[code] {
				t.Errorf("%s, %s %s: tool %s, page %d", p.ID, tool, title.ID, got, code)
			}
			if code != 200 {
				refused++
				if result != nil {
					t.Errorf("%s, %s %s: a refusal with content", p.ID, tool, title.ID)
				}
			} else if !reflect.DeepEqual(result, only(page, names...)) {
				t.Errorf("%s, %s %s:\ntool %v\npage %v", p.ID, tool, title.ID, result, page)
			}
		}
		for _, query := range []string{"pricing", "deposit", "kauce", "замки", "Akku", "school", "nothing-like-it"} {
			_, page := h.byPage(t, p, "/documents?query="+query)
			if got, result := h.byTool(t, p, "search_documents", fmt.Sprintf(`{"query":%q}`, query)); got != tools.StatusOK ||
				!reflect.DeepEqual(result, only(page["documents"], "id", "title", "language", "passage")) {
				t.Errorf("%s searches %s: %s %v", p.ID, query, got, result)
			}
		}
		_, page := h.byPage(t, p, "/processes")
		if _, result := h.byTool(t, p, "list_processes", `{}`); !reflect.DeepEqual(result, page["processes"]) {
			t.Errorf("%s: processes %v", p.ID, result)
		}
		_, page = h.byPage(t, p, "/changes")
		if _, result := h.byTool(t, p, "recent_changes", `{}`); !reflect.DeepEqual(result, page["changes"]) {
			t.Errorf("%s: changes %v", p.ID, result)
		}
	}
	if refused != 6 { // two unknown ids each, and two pages that bob may not see
		t.Errorf("%d refusals, want 6", refused)
	}
}

func TestWhatChangesTheWorldIsRefusedAndTheAppIsNotEvenAsked(t *testing.T) {
	h := newHouse(t)
	for _, p := range h.persons {
		if got, _ := h.byTool(t, p, "publish_room_message", `{"room_id":"room-1","text":"I will leave at eight."}`); got != tools.StatusConfirmationRequired {
			t.Errorf("%s publishes: %s", p.ID, got)
		}
		if got, _ := h.byTool(t, p, "publish_room_message", `{"room_id":"room-1","text":"   "}`); got != tools.StatusInvalid {
			t.Errorf("%s publishes nothing: %s", p.ID, got)
		}
		if got, _ := h.byTool(t, p, "delete_project", `{"project_id":"linden"}`); got != tools.StatusDenied {
			t.Errorf("%s deletes: %s", p.ID, got)
		}
	}
	if h.app.Published() != 0 || h.app.Deletions() != 0 {
		t.Fatalf("%d published, %d deleted", h.app.Published(), h.app.Deletions())
	}
}

func TestAStrangersTokenIsRefusedByTheAppItself(t *testing.T) {
	h := newHouse(t)
	mallory := tools.Person{ID: "mallory", Language: "en", Credential: tools.NewCredential("demo-mallory")}
	if got, result := h.byTool(t, mallory, "get_document", `{"id":"welcome"}`); got != tools.StatusDenied || result != nil {
		t.Fatalf("%s %v", got, result)
	}
}

func TestTheDemosCatalogue(t *testing.T) {
	c, err := demo.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"search_documents": "read", "get_document": "read", "list_processes": "read", "get_process": "read", "recent_changes": "read",
		"open_document": "screen", "show_process": "screen", "highlight_passage": "screen",
		"publish_room_message": "external", "delete_project": "sensitive",
	}
	if len(c.Entries()) != len(want) {
		t.Fatalf("%d tools", len(c.Entries()))
	}
	for _, e := range c.Entries() {
		if string(e.Class) != want[e.Name] {
			t.Errorf("%s is %s", e.Name, e.Class)
		}
	}
	voice, ok := c.Profile("voice")
	if !ok || len(voice) != 9 {
		t.Fatalf("the voice profile has %d tools", len(voice))
	}
	for _, e := range voice {
		if strings.HasPrefix(e.Name, "delete") {
			t.Errorf("%s is offered", e.Name)
		}
	}
}
