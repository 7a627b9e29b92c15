package dialogue

import (
	"encoding/json"
	"strings"
	"testing"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/command"
)

var everyTool = []string{"search_documents", "get_document", "list_processes", "get_process", "recent_changes", "open_document",
	"show_process", "highlight_passage", "publish_room_message", "delete_project"}

var demo = command.Vocabulary{
	Documents: []command.Named{{ID: "welcome", Title: "welcome", English: true}, {ID: "pricing-2019", Title: "pricing twenty nineteen", English: true}},
	Processes: []command.Named{{ID: "month-end", Title: "month end", English: true}},
}

func typed(language, text string) brain.Turn {
	return brain.Turn{Language: language, Tools: everyTool, Input: brain.Input{Kind: brain.InputTyped, Text: text}}
}

func returned(language, name, arguments, output string) brain.Turn {
	return brain.Turn{Language: language, Tools: everyTool, Input: brain.Input{Kind: brain.InputOutputs,
		Outputs: []brain.Output{{Name: name, Arguments: json.RawMessage(arguments), Output: output}}}}
}

// told joins what is said, and names the calls.
func told(steps []brain.Step) string {
	var out []string
	for _, s := range steps {
		switch s := s.(type) {
		case brain.Say:
			out = append(out, s.Text)
		case brain.Call:
			out = append(out, s.Name+string(s.Arguments))
		}
	}
	return strings.Join(out, " ")
}

func TestToolsAreToldTheirPlace(t *testing.T) {
	m := New(demo, Place{Room: "kitchen", Project: "willow"}).Mind()
	for text, want := range map[string]string{
		"publish a message Lunch is ready": `publish_room_message{"room_id":"kitchen","text":"Lunch is ready"}`,
		"delete the project":               `delete_project{"project_id":"willow"}`,
	} {
		if got := told(m.Respond(typed("en", text))); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestCommandsBecomeToolCalls(t *testing.T) {
	for text, want := range map[string]string{
		"open the document welcome":             `open_document{"id":"welcome"}`,
		"read me the document pricing":          `get_document{"id":"pricing-2019"}`,
		"show me the process month end":         `show_process{"id":"month-end"}`,
		"highlight nineteen in welcome":         `highlight_passage{"id":"welcome","text":"nineteen"}`,
		"search the documents for deposit":      `search_documents{"query":"deposit"}`,
		"list the processes":                    `list_processes{}`,
		"what changed recently":                 `recent_changes{}`,
		"publish a message Lunch is ready":      `publish_room_message{"room_id":"room-1","text":"Lunch is ready"}`,
		"delete the project":                    `delete_project{"project_id":"linden"}`,
		"open the document about winter":        `search_documents{"query":"about winter"}`,
		"show the process something nobody has": `show_process{"id":"something-nobody-has"}`,
	} {
		if got := told(New(demo, Place{}).Mind().Respond(typed("en", text))); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestATitleThatIsNotKnownIsSearchedForAndThenOpened(t *testing.T) {
	m := New(demo, Place{}).Mind()
	if got := told(m.Respond(typed("cs", "Otevři dokument kauce"))); got != `search_documents{"query":"kauce"}` {
		t.Fatalf("got %s", got)
	}
	hits := `{"status":"ok","result":[{"id":"deposit-rules","title":"Jak funguje kauce"}]}`
	if got := told(m.Respond(returned("cs", "search_documents", `{"query":"kauce"}`, hits))); got != `open_document{"id":"deposit-rules"}` {
		t.Fatalf("got %s", got)
	}
	if got := told(m.Respond(returned("cs", "search_documents", `{"query":"kauce"}`, hits))); !strings.Contains(got, "Jak funguje kauce") || strings.Contains(got, "{") {
		t.Errorf("a search of its own is told, not acted on: %s", got)
	}
}

// Nothing is said to be done, open or found unless the tool's output says so.
func TestOnlyTheToolsOutputEstablishesAnything(t *testing.T) {
	for _, c := range []struct{ name, output, want string }{
		{"open_document", `{"status":"ok","result":{"outcome":"found"}}`, "The document welcome is open on your screen."},
		{"open_document", `{"status":"pending","message":"I do not know yet whether the page has opened it."}`, "I do not know yet whether the page has opened it."},
		{"open_document", `{"status":"pending"}`, "I do not know yet whether that worked."},
		{"open_document", `{"status":"not_found","message":"The page has no such document that you can open."}`, "The page has no such document that you can open."},
		{"open_document", `{"status":"ok","result":{"outcome":"lost"}}`, "The tool answered, without details."},
		{"get_document", `{"status":"denied"}`, "You are not allowed to do that. Nothing has been done."},
		{"get_document", `{"status":"ok","result":"{\"id\":\"welc…[cut]","message":"The result was shortened."}`, "The result was shortened."},
		{"publish_room_message", `{"status":"confirmation_required","message":"Nothing has been published."}`, "Nothing has been published."},
		{"delete_project", `{"status":"denied","message":"A project is never deleted by voice."}`, "A project is never deleted by voice."},
		{"publish_room_message", `{"status":"uncertain"}`, "It may or may not have been done. Please check."},
		{"publish_room_message", `{"status":"a_new_one"}`, "The tool's answer says nothing that I could tell you."},
		{"open_document", `not json`, "The tool's answer says nothing that I could tell you."},
		{"open_document", `{"done":true}`, "The tool's answer says nothing that I could tell you."},
	} {
		if got := told(New(demo, Place{}).Mind().Respond(returned("en", c.name, `{"id":"welcome"}`, c.output))); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.name, c.output, got, c.want)
		}
	}
}

func TestADocumentIsReadInItsOwnLanguage(t *testing.T) {
	steps := New(demo, Place{}).Mind().Respond(returned("en", "get_document", `{"id":"x"}`, `{"status":"ok","result":{"id":"x","title":"Jak funguje kauce","language":"cs","text":"Kauce je tisíc korun."}}`))
	if len(steps) != 2 || steps[1] != (brain.Say{Text: "Kauce je tisíc korun.", Language: "cs"}) {
		t.Errorf("got %+v", steps)
	}
}

func TestResultsArePutIntoWords(t *testing.T) {
	for _, c := range []struct{ name, result, want string }{
		{"list_processes", `[{"id":"a","title":"Reserve"},{"id":"b","title":"Return"}]`, "There are 2 processes: Reserve, Return."},
		{"get_process", `{"id":"a","title":"Reserve","steps":["Pick a bike.","Hold it."]}`, "Reserve. Pick a bike. Hold it."},
		{"recent_changes", `[{"by":"Mark","what":"Added a page."}]`, "These are the latest changes. Mark: Added a page."},
		{"search_documents", `[]`, "I found nothing."},
		{"some_other_tool", `{"x":1}`, "The tool answered, without details."},
	} {
		if got := told(New(demo, Place{}).Mind().Respond(returned("en", c.name, "{}", `{"status":"ok","result":`+c.result+`}`))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAToolThatTheSessionLacksIsNotCalled(t *testing.T) {
	turn := typed("en", "open the document welcome")
	turn.Tools = nil
	if got := told(New(demo, Place{}).Mind().Respond(turn)); got != "I cannot do that here." {
		t.Errorf("got %s", got)
	}
}

func TestSpeechThatWasNotUnderstoodIsSaidSo(t *testing.T) {
	for _, c := range []struct {
		in   brain.Input
		want string
	}{
		{brain.Input{Kind: brain.InputSpoken}, "I did not understand that. You can say, for example: open the document welcome."},
		{brain.Input{Kind: brain.InputSpoken, Silent: true}, "I heard nothing."},
	} {
		if got := told(New(demo, Place{}).Mind().Respond(brain.Turn{Language: "en", Input: c.in})); got != c.want {
			t.Errorf("got %s", got)
		}
	}
}

func TestEveryPhraseExistsInEveryLanguageWithTheSameBlanks(t *testing.T) {
	for key, english := range phrases["en"] {
		for _, code := range []string{"cs", "de", "ru"} {
			text, ok := phrases[code][key]
			if !ok || strings.Count(text, "%") != strings.Count(english, "%") {
				t.Errorf("%s: %q does not match %q", code, text, english)
			}
		}
	}
	for code, list := range interview {
		if len(list) != len(interview["en"]) {
			t.Errorf("%s asks %d questions", code, len(list))
		}
	}
}

func TestTheStoryIsLongEnoughToBeInterrupted(t *testing.T) {
	for code := range phrases {
		if n := len(strings.Fields(phrases[code]["story"])); n < 90 {
			t.Errorf("the story in %s has %d words", code, n)
		}
	}
}

// A page may name its buttons as it likes, so no phrase speaks of one.
func TestNoPhraseNamesAButton(t *testing.T) {
	for code, list := range phrases {
		for key, text := range list {
			for _, word := range []string{"connect", "button", "press ", "tlačítk", "stiskn", "taste", "knopf", "verbinden", "кнопк", "нажм"} {
				if strings.Contains(strings.ToLower(text), word) {
					t.Errorf("%s %s speaks of %q", code, key, word)
				}
			}
		}
	}
}
