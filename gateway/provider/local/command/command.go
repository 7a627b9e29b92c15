package command

import (
	"slices"
	"strings"
)

// Kind is what a person wants.
type Kind string

// Kinds of command.
const (
	Unknown       Kind = ""
	Greet         Kind = "greet"
	OpenDocument  Kind = "open_document"
	ReadDocument  Kind = "read_document"
	ShowProcess   Kind = "show_process"
	Highlight     Kind = "highlight"
	Search        Kind = "search"
	ListProcesses Kind = "list_processes"
	Changes       Kind = "recent_changes"
	Yes           Kind = "yes"
	No            Kind = "no"
	Stop          Kind = "stop"
	Wait          Kind = "wait"
	Thanks        Kind = "thanks"
	Goodbye       Kind = "goodbye"
	Story         Kind = "story"
	Publish       Kind = "publish"
	DeleteProject Kind = "delete_project"
	Interview     Kind = "interview"
	Help          Kind = "help"
)

// Intent is one understood sentence.
type Intent struct {
	Kind Kind
	// Name is the object's title as known or, when it is not known, as it was said. ID is empty when it is not known.
	ID, Name string
	Text     string // Search: the query. Highlight: the passage. Publish: the message
}

// Named is something with a title and an id.
type Named struct {
	ID, Title string
	Written   string // the title as it is written, where Title is a way to say it; "" = Title is
	English   bool   // Title can be spoken in English
}

// Heading is the title as it is written.
func (n Named) Heading() string {
	if n.Written != "" {
		return n.Written
	}
	return n.Title
}

// Vocabulary is what the templates' slots can hold when they are spoken.
type Vocabulary struct {
	Documents, Processes      []Named
	Topics, Phrases, Messages []string
}

// maxSentence in bytes: what is longer is a story, not a command.
const maxSentence = 600

// Parse reads a sentence in the language ("en", "cs", "de", "ru"); a sentence that is no command is Unknown.
// Titles that the vocabulary does not hold are accepted and left without an id.
func (v Vocabulary) Parse(language, text string) Intent {
	if len(text) > maxSentence {
		return Intent{}
	}
	tokens := strings.Fields(Fold(text))
	if len(tokens) == 0 || len(tokens) > 60 {
		return Intent{}
	}
	// Names that are known win over longer ones that are not: "lies … welcome vor" is about "welcome".
	for _, accept := range []func(slot, text string) bool{v.known, func(string, string) bool { return true }} {
		for _, t := range grammar[language] {
			slots := map[string]string{}
			if match(t.nodes, tokens, accept, slots) {
				return v.intent(t.kind, slots, text)
			}
		}
	}
	return Intent{}
}

// known accepts a document or process only by a name of the vocabulary, and any other text.
func (v Vocabulary) known(slot, text string) bool {
	var list []Named
	switch slot {
	case "document":
		list = v.Documents
	case "process":
		list = v.Processes
	default:
		return true
	}
	id, _ := find(list, text)
	return id != ""
}

func (v Vocabulary) intent(k Kind, slots map[string]string, text string) Intent {
	in := Intent{Kind: k}
	for slot, list := range map[string][]Named{"document": v.Documents, "process": v.Processes} {
		if s, ok := slots[slot]; ok {
			if in.ID, in.Name = find(list, s); in.ID == "" {
				in.Name = strings.Trim(original(text, s), " .,:;!?…\"„“”«»")
			}
		}
	}
	for _, slot := range []string{"topic", "phrase", "message"} {
		if s, ok := slots[slot]; ok {
			in.Text = original(text, s)
		}
	}
	return in
}

// find resolves a folded name.
func find(list []Named, folded string) (id, name string) {
	for _, n := range list {
		for _, form := range forms(n) {
			if form == folded {
				return n.ID, n.Title
			}
		}
	}
	return "", folded
}

// forms are the folded ways to say a name: the title, the title with its numbers in words, the title without a trailing
// number, the same of the title as it is written, and the id.
func forms(n Named) []string {
	var out []string
	for _, title := range unique([]string{Fold(n.Title), Fold(n.Heading())}) {
		out = append(out, title)
		if w := numbersInWords(title); w != title {
			out = append(out, w)
		}
		if short := withoutNumber(title); short != title && short != "" {
			out = append(out, short)
		}
	}
	if n.ID != "" {
		out = append(out, Fold(n.ID))
	}
	return out
}

func withoutNumber(title string) string {
	words := strings.Fields(title)
	for len(words) > 0 && isNumber(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}

func isNumber(word string) bool {
	return strings.Trim(word, "0123456789") == "" || slices.Contains(small, word) || slices.Contains(tens, word) ||
		word == "hundred" || word == "thousand"
}

// original finds a folded passage in the text it came from, so that case, accents and punctuation are kept.
func original(text, folded string) string {
	for start := range text {
		if start > 0 && !strings.ContainsRune(" \t\n\"'(„“«", rune(text[start-1])) {
			continue
		}
		rest := text[start:]
		if !strings.HasPrefix(Fold(rest), folded) {
			continue
		}
		for end := len(rest); end > 0; end-- {
			if Fold(rest[:end]) == folded && (end == len(rest) || strings.IndexByte(" \t\n", rest[end]) >= 0) {
				return strings.Trim(rest[:end], " \t\n\"„“«»")
			}
		}
	}
	return folded
}
