package brain

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// ErrScript is returned for a scenario that cannot be played. The message lists every problem with its line.
var ErrScript = errors.New("script cannot be played")

// maxScript bounds the size of a scenario file in bytes.
const maxScript = 1 << 20

// LoadScript reads a scenario and makes the brain that plays it; see ParseScript.
func LoadScript(path string) (Brain, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScript, err)
	}
	if info.Size() > maxScript {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrScript, path, maxScript)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScript, err)
	}
	b, err := ParseScript(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// ParseScript reads a scenario:
//
//	responses:                # played in order, one per response; after the last one "then" decides
//	  - - say: Hello.         # text, or {text: …, language: cs}
//	  - - when: typed         # optional, first: the input this response is for (none, typed, spoken, outputs)
//	    - wait: 300ms
//	    - call: {name: get_document, arguments: {id: welcome}}
//	    - drop: response.done # the next event of this type is not sent; or {event: …, times: 3}, for drop and the next four
//	    - delay: {event: response.done, for: 2s} # it and all behind it come that much later; event "*" = any
//	    - duplicate: response.done
//	    - reorder: response.output_audio.delta   # sent behind the event that follows it
//	    - garble: response.output_item.done      # half of it is sent
//	    - malformed: "{"      # a frame that is no event
//	    - error: {code: server_error, message: Something broke.}
//	    - fail: {code: server_error, message: Something broke.}
//	    - stall: 5s           # no event of the client is read for so long
//	    - hang: true          # the connection stays, and nothing comes or goes any more
//	    - close: true         # the connection is cut without a word; or {code: 1011, reason: …}
//	    - expire: true        # session_expired, and close code 1001 on a WebSocket
//	then: silence             # silence (default), repeat, or again: the last response once more
//	door:                     # optional: per request the first rule for its gate that is not used up
//	  - {at: upgrade, status: 503, retry_after: 2s, times: 2} # mint, open (a call), upgrade (a WebSocket); times is 1
//	  - {at: open, wait: 5s}  # a late answer
//	sessions:                 # optional: the n-th session plays the n-th list, all further ones the last
//	  - - expires: 30s        # optional, first: the session's length, announced in expires_at
//	    - wait: 2s            # wait and faults, from the first event on, beside the responses
//	    - close: {code: 1011, reason: internal_error}
//	  - []
//
// A response whose "when" does not fit the input is left for later, and the input is answered with nothing. Unknown keys
// and wrong values are errors with their line. A script with a door or sessions is a Saboteur; its counts are the brain's.
func ParseScript(data []byte) (Brain, error) {
	p := &scriptParser{}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScript, err)
	}
	s := p.document(&doc)
	if len(p.problems) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrScript, strings.Join(p.problems, "; "))
	}
	return s, nil
}

type script struct {
	responses []scripted
	then      string
	sabotage
}

type scripted struct {
	when  InputKind
	any   bool
	steps []Step
}

// Mind implements Brain.
func (s *script) Mind() Mind { return &scriptMind{script: s} }

type scriptMind struct {
	script *script
	next   int
}

// Respond implements Mind: it plays the next response.
func (m *scriptMind) Respond(t Turn) []Step {
	list := m.script.responses
	if m.next >= len(list) {
		switch m.script.then {
		case "repeat":
			m.next = 0
		case "again":
			m.next = len(list) - 1
		default:
			return nil
		}
	}
	r := list[m.next]
	if !r.any && r.when != t.Input.Kind {
		return nil
	}
	m.next++
	return slices.Clone(r.steps)
}

type scriptParser struct{ problems []string }

func (p *scriptParser) problem(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf("line %d: ", n.Line)+fmt.Sprintf(format, args...))
}

func (p *scriptParser) document(doc *yaml.Node) *script {
	s := &script{then: "silence"}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		p.problems = append(p.problems, "line 1: expected the keys responses, then, door and sessions")
		return s
	}
	p.mapping(doc.Content[0], func(key, value *yaml.Node) {
		switch key.Value {
		case "responses":
			if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
				p.problem(value, "responses must be a list of responses, each a list of steps")
				return
			}
			for _, n := range value.Content {
				s.responses = append(s.responses, p.response(n))
			}
		case "then":
			s.then = value.Value
			if !slices.Contains([]string{"silence", "repeat", "again"}, value.Value) {
				p.problem(value, "then must be silence, repeat or again, not %q", value.Value)
			}
		case "door":
			s.door = p.doorRules(value)
		case "sessions":
			s.sessions = p.plans(value)
		default:
			p.problem(key, "unknown key %q: expected responses, then, door or sessions", key.Value)
		}
	})
	if len(s.responses) == 0 && len(p.problems) == 0 {
		p.problem(doc.Content[0], "there is no response to play")
	}
	return s
}

// mapping visits the pairs of a mapping and refuses a key that stands twice.
func (p *scriptParser) mapping(n *yaml.Node, visit func(key, value *yaml.Node)) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			p.problem(key, "key %q stands twice", key.Value)
			continue
		}
		seen[key.Value] = true
		visit(key, n.Content[i+1])
	}
}

var inputKinds = map[string]InputKind{"none": InputNone, "typed": InputTyped, "spoken": InputSpoken, "outputs": InputOutputs}

func (p *scriptParser) response(n *yaml.Node) scripted {
	r := scripted{any: true}
	if n.Kind != yaml.SequenceNode {
		p.problem(n, "a response must be a list of steps")
		return r
	}
	for i, step := range n.Content {
		key, value, ok := p.single(step)
		if !ok {
			continue
		}
		if key.Value == "when" {
			kind, ok := inputKinds[value.Value]
			if !ok {
				p.problem(value, "when must be none, typed, spoken or outputs, not %q", value.Value)
			}
			if i > 0 {
				p.problem(key, "when must be the first step")
			}
			r.when, r.any = kind, false
			continue
		}
		if s := p.step(key, value); s != nil {
			r.steps = append(r.steps, s)
		}
	}
	return r
}

// single reads a mapping of one key.
func (p *scriptParser) single(step *yaml.Node) (key, value *yaml.Node, ok bool) {
	if step.Kind != yaml.MappingNode || len(step.Content) != 2 {
		p.problem(step, "a step must be one key with its value, such as \"say: Hello.\"")
		return nil, nil, false
	}
	return step.Content[0], step.Content[1], true
}

func (p *scriptParser) step(key, value *yaml.Node) Step {
	switch key.Value {
	case "say":
		return p.say(value)
	case "call":
		return p.call(value)
	case "wait":
		return Wait{For: p.span(value, "wait", longestWait)}
	case "drop", "delay", "duplicate", "reorder", "garble":
		return p.event(FaultKind(key.Value), value)
	case "stall":
		return Fault{Kind: FaultStall, For: p.span(value, "stall", longestWait)}
	case "malformed":
		if value.Kind != yaml.ScalarNode {
			p.problem(value, "malformed must be a text")
		}
		return Fault{Kind: FaultMalformed, Text: value.Value}
	case "error", "fail":
		f := Fault{Kind: FaultKind(key.Value), Code: "server_error", Text: "An error was asked for."}
		p.fields(value, map[string]*string{"code": &f.Code, "message": &f.Text})
		return f
	case "close":
		return p.closing(value)
	case "hang", "expire":
		p.isTrue(value, key.Value)
		return Fault{Kind: FaultKind(key.Value)}
	}
	p.problem(key, "unknown step %q: expected say, call, wait, drop, delay, duplicate, reorder, garble, malformed, error, fail, stall, hang, close or expire", key.Value)
	return nil
}

func (p *scriptParser) say(value *yaml.Node) Step {
	s := Say{Text: value.Value}
	if value.Kind != yaml.ScalarNode {
		p.fields(value, map[string]*string{"text": &s.Text, "language": &s.Language})
	}
	if strings.TrimSpace(s.Text) == "" {
		p.problem(value, "say needs a text")
	}
	if !slices.Contains([]string{"", "en", "cs", "de", "ru"}, s.Language) {
		p.problem(value, "language must be en, cs, de or ru, not %q", s.Language)
	}
	return s
}

// fields reads a mapping of texts.
func (p *scriptParser) fields(n *yaml.Node, into map[string]*string) {
	if n.Kind != yaml.MappingNode {
		p.problem(n, "expected a mapping")
		return
	}
	p.mapping(n, func(key, value *yaml.Node) {
		to := into[key.Value]
		if to == nil || value.Kind != yaml.ScalarNode {
			p.problem(key, "unknown or wrong key %q", key.Value)
			return
		}
		*to = value.Value
	})
}

func (p *scriptParser) call(value *yaml.Node) Step {
	c := Call{Arguments: json.RawMessage("{}")}
	if value.Kind != yaml.MappingNode {
		p.problem(value, "call must be {name: …, arguments: {…}}")
		return c
	}
	p.mapping(value, func(key, v *yaml.Node) {
		switch key.Value {
		case "name":
			c.Name = v.Value
		case "arguments":
			c.Arguments = p.arguments(v)
		default:
			p.problem(key, "unknown key %q: expected name or arguments", key.Value)
		}
	})
	if c.Name == "" {
		p.problem(value, "call needs a name")
	}
	return c
}

// arguments are a mapping, or a text that is sent as it is, so that wrong JSON can be tried.
func (p *scriptParser) arguments(n *yaml.Node) json.RawMessage {
	if n.Kind == yaml.ScalarNode {
		return json.RawMessage(n.Value)
	}
	var v map[string]any
	if err := n.Decode(&v); err != nil {
		p.problem(n, "arguments must be a mapping, or a text")
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		p.problem(n, "arguments have no JSON form: %v", err)
	}
	return raw
}
