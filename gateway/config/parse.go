package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ErrInvalid is what every refused configuration wraps.
var ErrInvalid = errors.New("configuration refused")

// Problem is one thing wrong with a file, said so that a person can mend it.
type Problem struct {
	File string
	Line int    // 0 when the value stands nowhere in the file
	Key  string // path such as assistants[0].provider
	What string // what is wrong, with the value unless it is a secret
	Fix  string // what to write instead
}

func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	s := at + ": "
	if p.Key != "" {
		s += p.Key + ": "
	}
	s += p.What
	if p.Fix != "" {
		s += "; " + p.Fix
	}
	return s
}

// Problems is every problem of a file, in the order of its lines.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.Is(err, ErrInvalid) true.
func (Problems) Unwrap() error { return ErrInvalid }

// Load reads a file over the defaults and validates it. The error is Problems, or that the file cannot be read.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(path, data)
}

// Parse is Load for bytes that stand in the named file.
func Parse(file string, data []byte) (*Config, error) {
	c := Default()
	c.file, c.lines = file, map[string]int{}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, Problems{{File: file, What: strings.TrimPrefix(err.Error(), "yaml: "), Fix: "mend the YAML"}}
	}
	if len(doc.Content) == 0 {
		return nil, Problems{{File: file, What: "the file is empty", Fix: "start from the quickstart: `hovor check --print-quickstart`"}}
	}
	w := walker{c: c}
	w.walk(doc.Content[0], reflect.ValueOf(c).Elem(), "")
	ps := append(w.problems, c.Validate()...)
	if len(ps) > 0 {
		sort.SliceStable(ps, func(i, j int) bool { return ps[i].Line < ps[j].Line })
		return nil, ps
	}
	return c, nil
}

// walker fills a struct from a YAML tree and notes every key it does not know and every value of the wrong kind.
type walker struct {
	c        *Config
	problems Problems
}

func (w *walker) note(n *yaml.Node, key, what, fix string) {
	w.problems = append(w.problems, Problem{File: w.c.file, Line: n.Line, Key: key, What: what, Fix: fix})
}

func (w *walker) walk(n *yaml.Node, v reflect.Value, path string) {
	w.c.lines[path] = n.Line
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case v.Kind() == reflect.Struct:
		w.mapping(n, v, path)
	case v.Kind() == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			w.note(n, path, "must be a list", "write it as [a, b] or as lines that begin with -")
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			w.walk(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		if err := n.Decode(v.Addr().Interface()); err != nil {
			w.note(n, path, "must be "+kind(v), "")
		}
	}
}

func (w *walker) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		w.note(n, path, "must be a mapping of keys to values", "")
		return
	}
	fields := map[string]int{}
	var names []string
	for i := range v.NumField() {
		if tag := v.Type().Field(i).Tag.Get("yaml"); tag != "" {
			fields[tag] = i
			names = append(names, tag)
		}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		f, known := fields[key.Value]
		switch {
		case !known:
			w.note(key, at, "no such key", suggest(key.Value, names))
		case seen[key.Value]:
			w.note(key, at, "the key stands here twice", "keep one of them")
		default:
			seen[key.Value] = true
			w.walk(value, v.Field(f), at)
		}
	}
}

func kind(v reflect.Value) string {
	switch v.Interface().(type) {
	case Duration:
		return "a duration such as 15s or 10m"
	}
	switch v.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	}
	return "text"
}

// suggest names the nearest known key, or all of them.
func suggest(word string, names []string) string {
	best, at := "", 4
	for _, n := range names {
		if d := distance(word, n); d < at {
			best, at = n, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known here: " + strings.Join(names, ", ")
}

// distance is the Levenshtein distance of two short words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
