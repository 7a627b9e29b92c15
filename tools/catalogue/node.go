package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader walks YAML nodes and collects what is wrong with them.
type reader struct {
	file     string
	tool     string // the entry being read
	problems []Problem
}

func (r *reader) add(n *yaml.Node, fix, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		File: r.file, Line: max(n.Line, 1), Tool: r.tool, Message: fmt.Sprintf(format, args...), Fix: fix,
	})
}

// fields reads the mapping n. Each key must be one of known; the values come back by key. A key that stands twice, a
// merge key and an alias are problems: what a reviewer reads in one place must be all there is.
func (r *reader) fields(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	r.each(n, what, func(key, value *yaml.Node) {
		if !slices.Contains(known, key.Value) {
			r.add(key, suggest(key.Value, known), "%s has no key %q", what, key.Value)
			return
		}
		out[key.Value] = value
	})
	return out
}

// each calls f for every pair of the mapping n, once per key.
func (r *reader) each(n *yaml.Node, what string, f func(key, value *yaml.Node)) {
	if n == nil || !r.is(n, yaml.MappingNode, what, "a mapping") {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
			r.add(key, "write the key as plain text, in quotes if it looks like a number", "%s has a key that is not text", what)
		case seen[key.Value]:
			r.add(key, "remove one of the two", "%s has the key %q twice", what, key.Value)
		case value.Kind == yaml.AliasNode:
			r.add(value, "write the value out", "%s: %q is an alias; what an entry says must stand in the entry", what, key.Value)
		default:
			f(key, value)
		}
		seen[key.Value] = true
	}
}

// items calls f for every item of the sequence n.
func (r *reader) items(n *yaml.Node, what string, f func(item *yaml.Node)) {
	if n == nil || !r.is(n, yaml.SequenceNode, what, "a list") {
		return
	}
	for _, item := range n.Content {
		if item.Kind == yaml.AliasNode {
			r.add(item, "write the value out", "%s holds an alias", what)
			continue
		}
		f(item)
	}
}

// text reads a non-empty string.
func (r *reader) text(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.add(n, "write text, in quotes if it looks like a number, a date or a boolean", "%s is not text", what)
		return ""
	}
	if strings.TrimSpace(n.Value) == "" {
		r.add(n, "write it, or remove the key", "%s is empty", what)
	}
	return n.Value
}

// texts reads a list of non-empty, different strings.
func (r *reader) texts(n *yaml.Node, what string) []string {
	var out []string
	r.items(n, what, func(item *yaml.Node) {
		s := r.text(item, "an item of "+what)
		if slices.Contains(out, s) {
			r.add(item, "remove one of the two", "%s lists %q twice", what, s)
			return
		}
		out = append(out, s)
	})
	return out
}

func (r *reader) is(n *yaml.Node, kind yaml.Kind, what, want string) bool {
	if n.Kind == kind {
		return true
	}
	r.add(n, "", "%s must be %s", what, want)
	return false
}

// need reports a missing key at the line of its mapping.
func (r *reader) need(in *yaml.Node, fields map[string]*yaml.Node, what, fix string, keys ...string) {
	for _, key := range keys {
		if fields[key] == nil && !present(in, key) {
			r.add(in, fix, "%s has no %s", what, key)
		}
	}
}

// present reports whether the mapping has the key at all, even with a value that was refused.
func present(in *yaml.Node, key string) bool {
	if in.Kind != yaml.MappingNode {
		return true // another problem says so
	}
	for i := 0; i < len(in.Content); i += 2 {
		if in.Content[i].Value == key {
			return true
		}
	}
	return false
}

func suggest(got string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := edits(strings.ToLower(got), k); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("write %q", best)
	}
	return "remove it; the keys are " + strings.Join(known, ", ")
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
