package tools_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hovor/tools"
)

// signIn knows alice and bob by their tokens.
func signIn(r *http.Request) (tools.Person, error) {
	switch r.Header.Get("Authorization") {
	case "Bearer alices-token":
		return alice, nil
	case "Bearer bobs-token":
		return bob, nil
	}
	return tools.Person{}, errors.New("unknown token: " + r.Header.Get("Authorization"))
}

type reply struct {
	code   int
	header http.Header
	body   string
	CallID string `json:"call_id"`
	Status string `json:"status"`
	Output string `json:"output"`
	Error  struct{ Type, Code, Message, Param string }
}

func post(t *testing.T, h http.Handler, method, path, token, body string) reply {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Result().Body)
	out := reply{code: w.Code, header: w.Header(), body: string(text)}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s %s: not JSON: %s", method, path, text)
	}
	return out
}

func TestTheEndpointRunsACallAsTheSignedInPerson(t *testing.T) {
	f := newService(t)
	h := tools.NewHandler(f.Service, signIn, tools.HandlerConfig{})
	r := post(t, h, "POST", "/v1/tools/calls", "alices-token", `{"call_id":"call_1","name":"get_document","arguments":{"id":"a"},"session":"sess-a"}`)
	if r.code != 200 || r.CallID != "call_1" || r.Status != "ok" || r.Output != `{"status":"ok","result":{"run":1}}` {
		t.Fatalf("got %d %s", r.code, r.body)
	}
	var members map[string]any
	_ = json.Unmarshal([]byte(r.body), &members)
	if len(members) != 4 || members["receipt"] == "" {
		t.Fatalf("the answer has other members than call_id, status, output, receipt: %s", r.body)
	}
	if out, ok := f.RecordedOutput("sess-a", "call_1"); !ok || out != r.Output {
		t.Fatalf("recorded %q", out)
	}
	if r := post(t, h, "POST", "/v1/tools/calls", "bobs-token", `{"call_id":"call_1","name":"nothing"}`); r.code != 200 || r.Status != "invalid" {
		t.Fatalf("got %d %s", r.code, r.body)
	}
	if f.backend.ran[0] != `get_document by alices-token with {"id":"a"}` {
		t.Fatalf("ran %q", f.backend.ran)
	}
}

func TestRequestsThatCannotBeTakenHaveOneClearError(t *testing.T) {
	f := newService(t)
	h := tools.NewHandler(f.Service, signIn, tools.HandlerConfig{MaxBody: 2000})
	const calls = "/v1/tools/calls"
	for _, c := range []struct {
		name, method, path, token, body string
		code                            int
		error, param                    string
	}{
		{"no credentials", "POST", calls, "", `{}`, 401, "not_signed_in", ""},
		{"unknown token", "POST", calls, canary, `{}`, 401, "not_signed_in", ""},
		{"list without credentials", "GET", "/v1/tools", "", ``, 401, "not_signed_in", ""},
		{"outcome without credentials", "POST", calls + "/a/outcome", "", `{}`, 401, "not_signed_in", ""},
		{"wrong method", "GET", calls, "alices-token", ``, 405, "method_not_allowed", ""},
		{"no body", "POST", calls, "alices-token", ``, 400, "invalid_json", ""},
		{"not JSON", "POST", calls, "alices-token", canary, 400, "invalid_json", ""},
		{"an array", "POST", calls, "alices-token", `[]`, 400, "invalid_json", ""},
		{"two values", "POST", calls, "alices-token", `{} {}`, 400, "invalid_json", ""},
		{"duplicate key", "POST", calls, "alices-token", `{"call_id":"a","call_id":"b"}`, 400, "invalid_json", ""},
		{"unknown key", "POST", calls, "alices-token", `{"call_id":"a","name":"b","` + canary + `":1}`, 400, "unknown_parameter", ""},
		{"key in another case", "POST", calls, "alices-token", `{"Call_ID":"a","name":"b"}`, 400, "unknown_parameter", ""},
		{"no name", "POST", calls, "alices-token", `{"call_id":"a"}`, 400, "missing_parameter", "name"},
		{"call id is no text", "POST", calls, "alices-token", `{"call_id":1,"name":"b"}`, 400, "invalid_parameter", "call_id"},
		{"call id too long", "POST", calls, "alices-token", `{"call_id":"` + strings.Repeat("a", 33) + `","name":"b"}`, 400, "invalid_call_id", "call_id"},
		{"another person's session", "POST", calls, "bobs-token", `{"call_id":"a","name":"list_all","session":"sess-a"}`, 404, "session_not_found", "session"},
		{"too large", "POST", calls, "alices-token", `{"call_id":"a","name":"` + strings.Repeat("b", 3000) + `"}`, 413, "body_too_large", ""},
		{"made-up outcome", "POST", calls + "/a/outcome", "alices-token", `{"request_id":"x","outcome":"` + canary + `"}`, 400, "invalid_outcome", "outcome"},
		{"unknown request", "POST", calls + "/a/outcome", "alices-token", `{"request_id":"` + canary + `","outcome":"found"}`, 404, "request_not_found", "request_id"},
		{"nowhere", "POST", "/v1/tools/call", "alices-token", `{}`, 404, "not_found", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := post(t, h, c.method, c.path, c.token, c.body)
			if r.code != c.code || r.Error.Code != c.error || r.Error.Param != c.param || r.Error.Type == "" || r.Error.Message == "" {
				t.Fatalf("got %d %s", r.code, r.body)
			}
			if strings.Contains(r.body, canary) {
				t.Fatalf("the error repeats the request: %s", r.body)
			}
			if r.code == 401 && r.header.Get("WWW-Authenticate") == "" {
				t.Error("401 without a challenge")
			}
		})
	}
	if f.backend.runs() != 0 {
		t.Fatal("something ran")
	}
}

func TestAnEndedSessionIsGone(t *testing.T) {
	f := newService(t)
	h := tools.NewHandler(f.Service, signIn, tools.HandlerConfig{})
	f.EndSession("sess-a")
	r := post(t, h, "POST", "/v1/tools/calls", "alices-token", `{"call_id":"a","name":"list_all","session":"sess-a"}`)
	if r.code != 410 || r.Error.Code != "session_ended" {
		t.Fatalf("got %d %s", r.code, r.body)
	}
}

func TestThePageReportsOverHTTPAndALateReportIsAConflict(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		h := tools.NewHandler(f.Service, signIn, tools.HandlerConfig{})
		s := f.open(t, "call_1")
		body := `{"request_id":"` + s.request.RequestID + `","outcome":"found"}`
		if r := post(t, h, "POST", "/v1/tools/calls/call_1/outcome", "bobs-token", body); r.code != 404 {
			t.Fatalf("bob: %d %s", r.code, r.body)
		}
		if r := post(t, h, "POST", "/v1/tools/calls/call_1/outcome", "alices-token", body); r.code != 200 || r.CallID != "call_1" {
			t.Fatalf("alice: %d %s", r.code, r.body)
		}
		if r := s.wait(t); r.Status != tools.StatusOK {
			t.Fatal(r.Output)
		}
		other := strings.Replace(body, `"found"`, `"not_found"`, 1)
		if r := post(t, h, "POST", "/v1/tools/calls/call_1/outcome", "alices-token", other); r.code != 409 || r.Error.Code != "outcome_already_counted" {
			t.Fatalf("another report: %d %s", r.code, r.body)
		}
		late := f.open(t, "call_2")
		time.Sleep(7 * time.Second)
		late.wait(t)
		body = `{"request_id":"` + late.request.RequestID + `","outcome":"found"}`
		if r := post(t, h, "POST", "/v1/tools/calls/call_2/outcome", "alices-token", body); r.code != 409 || r.Error.Code != "outcome_too_late" {
			t.Fatalf("late: %d %s", r.code, r.body)
		}
	})
}

func TestTheListIsReadyForASessionAndMarksItsEstimate(t *testing.T) {
	f := newService(t)
	w := post(t, tools.NewHandler(f.Service, signIn, tools.HandlerConfig{}), "GET", "/v1/tools", "alices-token", "")
	var list struct {
		Profile string
		Tools   []map[string]any
		Effects map[string]struct{ Class, Ceiling string }
		Tokens  struct {
			Count     int
			Estimated bool
		}
	}
	if err := json.Unmarshal([]byte(w.body), &list); err != nil {
		t.Fatal(err)
	}
	if list.Profile != "voice" || len(list.Tools) != 4 || !list.Tokens.Estimated || list.Tokens.Count < 50 {
		t.Fatalf("got %s", w.body)
	}
	for _, tool := range list.Tools {
		if len(tool) != 4 || tool["type"] != "function" { // what a strict provider would refuse must not be in here
			t.Errorf("definition %v", tool)
		}
	}
	if list.Effects["publish"].Class != "external" || list.Effects["publish"].Ceiling != "voice" {
		t.Errorf("effects %v", list.Effects)
	}
	if strings.Contains(w.body, "delete_project") {
		t.Error("what is never done by voice is offered")
	}
}
