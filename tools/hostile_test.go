package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hovor/tools"
)

// A model that emits anything in any order, from several goroutines at once: nothing but declared reads with arguments
// that fit ever runs, each at most once per call id, and a recorded output never changes.
func TestAHostileModelRunsNothingButDeclaredReads(t *testing.T) {
	f := newService(t, func(c *tools.Config) {
		c.Sessions = live{"sess-a": "alice", "sess-b": "bob"}
		c.Limits = tools.Limits{SessionCalls: 100_000, SessionBytes: 1 << 30, SessionIDs: 100_000}
	})
	f.page.err = tools.ErrNoPage
	names := []string{"get_document", "list_all", "get_salary", "open_document", "set_style", "add_track", "publish", "delete_project",
		"guarded_read", "Get_document", "get_dоcument", "commit", "", "functions.publish", "publish;delete_project"}
	arguments := []string{`{"id":"a"}`, `{"id":"a","id":"b"}`, `{"ID":"a"}`, `{"id":"a","page":9007199254740993}`, `{}`, ``, `{`, `[]`, `null`,
		`"{\"id\":\"a\"}"`, `{"text":"x"}`, `{"id":"../../x"}`, strings.Repeat(`{"id":`, 30), `{"id":"a","ticket":"t"}`, `{"id":"b"}`}
	var mu sync.Mutex
	recorded := map[string]string{}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(worker), 7))
			for range 2500 {
				p, session := alice, "sess-a"
				if rng.IntN(2) == 0 {
					p, session = bob, "sess-b"
				}
				c := tools.Call{CallID: fmt.Sprintf("call_%d", rng.IntN(600)), Session: session,
					Name: names[rng.IntN(len(names))], Arguments: json.RawMessage(arguments[rng.IntN(len(arguments))])}
				if rng.IntN(20) == 0 {
					c.Session = map[string]string{"sess-a": "sess-b", "sess-b": "sess-a"}[session]
				}
				r, err := f.Do(context.Background(), p, c)
				if err != nil {
					if c.Session == session || !errors.Is(err, tools.ErrSession) {
						t.Errorf("%v", err)
					}
					continue
				}
				if c.Session != session {
					t.Error("a call reached another person's session")
				}
				key := session + "/" + c.CallID
				out, ok := f.RecordedOutput(session, c.CallID)
				mu.Lock()
				if before, seen := recorded[key]; ok && seen && before != out {
					t.Errorf("the record of %s changed from %s to %s", key, before, out)
				}
				if ok {
					recorded[key] = out
				}
				mu.Unlock()
				if r.Status == tools.StatusOK && out != r.Output {
					t.Errorf("a success was not the recorded one: %s, %s", r.Output, out)
				}
			}
		})
	}
	all.Wait()
	allowed := map[string]bool{}
	for _, token := range []string{"alices-token", "bobs-token"} {
		for _, call := range []string{`get_document by %s with {"id":"a"}`, `get_document by %s with {"id":"b"}`,
			`get_document by %s with {"id":"../../x"}`, `list_all by %s with {}`} {
			allowed[fmt.Sprintf(call, token)] = true
		}
	}
	for _, ran := range f.backend.ran {
		if !allowed[ran] {
			t.Fatalf("outside the catalogue: %s", ran)
		}
	}
	if n := len(f.backend.ran); n == 0 || n > 2*600 {
		t.Fatalf("%d executions for 1200 call ids", n)
	}
}

// Nothing that a person's page, a model or a backend says reaches a log line, an error or an answer's error text.
func TestNoCredentialAndNoArgumentReachesALogOrAnError(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 100, AddSource: true}))
	f := newService(t, func(c *tools.Config) { c.Logger = logger })
	secret := tools.Person{ID: "alice", Name: "Alice", Language: "en", Credential: tools.NewCredential("token" + canary)}
	h := tools.NewHandler(f.Service, func(r *http.Request) (tools.Person, error) {
		if strings.HasSuffix(r.Header.Get("Authorization"), "bad") {
			return tools.Person{}, errors.New("bad token token" + canary)
		}
		return secret, nil
	}, tools.HandlerConfig{Logger: logger})
	outcomes := []tools.Outcome{
		{Status: tools.StatusOK, Result: json.RawMessage(`"` + canary + `"`)},
		{Status: tools.StatusFailed, Detail: "timeout"},
		{Status: tools.Status(canary)},
	}
	var answers strings.Builder
	n := 0
	for _, o := range outcomes {
		f.backend.answer = func(context.Context, tools.Request) tools.Outcome { return o }
		for _, name := range []string{"get_document", "publish", "delete_project", "open_document", canary} {
			for _, arguments := range []string{`{"id":"` + canary + `"}`, `{"text":"` + canary + `"}`, `{"` + canary + `":1}`, `"` + canary, `{"id":["` + canary + `"]}`} {
				n++
				f.page.err = fmt.Errorf("no way to show %s: %w", canary, tools.ErrNoPage)
				r := post(t, h, "POST", "/v1/tools/calls", "token"+canary, fmt.Sprintf(`{"call_id":"c%d","name":%q,"arguments":%s}`, n, name, arguments))
				if o.Status != tools.StatusOK || r.Status != "ok" {
					answers.WriteString(r.body)
				}
			}
		}
	}
	f.backend.answer = func(context.Context, tools.Request) tools.Outcome { panic(canary) }
	answers.WriteString(post(t, h, "POST", "/v1/tools/calls", "x", `{"call_id":"p","name":"list_all"}`).body)
	answers.WriteString(post(t, h, "POST", "/v1/tools/calls", "bad", `{"call_id":"p","name":"list_all"}`).body)
	answers.WriteString(post(t, h, "POST", "/v1/tools/calls/"+canary+"/outcome", "x", `{"request_id":"`+canary+`","outcome":"found"}`).body)
	broken := newService(t, func(c *tools.Config) {
		c.Logger = logger
		c.Sessions = sessionFunc(func(p tools.Person, _ string) (string, string, error) {
			return "", "", fmt.Errorf("database said %s to %v", canary, p)
		})
	})
	h = tools.NewHandler(broken.Service, signIn, tools.HandlerConfig{Logger: logger})
	answers.WriteString(post(t, h, "POST", "/v1/tools/calls", "alices-token", `{"call_id":"p","name":"list_all"}`).body)
	if !strings.Contains(log.String(), `"tool call"`) || !strings.Contains(log.String(), "panicked") {
		t.Fatalf("the log is not on: %s", log.String())
	}
	if strings.Contains(log.String(), canary) {
		t.Errorf("in the log:\n%s", grep(log.String()))
	}
	if strings.Contains(answers.String(), canary) {
		t.Errorf("in an answer:\n%s", grep(answers.String()))
	}
}

func grep(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, canary) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}
