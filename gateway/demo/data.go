package demo

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hovor/tools/catalogue"
)

//go:embed catalogue.yaml
var catalogueText []byte

//go:embed content.yaml
var contentText []byte

// Catalogue returns the embedded catalogue of the demo's tools. Its one service is named "demo"; its profile "voice".
func Catalogue() (*catalogue.Catalogue, error) {
	return catalogue.Parse("gateway/demo/catalogue.yaml", catalogueText)
}

// document is one page of knowledge. Its text is its passages with an empty line between them.
type document struct {
	ID       string
	Title    string
	Language string
	Updated  time.Time
	Only     []string // person ids; empty = everybody
	Spoken   []string
	Phrases  []string // of the text, easy to say
	Passages []string
}

type process struct {
	ID        string
	Parent    string
	Title     string
	Only      []string
	Spoken    []string
	Steps     []string
	Documents []string
}

type change struct {
	At   time.Time
	By   string
	Kind string // "document" or "process"
	ID   string
	What string
}

type content struct {
	Documents []document
	Processes []process
	Changes   []change
}

// load reads the embedded content. It is part of the program, so a mistake in it is a programming error.
func load() content {
	d := yaml.NewDecoder(bytes.NewReader(contentText))
	d.KnownFields(true)
	var c content
	if err := d.Decode(&c); err != nil {
		panic(fmt.Sprintf("gateway/demo/content.yaml: %v", err))
	}
	return c
}

func (d document) text() string { return strings.Join(d.Passages, "\n\n") }

// Title is how a document or a process can be named aloud.
type Title struct {
	ID       string
	Kind     string   // "document" or "process"
	Language string   // of the text
	Title    string   // as written
	Spoken   []string // English phrases, lower case, words only: "pricing twenty nineteen"
}

// Phrases returns passages that stand word for word in a document and are easy to say, so that they can be highlighted
// by voice.
func Phrases() []string {
	var out []string
	for _, d := range load().Documents {
		out = append(out, d.Phrases...)
	}
	return out
}

// Titles returns every document and process, whoever may see them, for a speech grammar. It opens nothing: what a person
// may see is decided where it is asked for.
func Titles() []Title {
	c := load()
	out := make([]Title, 0, len(c.Documents)+len(c.Processes))
	for _, d := range c.Documents {
		out = append(out, Title{ID: d.ID, Kind: "document", Language: d.Language, Title: d.Title, Spoken: d.Spoken})
	}
	for _, p := range c.Processes {
		out = append(out, Title{ID: p.ID, Kind: "process", Language: "en", Title: p.Title, Spoken: p.Spoken})
	}
	return out
}
