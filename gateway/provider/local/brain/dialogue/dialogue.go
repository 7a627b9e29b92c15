package dialogue

import (
	"encoding/json"
	"fmt"
	"strings"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/command"
	"hovor/gateway/provider/local/language"
)

// New makes the brain for a vocabulary, the names that people may say, and a place.
func New(v command.Vocabulary, p Place) brain.Brain {
	if p.Room == "" {
		p.Room = DefaultRoom
	}
	if p.Project == "" {
		p.Project = DefaultProject
	}
	return &dialogue{v, p}
}

// Place is where a conversation happens: what nobody names, because it is plain, and tools want to be told.
type Place struct {
	Room    string // id of the message room; "" = DefaultRoom
	Project string // id of the project; "" = DefaultProject
}

// The place of the demo app.
const (
	DefaultRoom    = "room-1"
	DefaultProject = "linden"
)

type dialogue struct {
	vocabulary command.Vocabulary
	place      Place
}

// Mind implements brain.Brain.
func (d *dialogue) Mind() brain.Mind {
	return &mind{vocabulary: d.vocabulary, place: d.place, question: -1}
}

type mind struct {
	vocabulary command.Vocabulary
	place      Place
	greeted    bool
	question   int      // of the interview that was asked last; -1 = none yet
	search     search   // whose hits are awaited
	choice     choice   // which document was meant is asked
	chosen     document // was found by a search and is acted on
}

// Respond implements brain.Mind.
func (m *mind) Respond(t brain.Turn) []brain.Step {
	if _, ok := phrases[t.Language]; !ok {
		t.Language = language.English
	}
	say := func(key string, args ...any) []brain.Step { return m.say(t, key, args...) }
	switch t.Input.Kind {
	case brain.InputOutputs:
		var steps []brain.Step
		for _, o := range t.Input.Outputs {
			steps = append(steps, m.outcome(t, o)...)
		}
		return steps
	case brain.InputSpoken:
		switch {
		case t.Input.Silent:
			return say("silence")
		case t.Input.Text == "":
			return say("not_understood", m.example())
		}
		return m.act(t, m.vocabulary.Parse(language.English, t.Input.Text))
	case brain.InputTyped:
		return m.act(t, m.parse(t))
	}
	if m.greeted {
		return say("listening")
	}
	m.greeted = true
	return say("greet")
}

// parse reads typed text in the language it was detected to be in, else in any.
func (m *mind) parse(t brain.Turn) command.Intent {
	for _, code := range []string{t.Language, language.English, language.Czech, language.German, language.Russian} {
		if in := m.vocabulary.Parse(code, t.Input.Text); in.Kind != command.Unknown {
			return in
		}
	}
	return command.Intent{}
}

// example is a document title that can be asked for.
func (m *mind) example() string {
	for _, d := range m.vocabulary.Documents {
		if d.English {
			return d.Title
		}
	}
	return "welcome"
}

func (m *mind) say(t brain.Turn, key string, args ...any) []brain.Step {
	text := phrases[t.Language][key]
	if len(args) > 0 {
		text = fmt.Sprintf(text, args...)
	}
	return []brain.Step{brain.Say{Text: text, Language: t.Language}}
}

// plain are the commands that need no tool, and what is said to them.
var plain = map[command.Kind]string{
	command.Yes: "yes", command.No: "no", command.Stop: "stop", command.Wait: "wait", command.Thanks: "thanks",
	command.Goodbye: "goodbye", command.Story: "story", command.Help: "help",
}

func (m *mind) act(t brain.Turn, in command.Intent) []brain.Step {
	m.search = search{} // what is said now replaces what was awaited
	if steps := m.choose(t, in); steps != nil {
		return steps
	}
	if key, ok := plain[in.Kind]; ok {
		return m.say(t, key)
	}
	switch in.Kind {
	case command.Greet:
		m.greeted = true
		return m.say(t, "greet")
	case command.Interview:
		m.question = -1
		return m.ask(t, "")
	case command.OpenDocument:
		return m.onDocument(t, in, "open_document", object{"id": in.ID})
	case command.ReadDocument:
		return m.onDocument(t, in, "get_document", object{"id": in.ID})
	case command.Highlight:
		return m.onDocument(t, in, "highlight_passage", object{"id": in.ID, "text": in.Text})
	case command.ShowProcess:
		if in.ID == "" {
			in.ID = slug(in.Name)
		}
		return m.call(t, "show_process", object{"id": in.ID})
	case command.Search:
		return m.find(t, search{query: in.Text})
	case command.ListProcesses:
		return m.call(t, "list_processes", object{})
	case command.Changes:
		return m.call(t, "recent_changes", object{})
	case command.Publish:
		return m.call(t, "publish_room_message", object{"room_id": m.place.Room, "text": in.Text})
	case command.DeleteProject:
		return m.call(t, "delete_project", object{"project_id": m.place.Project})
	}
	return m.free(t, t.Input.Text)
}

// free takes words that are no command: an answer to the interviewer's question and the telling of something lead on through
// the interview; a question and loose words are looked up.
func (m *mind) free(t brain.Turn, text string) []brain.Step {
	lookup := asks(t.Language, text) || m.question < 0 && !tells(text)
	if !lookup {
		return m.ask(t, text)
	}
	subject := subject(t.Language, text)
	switch {
	case subject == "":
		return m.say(t, "help")
	case !t.Has(searchTool):
		return m.say(t, "no_search")
	}
	return m.find(t, search{query: subject, tell: true})
}

type object map[string]string

func (m *mind) call(t brain.Turn, name string, arguments object) []brain.Step {
	if !t.Has(name) {
		return m.say(t, "no_tool")
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return m.say(t, "no_tool")
	}
	return []brain.Step{brain.Call{Name: name, Arguments: raw}}
}

// onDocument calls a tool on a document; one whose id is not known is searched for first.
func (m *mind) onDocument(t brain.Turn, in command.Intent, name string, arguments object) []brain.Step {
	if in.ID != "" || !t.Has(searchTool) {
		if in.ID == "" {
			arguments["id"] = slug(in.Name)
		}
		return m.call(t, name, arguments)
	}
	return m.find(t, search{query: in.Name, then: in})
}

// ask is the interviewer: it takes a free answer and asks the next question.
func (m *mind) ask(t brain.Turn, answer string) []brain.Step {
	questions := interview[t.Language]
	m.question++
	var text []string
	if answer != "" {
		text = append(text, phrases[t.Language]["noted"])
	}
	if m.question < len(questions) {
		text = append(text, questions[m.question])
	} else {
		m.question = -1
		text = append(text, phrases[t.Language]["asked"])
	}
	return []brain.Step{brain.Say{Text: strings.Join(text, " "), Language: t.Language}}
}

// slug guesses an id from a title, for tools that then say what they know of it.
func slug(title string) string { return strings.ReplaceAll(command.Fold(title), " ", "-") }
