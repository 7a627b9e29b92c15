package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"hovor/tools"
	"hovor/tools/catalogue"
)

func TestAReadRunsOnceWithThePersonsOwnCredential(t *testing.T) {
	f := newService(t)
	r := f.do(t, alice, "call_1", "get_document", `{"id":"welcome","page":2}`)
	if r.Status != tools.StatusOK || r.Output != `{"status":"ok","result":{"run":1}}` || r.Class != "read" {
		t.Fatalf("got %+v", r)
	}
	f.do(t, bob, "call_1", "get_document", `"{\"id\":\"welcome\"}"`)
	want := []string{
		`get_document by alices-token with {"id":"welcome","page":2}`,
		`get_document by bobs-token with {"id":"welcome"}`,
	}
	if !slices.Equal(f.backend.ran, want) {
		t.Fatalf("ran %q", f.backend.ran)
	}
}

func TestOnlyReadsAndScreenToolsRun(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		want            tools.Status
		saying          catalogue.Saying
	}{
		{"get_salary", `{}`, tools.StatusConfirmationRequired, catalogue.SayConfirmation},
		{"set_style", `{}`, tools.StatusConfirmationRequired, catalogue.SayConfirmation},
		{"add_track", `{}`, tools.StatusConfirmationRequired, catalogue.SayConfirmation},
		{"publish", `{"text":"hello"}`, tools.StatusConfirmationRequired, catalogue.SayConfirmation},
		{"publish", `{"text":""}`, tools.StatusInvalid, catalogue.SayInvalid},
		{"delete_project", `{}`, tools.StatusDenied, catalogue.SayNeverByVoice},
		{"delete_project", `{"please":true}`, tools.StatusDenied, catalogue.SayNeverByVoice},
		{"guarded_read", `{}`, tools.StatusDenied, catalogue.SayNeverByVoice},
	} {
		f := newService(t)
		e, _ := testCatalogue(t).Lookup(c.tool)
		for i, p := range []tools.Person{alice, bob} {
			r := f.do(t, p, "call_1", c.tool, c.arguments)
			if r.Status != c.want || !strings.Contains(r.Output, e.Sentence([]string{"en", "cs"}[i], c.saying)) {
				t.Errorf("%s: %s", c.tool, r.Output)
			}
		}
		if f.backend.runs() != 0 || len(f.page.asked) != 0 {
			t.Errorf("%s was run", c.tool)
		}
	}
}

func TestNamesThatTheCatalogueDoesNotKnowAreRefused(t *testing.T) {
	f := newService(t)
	for i, name := range []string{"", "get_documents", "Get_document", "GET_DOCUMENT", " get_document", "get_document ", "get_document\n",
		"get_dоcument", "ｇｅｔ_ｄｏｃｕｍｅｎｔ", "get\u200b_document", "functions.get_document", "../get_document", strings.Repeat("a", 100_000)} {
		r := f.do(t, alice, "call_"+string(rune('a'+i)), name, `{"id":"welcome"}`)
		if r.Status != tools.StatusInvalid || r.Class != "" || !strings.Contains(r.Output, "There is no tool of that name") {
			t.Errorf("%q: %s", name, r.Output)
		}
		if name != "" && strings.Contains(r.Output, name) {
			t.Errorf("%q is repeated to the model", name)
		}
	}
	if f.backend.runs() != 0 {
		t.Fatal("something ran")
	}
}

// canary stands in every bad argument; no answer may repeat it.
const canary = "Canary4711"

func TestBadArgumentsAreNamedInThePersonsLanguageAndNeverRepeated(t *testing.T) {
	deep := strings.Repeat(`[`, 20) + strings.Repeat(`]`, 20)
	for _, c := range []struct{ name, arguments, en, cs string }{
		{"not JSON", `{` + canary, "The arguments are not JSON.", "Argumenty nejsou JSON."},
		{"two values", `{"id":"a"}{"id":"` + canary + `"}`, "not JSON", "nejsou JSON"},
		{"an array", `["` + canary + `"]`, "must be a JSON object", "musí být objekt JSON"},
		{"null", `null`, "must be a JSON object", "musí být objekt JSON"},
		{"a string in a string", `"\"` + canary + `\""`, "must be a JSON object", "musí být objekt JSON"},
		{"duplicate known key", `{"id":"` + canary + `","id":"b"}`, `have \"id\" twice`, `mají \"id\" dvakrát`},
		{"duplicate by escape", `{"id":"` + canary + `","\u0069d":"b"}`, `have \"id\" twice`, `mají \"id\" dvakrát`},
		{"duplicate unknown key", `{"` + canary + `":1,"` + canary + `":2}`, "have a key twice", "jeden klíč dvakrát"},
		{"extra key", `{"id":"a","` + canary + `":1}`, "takes only: id, page", "bere jen: id, page"},
		{"key in another case", `{"ID":"` + canary + `"}`, `differs from \"id\" only`, `od \"id\" liší`},
		{"key in another case beside the right one", `{"id":"a","Id":"` + canary + `"}`, `differs from \"id\" only`, `od \"id\" liší`},
		{"key with a Cyrillic letter", `{"іd":"` + canary + `"}`, `differs from \"id\" only`, `od \"id\" liší`},
		{"full-width key", `{"ｉｄ":"` + canary + `"}`, `differs from \"id\" only`, `od \"id\" liší`},
		{"key with an invisible letter", `{"i\u200bd":"` + canary + `"}`, `differs from \"id\" only`, `od \"id\" liší`},
		{"missing", `{"page":1}`, `lack \"id\"`, `chybí \"id\"`},
		{"wrong type", `{"id":["` + canary + `"]}`, `\"id\" must be of type string`, `\"id\" musí být typu string`},
		{"null value", `{"id":null}`, `\"id\" must be of type string`, `\"id\" musí být typu string`},
		{"too short", `{"id":""}`, `\"id\" is shorter than 1`, `\"id\" je kratší než 1`},
		{"too long", `{"id":"` + canary + strings.Repeat("x", 20) + `"}`, `\"id\" is longer than 20`, `\"id\" je delší než 20`},
		{"fraction", `{"id":"a","page":1.5}`, `\"page\" must be of type integer`, `\"page\" musí být typu integer`},
		{"2^53", `{"id":"a","page":9007199254740992}`, "beyond 2^53 - 1", "větší než 2^53 - 1"},
		{"2^53 + 1", `{"id":"a","page":9007199254740993}`, "beyond 2^53 - 1", "větší než 2^53 - 1"},
		{"1e400", `{"id":"a","page":1e400}`, "beyond 2^53 - 1", "větší než 2^53 - 1"},
		{"too deep", `{"id":` + deep + `}`, "deeper than 16", "hlouběji než 16"},
		{"too long altogether", `{"id":"` + strings.Repeat(canary, 7000) + `"}`, "longer than 65536 bytes", "delší než 65536 bajtů"},
		{"broken UTF-8", "{\"id\":\"\xff" + canary + `"}`, "broken Unicode", "poškozený Unicode"},
		{"half a surrogate pair", `{"id":"\ud800` + canary + `"}`, "broken Unicode", "poškozený Unicode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newService(t)
			for i, want := range []string{c.en, c.cs} {
				r := f.do(t, []tools.Person{alice, bob}[i], "call_1", "get_document", c.arguments)
				if r.Status != tools.StatusInvalid || !strings.Contains(r.Output, want) {
					t.Errorf("want %q in %s", want, r.Output)
				}
				if strings.Contains(r.Output, canary) || strings.Contains(r.Output, "%") {
					t.Errorf("the answer repeats the model or prints a verb: %s", r.Output)
				}
			}
			if f.backend.runs() != 0 {
				t.Error("the tool ran")
			}
		})
	}
}

func TestAToolWithoutParametersTakesNone(t *testing.T) {
	f := newService(t)
	for i, arguments := range []string{"", "{}", ` {} `, `""`, `"{}"`} {
		if r := f.do(t, alice, "call_"+string(rune('a'+i)), "list_all", arguments); r.Status != tools.StatusOK {
			t.Errorf("%q: %s", arguments, r.Output)
		}
	}
	if r := f.do(t, alice, "call_x", "list_all", `{"id":1}`); !strings.Contains(r.Output, "takes no arguments") {
		t.Errorf("got %s", r.Output)
	}
}

func TestTheLanguageOfTheConversationComesBeforeThePersons(t *testing.T) {
	f := newService(t)
	for language, want := range map[string]string{"": "Nástroj", "de": "Werkzeug", "ru-RU": "Инструмента", "fr": "There is no tool"} {
		r, err := f.Do(t.Context(), bob, tools.Call{CallID: "call_" + language, Name: "nothing", Language: language})
		if err != nil || !strings.Contains(r.Output, want) {
			t.Errorf("%q: %v %v", language, r, err)
		}
	}
}

func TestCallsThatCannotBeRecordedAreErrors(t *testing.T) {
	f := newService(t)
	for _, c := range []struct {
		name   string
		person tools.Person
		call   tools.Call
		want   error
	}{
		{"nobody", tools.Person{}, tools.Call{CallID: "a"}, tools.ErrPerson},
		{"no call id", alice, tools.Call{}, tools.ErrCallID},
		{"long call id", alice, tools.Call{CallID: strings.Repeat("a", 33)}, tools.ErrCallID},
		{"call id with a slash", alice, tools.Call{CallID: "a/b"}, tools.ErrCallID},
		{"call id with a line end", alice, tools.Call{CallID: "a\n"}, tools.ErrCallID},
		{"another person's session", bob, tools.Call{CallID: "a", Session: "sess-a"}, tools.ErrSession},
		{"made-up session", alice, tools.Call{CallID: "a", Session: "sess-x"}, tools.ErrSession},
	} {
		if r, err := f.Do(t.Context(), c.person, c.call); r != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", c.name, r, err)
		}
	}
}

func TestABackendThatPanicsFailsItsCallAndNoOther(t *testing.T) {
	f := newService(t)
	f.backend.answer = func(context.Context, tools.Request) tools.Outcome { panic("secret of the call") }
	if r := f.do(t, alice, "call_1", "list_all", ""); r.Status != tools.StatusFailed || strings.Contains(r.Output, "secret") {
		t.Fatalf("got %s", r.Output)
	}
	f.backend.answer = nil
	if r := f.do(t, alice, "call_1", "list_all", ""); r.Status != tools.StatusFailed {
		t.Fatalf("the record changed: %s", r.Output)
	}
	if r := f.do(t, alice, "call_2", "list_all", ""); r.Status != tools.StatusOK {
		t.Fatalf("got %s", r.Output)
	}
}

func TestABackendCannotInventAStatusOrBreakTheOutput(t *testing.T) {
	for _, o := range []tools.Outcome{
		{Status: "done", Result: json.RawMessage(`1`)},
		{},
		{Status: tools.StatusPending},
		{Status: tools.StatusUncertain},
		{Status: tools.StatusConfirmationRequired},
		{Status: tools.StatusOK, Result: json.RawMessage(`{"cut`)},
	} {
		f := newService(t)
		f.backend.answer = func(context.Context, tools.Request) tools.Outcome { return o }
		if r := f.do(t, alice, "call_1", "list_all", ""); !strings.Contains(r.Output, `{"status":"failed"`) {
			t.Errorf("%+v: %s", o, r.Output)
		}
	}
}

func TestAShortenedResultSaysSo(t *testing.T) {
	f := newService(t)
	f.backend.answer = func(context.Context, tools.Request) tools.Outcome {
		return tools.Outcome{Status: tools.StatusOK, Result: json.RawMessage(`"ab…[cut]"`), Cut: 900}
	}
	want := `{"status":"ok","result":"ab…[cut]","truncated":{"kept_bytes":12,"whole_bytes":900},"message":"The result was shortened. Ask for less to get all of it."}`
	if r := f.do(t, alice, "call_1", "list_all", ""); r.Output != want {
		t.Fatalf("got %s", r.Output)
	}
}

func TestTheObserverCountsEachCallOnceAndNeverAMadeUpName(t *testing.T) {
	seen := &counter{}
	f := newService(t, func(c *tools.Config) { c.Observer = seen })
	f.do(t, alice, "a", "list_all", "")
	f.do(t, alice, "a", "list_all", "")
	f.do(t, alice, "b", "made_up_"+canary, "")
	f.do(t, alice, "c", "delete_project", "")
	want := map[string]int{"list_all read ok": 1, "unknown unknown invalid": 1, "delete_project sensitive denied": 1}
	if len(seen.all) != len(want) {
		t.Fatalf("got %v", seen.all)
	}
	for k, n := range want {
		if seen.all[k] != n {
			t.Fatalf("got %v", seen.all)
		}
	}
}

func TestDefinitionsAreWhatAModelIsTold(t *testing.T) {
	f := newService(t)
	d := f.Definitions(alice, "voice")
	if len(d) != 4 || d[0].Name != "get_document" || d[0].Type != "function" {
		t.Fatalf("got %+v", d)
	}
	text, _ := json.Marshal(d[1])
	if string(text) != `{"type":"function","name":"list_all","description":"List.","parameters":{"type":"object","properties":{},"additionalProperties":false}}` {
		t.Fatalf("got %s", text)
	}
	if f.Definitions(alice, "nothing") != nil {
		t.Fatal("an unknown profile offers something")
	}
}

func TestAServiceNeedsWhatItsCatalogueNeeds(t *testing.T) {
	if _, err := tools.New(tools.Config{}); !errors.Is(err, tools.ErrConfig) {
		t.Fatalf("no catalogue: %v", err)
	}
	if _, err := tools.New(tools.Config{Catalogue: testCatalogue(t)}); !errors.Is(err, tools.ErrConfig) {
		t.Fatalf("no executor: %v", err)
	}
	s, err := tools.New(tools.Config{Catalogue: testCatalogue(t), HTTP: &backend{}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Do(t.Context(), alice, tools.Call{CallID: "a", Name: "open_document", Arguments: json.RawMessage(`{"id":"x"}`)})
	if err != nil || r.Status != tools.StatusFailed || !strings.Contains(r.Output, "No page is connected") || r.Session != "person:alice" {
		t.Fatalf("no page: %+v %v", r, err)
	}
}
