package dialogue

import (
	"encoding/json"
	"slices"
	"strings"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/command"
	"hovor/gateway/provider/local/language"
)

const searchTool = "search_documents"

// maxQuery in characters is what a search may be asked for; more words than these find nothing better.
const maxQuery = 200

// search is why documents are searched, so that the hits can be answered with.
type search struct {
	query string
	then  command.Intent // is done with the document of this name; Unknown = nothing
	tell  bool           // say what the best hit says; false = list the titles
}

// choice is what a person was asked: which of the hits was meant.
type choice struct {
	then command.Intent
	hits []document
}

func (m *mind) find(t brain.Turn, s search) []brain.Step {
	if r := []rune(s.query); len(r) > maxQuery {
		s.query = strings.TrimSpace(string(r[:maxQuery]))
	}
	m.search = s
	return m.call(t, searchTool, object{"query": s.query})
}

// hits answers a search. Hits of another search than the awaited one are only listed.
func (m *mind) hits(t brain.Turn, o brain.Output, raw json.RawMessage) []brain.Step {
	var hits []document
	var args struct{ Query string }
	if json.Unmarshal(raw, &hits) != nil {
		return nil
	}
	_ = json.Unmarshal(o.Arguments, &args) // without a query the answer names none
	s := search{query: args.Query}
	if m.search.query == s.query {
		s, m.search = m.search, search{}
	}
	hits = hits[:min(len(hits), maxListed)]
	switch {
	case len(hits) == 0 && s.query == "":
		return m.say(t, "nothing_found")
	case len(hits) == 0:
		return m.say(t, "nothing_about", s.query)
	case s.then.Kind != command.Unknown:
		return m.pick(t, s.then, hits)
	case s.tell:
		return m.tell(t, s.query, hits)
	}
	return m.say(t, "hits", len(hits), titles(hits))
}

func titles(hits []document) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Title)
	}
	return strings.Join(out, ", ")
}

// pick acts on the hit that has the wanted name. When none has, or several do, it asks: a document that only mentions the
// words is not the one that was asked for.
func (m *mind) pick(t brain.Turn, in command.Intent, hits []document) []brain.Step {
	if named := m.named(in.Name, hits); len(named) == 1 {
		return m.proceed(t, in, named[0])
	} else if len(named) > 1 {
		hits = named
	}
	m.choice = choice{in, hits}
	if len(hits) == 1 {
		return m.say(t, "this_one", in.Name, hits[0].Title)
	}
	return m.say(t, "which_one", in.Name, titles(hits))
}

// choose takes the answer to the question which document was meant; nil when it is something else.
func (m *mind) choose(t brain.Turn, in command.Intent) []brain.Step {
	c := m.choice
	m.choice = choice{}
	switch {
	case len(c.hits) == 1 && in.Kind == command.Yes:
		return m.proceed(t, c.then, c.hits[0])
	case len(c.hits) == 0 || in.Kind != command.Unknown:
		return nil
	}
	if i := ordinal(t.Input.Text); i >= 0 && i < len(c.hits) {
		return m.proceed(t, c.then, c.hits[i])
	}
	for _, named := range [][]document{m.named(t.Input.Text, c.hits), m.within(t.Input.Text, c.hits)} {
		if len(named) == 1 {
			return m.proceed(t, c.then, named[0])
		}
	}
	return nil
}

// within are the hits that a longer text names: "I mean the deposit rules".
func (m *mind) within(text string, hits []document) (out []document) {
	for _, h := range hits {
		if slices.ContainsFunc(m.names(h), func(name string) bool {
			words := meaningful(name)
			return len(words) > 0 && common(words, text) == len(words)
		}) {
			out = append(out, h)
		}
	}
	return out
}

// named are the hits that are called so: the one whose title, id or spoken name it is, else those with all its words in one
// of these names.
func (m *mind) named(asked string, hits []document) (partly []document) {
	wanted := meaningful(asked)
	for _, h := range hits {
		for _, name := range m.names(h) {
			if command.Fold(name) == command.Fold(asked) {
				return []document{h}
			}
		}
		if slices.ContainsFunc(m.names(h), func(name string) bool { return len(wanted) > 0 && common(wanted, name) == len(wanted) }) {
			partly = append(partly, h)
		}
	}
	return partly
}

func (m *mind) names(d document) []string {
	names := []string{d.Title, d.ID}
	for _, n := range m.vocabulary.Documents {
		if n.ID == d.ID {
			names = append(names, n.Title, n.Heading())
		}
	}
	return names
}

// proceed does with a found document what was asked for by a title.
func (m *mind) proceed(t brain.Turn, in command.Intent, d document) []brain.Step {
	m.chosen = d
	switch in.Kind {
	case command.ReadDocument:
		return m.call(t, "get_document", object{"id": d.ID})
	case command.Highlight:
		return m.call(t, "highlight_passage", object{"id": d.ID, "text": in.Text})
	}
	return m.call(t, "open_document", object{"id": d.ID})
}

// tell says what the hit that has most of the words says about them; one that has none is only named.
func (m *mind) tell(t brain.Turn, query string, hits []document) []brain.Step {
	wanted := meaningful(query)
	best, text, most := document{}, "", -1
	for _, h := range hits {
		part := excerpt(wanted, h.Passage)
		if n := common(wanted, part+" "+h.Title); part != "" && n > most {
			best, text, most = h, part, n
		}
	}
	if text == "" {
		if !slices.ContainsFunc(hits, func(h document) bool { return common(wanted, h.Title) > 0 }) {
			return m.say(t, "nothing_about", query)
		}
		return m.say(t, "hits", len(hits), titles(hits))
	}
	if most == 0 {
		return m.say(t, "nearest", query, best.Title)
	}
	code := best.Language
	if !language.Known(code) {
		code = t.Language
	}
	return append(m.say(t, "says", best.Title), brain.Say{Text: text, Language: code})
}
