package execute

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hovor/tools"
	"hovor/tools/catalogue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const yaml = `version: 1
services: [app]
tools:
  - name: get
    class: read
    description: Get.
    parameters:
      type: object
      properties:
        id: {type: string}
        q: {type: string}
        n: {type: integer}
        all: {type: boolean}
      required: [id]
      additionalProperties: false
    http:
      service: app
      method: GET
      path: /things/{id}/parts
      query: {q: "{q}", n: "{n}", all: "{all}", fixed: "a b"}
      result: {pointer: /items, keep: [id, text]}
      max_bytes: 400
  - name: list
    class: read
    description: List.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: GET, path: /list}
  - name: publish
    class: external
    description: Publish.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: POST, path: /messages}
  - name: remove
    class: sensitive
    description: Remove.
    parameters: {type: object, properties: {}, additionalProperties: false}
    http: {service: app, method: DELETE, path: /all}
`

func entry(t *testing.T, name string) *catalogue.Entry {
	t.Helper()
	c, err := catalogue.Parse("test.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := c.Lookup(name)
	if !ok {
		t.Fatal("no such tool")
	}
	return e
}

// app starts a backend and an executor for it.
func app(t *testing.T, h http.HandlerFunc) *HTTP {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return executor(t, s.URL)
}

func executor(t *testing.T, base string) *HTTP {
	t.Helper()
	e, err := NewHTTP(Config{Services: map[string]string{"app": base}, MaxBody: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func run(t *testing.T, h *HTTP, name string, arguments map[string]any) tools.Outcome {
	t.Helper()
	return h.Execute(t.Context(), tools.Request{Entry: entry(t, name), Arguments: arguments, Credential: tools.NewCredential("mine")})
}

func jsonAnswer(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func TestTheRequestIsTheCataloguesWithThePersonsToken(t *testing.T) {
	var got []string
	h := app(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization"))
		jsonAnswer(200, `{"items":[{"id":"1","text":"a<b","more":2}],"rest":1}`)(w, r)
	})
	o := run(t, h, "get", map[string]any{"id": "a/b č?&#%2e", "q": "x&y=z #", "n": json.Number("7"), "all": false})
	if o.Status != tools.StatusOK || string(o.Result) != `[{"id":"1","text":"a<b"}]` || o.Cut != 0 {
		t.Fatalf("got %+v", o)
	}
	run(t, h, "get", map[string]any{"id": "1"})
	want := []string{
		"GET /things/a%2Fb%20%C4%8D%3F&%23%252e/parts?all=false&fixed=a+b&n=7&q=x%26y%3Dz+%23 Bearer mine",
		"GET /things/1/parts?fixed=a+b Bearer mine",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("sent %q", got)
	}
}

func TestAnArgumentNeverLeavesItsPlaceInThePath(t *testing.T) {
	var asked atomic.Int64
	h := app(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if !strings.HasPrefix(r.URL.EscapedPath(), "/things/") || !strings.HasSuffix(r.URL.EscapedPath(), "/parts") || strings.Count(r.URL.EscapedPath(), "/") != 3 {
			t.Errorf("the path became %s", r.URL.EscapedPath())
		}
		jsonAnswer(200, `{"items":[]}`)(w, r)
	})
	for _, id := range []string{"", ".", "..", "../all", "a/../../b", `..\all`, "a\x00b", "a\r\nHost: x", "a\u0085b"} {
		if o := run(t, h, "get", map[string]any{"id": id}); o.Status != tools.StatusInvalid || o.Detail != DetailArgument {
			t.Errorf("%q: %+v", id, o)
		}
	}
	if asked.Load() != 0 {
		t.Error("a refused argument reached the backend")
	}
	for _, id := range []string{"a/b", "...", "%2e%2e%2f", "http://example.org/", "?x", "#x", "a;b", "@x", "//example.org"} {
		if o := run(t, h, "get", map[string]any{"id": id}); o.Status != tools.StatusOK {
			t.Errorf("%q: %+v", id, o)
		}
	}
}

func TestAnAnswersStatusSaysWhatItProves(t *testing.T) {
	for code, want := range map[int]tools.Status{
		200: tools.StatusOK, 203: tools.StatusOK, 204: tools.StatusOK, 202: tools.StatusFailed, 206: tools.StatusFailed,
		301: tools.StatusFailed, 304: tools.StatusFailed,
		400: tools.StatusInvalid, 401: tools.StatusDenied, 403: tools.StatusDenied, 404: tools.StatusNotFound, 405: tools.StatusInvalid,
		408: tools.StatusFailed, 409: tools.StatusInvalid, 410: tools.StatusNotFound, 422: tools.StatusInvalid, 429: tools.StatusFailed,
		500: tools.StatusFailed, 502: tools.StatusFailed, 503: tools.StatusFailed, 504: tools.StatusFailed,
	} {
		h := app(t, jsonAnswer(code, `{"error":"text of the backend"}`))
		o := run(t, h, "list", nil)
		if o.Status != want {
			t.Errorf("%d: %+v, want %s", code, o, want)
		}
		if o.Status != tools.StatusOK && o.Result != nil {
			t.Errorf("%d: the backend's text is passed on: %s", code, o.Result)
		}
	}
}

func TestAnAnswerThatIsNotWhatTheCatalogueSaysIsAFailure(t *testing.T) {
	for _, c := range []struct{ name, kind, body, detail string }{
		{"HTML", "text/html", "<html>", DetailNotJSON},
		{"no type", "", "{}", DetailNotJSON},
		{"not JSON", "application/json", "{", DetailNotJSON},
		{"two values", "application/json", "{}{}", DetailNotJSON},
		{"mapped part missing", "application/json", `{"others":[]}`, DetailMapping},
		{"mapped part of a text", "application/json", `"items"`, DetailMapping},
		{"too large", "application/json", `{"items":"` + strings.Repeat("x", 70<<10) + `"}`, DetailTooLarge},
	} {
		h := app(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{c.kind}
			_, _ = io.WriteString(w, c.body)
		})
		if o := run(t, h, "get", map[string]any{"id": "1"}); o.Status != tools.StatusFailed || o.Detail != c.detail || o.Result != nil {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

func TestTheTokenNeverFollowsARedirectToAnotherOrigin(t *testing.T) {
	var leaked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked.Add(1)
		jsonAnswer(200, `[]`)(w, r)
	}))
	defer other.Close()
	_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
	for _, to := range []string{other.URL + "/list", "//127.0.0.1:" + port + "/list", "https://127.0.0.1:" + port + "/list", "http://localhost:" + port + "/"} {
		h := app(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		if o := run(t, h, "list", nil); o.Status != tools.StatusFailed || o.Detail != DetailRedirect {
			t.Errorf("%s: %+v", to, o)
		}
	}
	if leaked.Load() != 0 {
		t.Fatal("another origin was asked")
	}
	h := app(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/list" {
			http.Redirect(w, r, "/moved", http.StatusMovedPermanently)
			return
		}
		jsonAnswer(200, `"`+r.Header.Get("Authorization")+`"`)(w, r)
	})
	if o := run(t, h, "list", nil); string(o.Result) != `"Bearer mine"` {
		t.Errorf("within the origin: %+v", o)
	}
	h = app(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) })
	if o := run(t, h, "list", nil); o.Detail != DetailRedirect {
		t.Errorf("without end: %+v", o)
	}
}

func TestAReadThatWasLostOnTheWayIsAFailure(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String()
	_ = listener.Close()
	if o := run(t, executor(t, closed), "list", nil); o.Status != tools.StatusFailed || o.Detail != DetailUnreachable {
		t.Errorf("nobody there: %+v", o)
	}

	h := app(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := http.NewResponseController(w).Hijack()
		_ = c.Close()
	})
	if o := run(t, h, "list", nil); o.Status != tools.StatusFailed || o.Detail != DetailConnection {
		t.Errorf("cut before the answer: %+v", o)
	}

	h = app(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"items":`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	if o := run(t, h, "list", nil); o.Status != tools.StatusFailed || o.Result != nil {
		t.Errorf("cut inside the answer: %+v", o)
	}

	release := make(chan struct{})
	h = app(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	o := h.Execute(ctx, tools.Request{Entry: entry(t, "list"), Credential: tools.NewCredential("mine")})
	if o.Status != tools.StatusFailed || o.Detail != DetailTimeout {
		t.Errorf("no answer: %+v", o)
	}
	close(release)
}

func TestNothingButReadsIsEverSent(t *testing.T) {
	var asked atomic.Int64
	h := app(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for _, name := range []string{"publish", "remove"} {
		if o := run(t, h, name, nil); o.Status != tools.StatusDenied || o.Detail != DetailClass {
			t.Errorf("%s: %+v", name, o)
		}
	}
	mislabelled := *entry(t, "remove")
	mislabelled.Class = "read"
	if o := h.Execute(t.Context(), tools.Request{Entry: &mislabelled, Credential: tools.NewCredential("mine")}); o.Detail != DetailClass {
		t.Errorf("a DELETE labelled read: %+v", o)
	}
	if o := h.Execute(t.Context(), tools.Request{Entry: entry(t, "list")}); o.Status != tools.StatusDenied || o.Detail != DetailCredential {
		t.Errorf("without a credential: %+v", o)
	}
	if asked.Load() != 0 {
		t.Fatal("the backend was asked")
	}
}

func TestBaseURLsAreChecked(t *testing.T) {
	for _, bad := range []string{"", "app:8080", "ftp://app", "http://", "http://u:p@app", "http://app?x=1", "http://app#x", "http://app\x7f/"} {
		if _, err := NewHTTP(Config{Services: map[string]string{"app": bad}}); !errors.Is(err, ErrService) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if o := run(t, executor(t, "http://127.0.0.1:1/base/"), "list", nil); o.Status != tools.StatusFailed {
		t.Errorf("got %+v", o)
	}
	e, err := NewHTTP(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if o := run(t, e, "list", nil); o.Detail != DetailService {
		t.Errorf("no base URL: %+v", o)
	}
}

func TestABaseURLKeepsItsPath(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.RequestURI
		jsonAnswer(200, `[]`)(w, r)
	}))
	defer s.Close()
	if run(t, executor(t, s.URL+"/api/v2/"), "list", nil); got != "/api/v2/list" {
		t.Fatalf("asked for %s", got)
	}
}

// Two people's calls at once over one client: each arrives with its own token.
func TestPeoplesTokensAreNeverMixed(t *testing.T) {
	h := app(t, func(w http.ResponseWriter, r *http.Request) {
		jsonAnswer(200, fmt.Sprintf(`{"items":{"id":%q,"text":%q}}`, r.URL.Query().Get("q"), r.Header.Get("Authorization")))(w, r)
	})
	e := entry(t, "get")
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for i := range 30 {
				who := fmt.Sprintf("p%d-%d", worker, i)
				o := h.Execute(context.Background(), tools.Request{Entry: e, Credential: tools.NewCredential(who),
					Arguments: map[string]any{"id": "1", "q": who}})
				if want := fmt.Sprintf(`{"id":%q,"text":"Bearer %s"}`, who, who); string(o.Result) != want {
					t.Errorf("got %+v, want %s", o, want)
				}
			}
		})
	}
	all.Wait()
}
