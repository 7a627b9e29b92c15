package command

import (
	"fmt"
	"sort"
	"strings"
)

// template is one compiled line.
type template struct {
	kind   Kind
	nodes  []node
	spoken bool // part of the recognizer's grammar
}

var grammar, grammarErr = compile()

func compile() (map[string][]template, error) {
	out := map[string][]template{}
	for language, lines := range templates {
		for _, l := range lines {
			nodes, err := parseTemplate(l.text)
			if err != nil {
				return nil, err
			}
			out[language] = append(out[language], template{l.kind, nodes, l.spoken})
		}
	}
	return out, nil
}

// JSGF writes the English spoken grammar, with one public rule, and lists the words that need a pronunciation.
// A name whose words pronounceable refuses is left out and reported in skipped.
func (v Vocabulary) JSGF(pronounceable func(word string) bool) (text string, words, skipped []string) {
	seen := map[string]bool{}
	usable := func(phrase string) bool {
		for _, w := range strings.Fields(phrase) {
			if !pronounceable(w) {
				return false
			}
		}
		return phrase != ""
	}
	rules := map[string][]string{}
	add := func(slot, title string, phrases ...string) {
		have := false
		for _, p := range phrases {
			if usable(p) {
				rules[slot] = append(rules[slot], p)
				have = true
			}
		}
		if !have {
			skipped = append(skipped, title)
		}
	}
	for slot, list := range map[string][]Named{"document": v.Documents, "process": v.Processes} {
		for _, n := range list {
			if n.English {
				add(slot, n.Title, spokenForms(n)...)
			}
		}
	}
	for slot, list := range map[string][]string{"topic": v.Topics, "phrase": v.Phrases, "message": v.Messages} {
		for _, s := range list {
			add(slot, s, numbersInWords(Fold(s)))
		}
	}
	var b strings.Builder
	b.WriteString("#JSGF V1.0;\ngrammar command;\n")
	var public []string
	for _, t := range grammar["en"] {
		var line strings.Builder
		if t.spoken && jsgf(t.nodes, func(slot string) bool { return len(rules[slot]) > 0 }, &line) {
			public = append(public, line.String())
		}
	}
	fmt.Fprintf(&b, "public <utterance> = %s;\n", strings.Join(public, "\n | "))
	for _, slot := range []string{"document", "process", "topic", "phrase", "message"} {
		if len(rules[slot]) > 0 {
			fmt.Fprintf(&b, "<%s> = %s;\n", slot, strings.Join(unique(rules[slot]), " | "))
		}
	}
	text = b.String()
	for _, w := range strings.FieldsFunc(text[strings.Index(text, "public"):], func(r rune) bool { return !(r >= 'a' && r <= 'z') && r != '<' && r != '>' }) {
		if !strings.ContainsAny(w, "<>") && w != "public" && !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	sort.Strings(words)
	return text, words, skipped
}

// spokenForms are the forms without digits.
func spokenForms(n Named) []string {
	var out []string
	for _, f := range forms(Named{Title: n.Title}) {
		if !strings.ContainsAny(f, "0123456789") {
			out = append(out, f)
		}
	}
	return out
}

func unique(in []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
