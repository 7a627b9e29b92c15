package command

import (
	"fmt"
	"strings"
)

// node is one part of a template: a word, a slot, a sequence, alternatives, or an optional part.
type node struct {
	word string   // a word, folded
	slot string   // a slot's name
	seq  []node   // in order
	alt  [][]node // one of
	opt  bool     // seq may be absent
}

// parseTemplate reads "open [the] (document | page) <document>". Templates are constants of this package, so a mistake
// is a programming error and is reported by the package's tests through the returned error.
func parseTemplate(s string) ([]node, error) {
	p := &templateParser{tokens: templateTokens(s)}
	alts, err := p.alternatives("")
	if err != nil {
		return nil, fmt.Errorf("template %q: %w", s, err)
	}
	if len(alts) == 1 {
		return alts[0], nil
	}
	return []node{{alt: alts}}, nil
}

func templateTokens(s string) []string {
	for _, sep := range []string{"[", "]", "(", ")", "|"} {
		s = strings.ReplaceAll(s, sep, " "+sep+" ")
	}
	return strings.Fields(s)
}

type templateParser struct {
	tokens []string
	at     int
}

// alternatives reads up to the closing token, which it consumes ("" = the end).
func (p *templateParser) alternatives(closing string) ([][]node, error) {
	alts := [][]node{nil}
	for p.at < len(p.tokens) {
		t := p.tokens[p.at]
		p.at++
		last := len(alts) - 1
		switch {
		case t == closing:
			return alts, nil
		case t == "|":
			alts = append(alts, nil)
		case t == "(" || t == "[":
			end := map[string]string{"(": ")", "[": "]"}[t]
			inner, err := p.alternatives(end)
			if err != nil {
				return nil, err
			}
			n := node{alt: inner, opt: t == "["}
			alts[last] = append(alts[last], n)
		case t == ")" || t == "]":
			return nil, fmt.Errorf("unexpected %s", t)
		case strings.HasPrefix(t, "<"):
			alts[last] = append(alts[last], node{slot: strings.Trim(t, "<>")})
		default:
			alts[last] = append(alts[last], node{word: Fold(t)})
		}
	}
	if closing != "" {
		return nil, fmt.Errorf("missing %s", closing)
	}
	return alts, nil
}

// match tries to consume all tokens with the nodes, and reports what the slots took. accept may refuse a slot's text.
func match(nodes []node, tokens []string, accept func(slot, text string) bool, slots map[string]string) bool {
	if len(nodes) == 0 {
		return len(tokens) == 0
	}
	n, rest := nodes[0], nodes[1:]
	switch {
	case n.word != "":
		return len(tokens) > 0 && tokens[0] == n.word && match(rest, tokens[1:], accept, slots)
	case n.slot != "":
		for k := len(tokens); k > 0; k-- {
			text := strings.Join(tokens[:k], " ")
			if accept(n.slot, text) && match(rest, tokens[k:], accept, slots) {
				slots[n.slot] = text
				return true
			}
		}
		return false
	}
	for _, alt := range n.alt {
		if match(join(alt, rest), tokens, accept, slots) {
			return true
		}
	}
	return n.opt && match(rest, tokens, accept, slots)
}

func join(a, b []node) []node {
	out := make([]node, 0, len(a)+len(b))
	return append(append(out, a...), b...)
}

// jsgf writes the nodes as a JSGF expansion, and calls word for every word in it. ok is false when a slot has no rule.
func jsgf(nodes []node, have func(slot string) bool, b *strings.Builder) (ok bool) {
	for i, n := range nodes {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case n.word != "":
			b.WriteString(n.word)
		case n.slot != "":
			if !have(n.slot) {
				return false
			}
			b.WriteString("<" + n.slot + ">")
		default:
			open, end := "(", ")"
			if n.opt {
				open, end = "[", "]"
			}
			b.WriteString(open)
			for k, alt := range n.alt {
				if k > 0 {
					b.WriteString(" | ")
				}
				if !jsgf(alt, have, b) {
					return false
				}
			}
			b.WriteString(end)
		}
	}
	return true
}
