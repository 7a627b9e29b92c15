package brain

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"
)

const (
	longestWait   = time.Minute
	longestExpiry = time.Hour
	mostTimes     = 100_000
)

// sabotage is the part of a script that speaks of no response. It implements Saboteur.
type sabotage struct {
	door     []doorRule
	sessions []Plan

	mu     sync.Mutex // guards what follows
	used   []int      // of door, by index
	opened int        // sessions so far
}

type doorRule struct {
	at        Gate
	times     int
	reception Reception
}

// Knock implements Saboteur: the first rule for the gate that is not used up counts.
func (s *sabotage) Knock(g Gate) Reception {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = make([]int, len(s.door))
	}
	for i, r := range s.door {
		if r.at == g && s.used[i] < r.times {
			s.used[i]++
			return r.reception
		}
	}
	return Reception{}
}

// Session implements Saboteur: the n-th session has the n-th plan, and the last plan is that of all that follow.
func (s *sabotage) Session() Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) == 0 {
		return Plan{}
	}
	p := s.sessions[min(s.opened, len(s.sessions)-1)]
	s.opened++
	return Plan{Expires: p.Expires, Steps: slices.Clone(p.Steps)}
}

// doorRules reads the list under "door".
func (p *scriptParser) doorRules(n *yaml.Node) []doorRule {
	if n.Kind != yaml.SequenceNode {
		p.problem(n, "door must be a list, such as \"- {at: upgrade, status: 503, retry_after: 2s}\"")
		return nil
	}
	var rules []doorRule
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode {
			p.problem(item, "a rule of the door must be a mapping with the key at")
			continue
		}
		rules = append(rules, p.doorRule(item))
	}
	return rules
}

func (p *scriptParser) doorRule(n *yaml.Node) doorRule {
	r := doorRule{times: 1}
	refusal := Refusal{}
	refuses := "" // a key that only a refusal has
	p.mapping(n, func(key, value *yaml.Node) {
		switch key.Value {
		case "at":
			r.at = Gate(value.Value)
			if !slices.Contains([]Gate{GateMint, GateOpen, GateUpgrade}, r.at) {
				p.problem(value, "at must be mint, open or upgrade, not %q", value.Value)
			}
		case "times":
			r.times = p.number(value, "times", 1, mostTimes)
		case "wait":
			r.reception.Wait = p.span(value, "wait", longestWait)
		case "status":
			refusal.Status = p.number(value, "status", 400, 599)
		case "retry_after":
			refusal.RetryAfter, refuses = p.span(value, "retry_after", longestExpiry), key.Value
			if refusal.RetryAfter%time.Second != 0 {
				p.problem(value, "retry_after must be whole seconds, not %q", value.Value)
			}
		case "code":
			refusal.Code, refuses = p.text(value, "code"), key.Value
		case "message":
			refusal.Message, refuses = p.text(value, "message"), key.Value
		default:
			p.problem(key, "unknown key %q: expected at, times, wait, status, retry_after, code or message", key.Value)
		}
	})
	switch {
	case r.at == "":
		p.problem(n, "a rule of the door needs at: mint, open or upgrade")
	case refusal.Status != 0:
		r.reception.Refusal = &refusal
	case refuses != "":
		p.problem(n, "%s needs a status", refuses)
	case r.reception.Wait == 0:
		p.problem(n, "a rule of the door needs a status or a wait")
	}
	return r
}

// plans reads the list under "sessions".
func (p *scriptParser) plans(n *yaml.Node) []Plan {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.problem(n, "sessions must be a list of sessions, each a list of steps")
		return nil
	}
	var plans []Plan
	for _, session := range n.Content {
		plans = append(plans, p.plan(session))
	}
	return plans
}

func (p *scriptParser) plan(n *yaml.Node) Plan {
	var plan Plan
	if n.Kind != yaml.SequenceNode {
		p.problem(n, "a session must be a list of steps")
		return plan
	}
	for i, step := range n.Content {
		key, value, ok := p.single(step)
		if !ok {
			continue
		}
		switch key.Value {
		case "expires":
			if i > 0 {
				p.problem(key, "expires must be the first step")
			}
			plan.Expires = p.span(value, "expires", longestExpiry)
			if plan.Expires < time.Second {
				p.problem(value, "expires must be at least 1s, not %q", value.Value)
			}
			continue
		case "say", "call", "fail", "when":
			p.problem(key, "%s belongs to a response, not to a session", key.Value)
			continue
		}
		if s := p.step(key, value); s != nil {
			plan.Steps = append(plan.Steps, s)
		}
	}
	return plan
}

// event reads a fault that names an event: the type alone, or with how often and, for a delay, how long.
func (p *scriptParser) event(kind FaultKind, n *yaml.Node) Fault {
	f := Fault{Kind: kind, Times: 1}
	if n.Kind == yaml.ScalarNode {
		f.Type = n.Value
	} else if n.Kind == yaml.MappingNode {
		p.mapping(n, func(key, value *yaml.Node) {
			switch {
			case key.Value == "event":
				f.Type = p.text(value, "event")
			case key.Value == "times":
				f.Times = p.number(value, "times", 1, mostTimes)
			case key.Value == "for" && kind == FaultDelay:
				f.For = p.span(value, "for", longestWait)
			default:
				p.problem(key, "unknown or wrong key %q", key.Value)
			}
		})
	}
	if f.Type == "" {
		p.problem(n, "%s must name an event type, such as response.done", kind)
	}
	if kind == FaultDelay && f.For == 0 {
		p.problem(n, "delay must say for how long, such as {event: response.done, for: 2s}")
	}
	return f
}

// closing reads "close": true for a cut without a word, or the code and reason of a WebSocket's farewell.
func (p *scriptParser) closing(n *yaml.Node) Fault {
	f := Fault{Kind: FaultClose}
	if n.Kind == yaml.MappingNode {
		p.mapping(n, func(key, value *yaml.Node) {
			switch key.Value {
			case "code":
				f.Close = p.number(value, "code", 1000, 4999)
			case "reason":
				f.Text = p.text(value, "reason")
			default:
				p.problem(key, "unknown key %q: expected code or reason", key.Value)
			}
		})
		if f.Close == 0 {
			p.problem(n, "close needs a code, such as 1011")
		}
	} else {
		p.isTrue(n, "close")
	}
	return f
}

func (p *scriptParser) isTrue(n *yaml.Node, name string) {
	if n.Value != "true" {
		p.problem(n, "%s must be true", name)
	}
}

// span reads a length of time.
func (p *scriptParser) span(n *yaml.Node, name string, longest time.Duration) time.Duration {
	d, err := time.ParseDuration(n.Value)
	if err != nil || d < 0 || d > longest {
		p.problem(n, "%s must be a time from 0s to %s, such as 300ms, not %q", name, short(longest), n.Value)
		return 0
	}
	return d
}

// short writes a whole number of minutes or hours without the units that are zero.
func short(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

func (p *scriptParser) number(n *yaml.Node, name string, least, most int) int {
	v, err := strconv.Atoi(n.Value)
	if err != nil || v < least || v > most {
		p.problem(n, "%s must be a number from %d to %d, not %q", name, least, most, n.Value)
		return least
	}
	return v
}

func (p *scriptParser) text(n *yaml.Node, name string) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		p.problem(n, "%s must be a text", name)
	}
	return n.Value
}
