package dialogue

import (
	"encoding/json"
	"fmt"
	"strings"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/language"
)

// toolOutput is the form in which tools answer: a status of a closed set, a sentence that may be said, and a result.
type toolOutput struct {
	Status  string          `json:"status"`
	Message string          `json:"message"`
	Result  json.RawMessage `json:"result"`
}

const (
	maxListed  = 5
	maxChanges = 3
)

// outcome says what a tool's output establishes, and nothing beyond it.
func (m *mind) outcome(t brain.Turn, o brain.Output) []brain.Step {
	var out toolOutput
	if json.Unmarshal([]byte(o.Output), &out) != nil || out.Status == "" {
		return m.say(t, "unclear")
	}
	if out.Status != "ok" {
		m.search = search{}
		if out.Message != "" {
			return m.sentence(t, out.Message)
		}
		if _, ok := phrases[t.Language][out.Status]; ok {
			return m.say(t, out.Status)
		}
		return m.say(t, "unclear")
	}
	steps := m.result(t, o, out)
	if steps == nil {
		if out.Message != "" {
			return m.sentence(t, out.Message)
		}
		return m.say(t, "ok")
	}
	return steps
}

// sentence says a sentence that a tool gave, in the language it is written in.
func (m *mind) sentence(t brain.Turn, text string) []brain.Step {
	code := language.Detect(text)
	if code == "" {
		code = t.Language
	}
	return []brain.Step{brain.Say{Text: text, Language: code}}
}

// result puts the result of one of the known tools into words; nil when it has a form that is not known.
func (m *mind) result(t brain.Turn, o brain.Output, out toolOutput) []brain.Step {
	switch o.Name {
	case "search_documents":
		return m.hits(t, o, out.Result)
	case "get_document":
		return m.read(t, out.Result)
	case "open_document", "show_process", "highlight_passage":
		return m.screen(t, o, out.Result)
	case "list_processes":
		return m.processes(t, out.Result)
	case "get_process":
		return m.process(t, out.Result)
	case "recent_changes":
		return m.changes(t, out.Result)
	}
	return nil
}

type document struct {
	ID, Title, Language, Passage, Text string
}

func (m *mind) read(t brain.Turn, raw json.RawMessage) []brain.Step {
	var d document
	if json.Unmarshal(raw, &d) != nil || d.Text == "" {
		return nil
	}
	code := d.Language
	if !language.Known(code) {
		code = t.Language
	}
	var steps []brain.Step
	if d.Title != "" {
		steps = append(steps, brain.Say{Text: d.Title + ".", Language: code})
	}
	return append(steps, brain.Say{Text: d.Text, Language: code})
}

// screen says what the page confirmed.
func (m *mind) screen(t brain.Turn, o brain.Output, raw json.RawMessage) []brain.Step {
	var r struct{ Outcome string }
	var args struct{ ID string }
	if json.Unmarshal(raw, &r) != nil || r.Outcome != "found" || json.Unmarshal(o.Arguments, &args) != nil {
		return nil
	}
	list := m.vocabulary.Documents
	if o.Name == "show_process" {
		list = m.vocabulary.Processes
	}
	title := args.ID
	if m.chosen.ID == args.ID && m.chosen.Title != "" {
		title = m.chosen.Title
	}
	for _, n := range list {
		if n.ID == args.ID {
			title = n.Heading()
			break
		}
	}
	return m.say(t, o.Name, title)
}

func (m *mind) processes(t brain.Turn, raw json.RawMessage) []brain.Step {
	var list []struct{ Title, Parent string }
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var titles []string
	for _, p := range list {
		titles = append(titles, p.Title)
	}
	if len(titles) == 0 {
		return m.say(t, "nothing_found")
	}
	return m.say(t, "processes", len(titles), strings.Join(titles, ", "))
}

func (m *mind) process(t brain.Turn, raw json.RawMessage) []brain.Step {
	var p struct {
		Title string
		Steps []string
	}
	if json.Unmarshal(raw, &p) != nil || p.Title == "" {
		return nil
	}
	return []brain.Step{brain.Say{Text: p.Title + ". " + strings.Join(p.Steps, " "), Language: t.Language}}
}

func (m *mind) changes(t brain.Turn, raw json.RawMessage) []brain.Step {
	var list []struct{ By, What string }
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	if len(list) == 0 {
		return m.say(t, "nothing_found")
	}
	steps := m.say(t, "changes")
	for _, c := range list[:min(len(list), maxChanges)] {
		steps = append(steps, m.sentence(t, fmt.Sprintf("%s: %s", c.By, c.What))...)
	}
	return steps
}
