package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hovor/tools"
	"hovor/tools/catalogue"
)

// yaml is a catalogue with one tool of every kind that the service treats differently.
const yaml = `version: 1
services: [app]
tools:
  - name: get_document
    class: read
    description: Read a document.
    parameters:
      type: object
      properties:
        id: {type: string, minLength: 1, maxLength: 20}
        page: {type: integer}
      required: [id]
      additionalProperties: false
    http: {service: app, method: GET, path: "/documents/{id}", query: {page: "{page}"}}
  - name: list_all
    class: read
    description: List.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: GET, path: /all}
  - name: get_salary
    class: read_sensitive
    description: Read a salary.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: GET, path: /salary}
  - name: open_document
    class: screen
    description: Open a document.
    parameters: {type: object, properties: {id: {type: string}}, required: [id], additionalProperties: false}
    screen: true
  - name: set_style
    class: local
    description: Set a style.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: PUT, path: /style}
  - name: add_track
    class: shared
    description: Add a track.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: POST, path: /tracks}
  - name: publish
    class: external
    description: Publish.
    parameters: {type: object, properties: {text: {type: string, minLength: 1}}, required: [text], additionalProperties: false}
    http: {service: app, method: POST, path: /messages, body: {text: "{text}"}}
  - name: delete_project
    class: sensitive
    description: Delete.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: DELETE, path: /project}
  - name: guarded_read
    class: read
    ceiling: never_by_voice
    description: Read what is never read by voice.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: GET, path: /guarded}
profiles:
  voice: [get_document, list_all, open_document, publish]
`

func testCatalogue(t *testing.T) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.Parse("test.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	alice = tools.Person{ID: "alice", Name: "Alice", Language: "en", Credential: tools.NewCredential("alices-token")}
	bob   = tools.Person{ID: "bob", Name: "Bob", Language: "cs", Credential: tools.NewCredential("bobs-token")}
)

// backend is an executor that remembers what it was asked to run.
type backend struct {
	mu     sync.Mutex
	ran    []string // "tool by token with arguments"
	answer func(ctx context.Context, r tools.Request) tools.Outcome
}

func (b *backend) Execute(ctx context.Context, r tools.Request) tools.Outcome {
	arguments, _ := json.Marshal(r.Arguments)
	b.mu.Lock()
	b.ran = append(b.ran, fmt.Sprintf("%s by %s with %s", r.Entry.Name, r.Credential.Reveal(), arguments))
	n := len(b.ran)
	b.mu.Unlock()
	if b.answer != nil {
		return b.answer(ctx, r)
	}
	return tools.Outcome{Status: tools.StatusOK, Result: json.RawMessage(fmt.Sprintf(`{"run":%d}`, n))}
}

func (b *backend) runs() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ran)
}

// live is a session port over a fixed table of live calls: session id to person id.
type live map[string]string

func (l live) Session(p tools.Person, asked string) (string, string, error) {
	if asked == "" {
		return "scope-" + p.ID, "", nil
	}
	if l[asked] != p.ID {
		return "", "", tools.ErrSession
	}
	return asked, "", nil
}

// page is a screen port that keeps what it was asked to show.
type page struct {
	mu     sync.Mutex
	asked  []tools.ScreenRequest
	err    error
	onShow func(tools.ScreenRequest)
}

func (p *page) Screen(_ string, r tools.ScreenRequest) error {
	p.mu.Lock()
	p.asked = append(p.asked, r)
	err, onShow := p.err, p.onShow
	p.mu.Unlock()
	if onShow != nil {
		onShow(r)
	}
	return err
}

func (p *page) last() tools.ScreenRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) == 0 {
		return tools.ScreenRequest{}
	}
	return p.asked[len(p.asked)-1]
}

// counter is an observer.
type counter struct {
	mu  sync.Mutex
	all map[string]int // "name class status"
}

func (c *counter) ToolCall(r *tools.Result, name, class string, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]int{}
	}
	c.all[name+" "+class+" "+string(r.Status)]++
}

type fixture struct {
	*tools.Service
	backend *backend
	page    *page
}

func newService(t *testing.T, change ...func(*tools.Config)) *fixture {
	t.Helper()
	f := &fixture{backend: &backend{}, page: &page{}}
	cfg := tools.Config{
		Catalogue: testCatalogue(t), HTTP: f.backend, Screen: f.page,
		Sessions: live{"sess-a": "alice", "sess-a2": "alice", "sess-b": "bob"},
	}
	for _, c := range change {
		c(&cfg)
	}
	s, err := tools.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.Service = s
	return f
}

func (f *fixture) do(t *testing.T, p tools.Person, callID, name, arguments string) *tools.Result {
	t.Helper()
	r, err := f.Do(t.Context(), p, tools.Call{CallID: callID, Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	checkOutput(t, r)
	return r
}

// checkOutput holds every output to its form: status first, never a result without ok, never a claim without words.
func checkOutput(t *testing.T, r *tools.Result) {
	t.Helper()
	var out struct {
		Status  tools.Status    `json:"status"`
		Result  json.RawMessage `json:"result"`
		Message string          `json:"message"`
	}
	if err := json.Unmarshal([]byte(r.Output), &out); err != nil {
		t.Fatalf("output is not JSON: %s", r.Output)
	}
	switch {
	case out.Status != r.Status:
		t.Fatalf("status %s, output says %s", r.Status, out.Status)
	case r.Status == tools.StatusOK && out.Result == nil:
		t.Fatalf("ok without a result: %s", r.Output)
	case r.Status != tools.StatusOK && (out.Result != nil || out.Message == ""):
		t.Fatalf("%s with a result or without a sentence: %s", r.Status, r.Output)
	case !strings.HasPrefix(r.Output, `{"status":"`) || strings.ContainsAny(r.Output, "\n\r"):
		t.Fatalf("output is not compact: %s", r.Output)
	case !strings.HasPrefix(r.Receipt, "rcpt_") || len(r.Receipt) > 32:
		t.Fatalf("receipt %q", r.Receipt)
	}
}
