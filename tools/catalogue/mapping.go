package catalogue

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	defaultTimeout = 5 * time.Second
	minTimeout     = 100 * time.Millisecond
	maxTimeout     = 30 * time.Second // a voice turn cannot wait longer
	defaultResult  = 16 << 10
	minResult      = 256
	maxResult      = 256 << 10 // the largest event that common data channels carry
)

var (
	methods  = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	pathText = regexp.MustCompile(`^[A-Za-z0-9/._~-]*$`)
	hole     = regexp.MustCompile(`\{([^{}]*)\}`)
	pointer  = regexp.MustCompile(`^(/([^~/]|~[01])+)*$`)
)

func (r *reader) http(e *Entry, n *yaml.Node, services []string) *HTTP {
	h := &HTTP{Timeout: defaultTimeout, MaxBytes: defaultResult}
	f := r.fields(n, "http", "service", "method", "path", "query", "body", "result", "timeout", "max_bytes")
	r.need(n, f, "http", "", "service", "method", "path")
	if h.Service = r.text(f["service"], "service"); h.Service != "" && !slices.Contains(services, h.Service) {
		r.add(f["service"], suggest(h.Service, services), "service %q is not listed under services", h.Service)
	}
	if h.Method = r.text(f["method"], "method"); h.Method != "" && !slices.Contains(methods, h.Method) {
		r.add(f["method"], "use one of "+strings.Join(methods, ", "), "method %q is not usable", h.Method)
		h.Method = ""
	}
	h.Path = r.path(e, f["path"])
	h.Query = r.pairs(e, f["query"], "query")
	h.Body = r.pairs(e, f["body"], "body")
	if len(h.Body) > 0 && (h.Method == "GET" || h.Method == "DELETE") {
		r.add(f["body"], "use query", "a %s request has no body", h.Method)
	}
	r.result(h, f["result"])
	r.limits(h, f)
	r.everyParameterIsSent(e, h, n)
	return h
}

func (r *reader) path(e *Entry, n *yaml.Node) (out []Segment) {
	text := r.text(n, "path")
	if text == "" {
		return nil
	}
	if !strings.HasPrefix(text, "/") {
		r.add(n, "start it with /", "path %q does not start at the service's base URL", text)
	}
	plain := hole.ReplaceAllString(text, "x")
	if !pathText.MatchString(plain) || slices.ContainsFunc(strings.Split(plain, "/"), dots) {
		r.add(n, "use letters, digits, - . _ ~ / and {parameter}; put ?name=value under query", "path %q is not usable", text)
		return nil
	}
	from := 0
	for _, m := range hole.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		out = append(out, Segment{Literal: text[from:m[0]]}, Segment{Parameter: name})
		from = m[1]
		r.parameter(e, n, name, true)
	}
	if from < len(text) {
		out = append(out, Segment{Literal: text[from:]})
	}
	return out
}

func dots(s string) bool { return s == "." || s == ".." }

func (r *reader) pairs(e *Entry, n *yaml.Node, what string) (out []Pair) {
	r.each(n, what, func(key, value *yaml.Node) {
		text := r.text(value, what+" "+key.Value)
		p := Pair{Name: key.Value, Value: Segment{Literal: text}}
		if m := hole.FindStringSubmatch(text); m != nil {
			if m[0] != text {
				r.add(value, "use {name} alone", "%s %s mixes a parameter with text", what, key.Value)
			}
			p.Value = Segment{Parameter: m[1]}
			r.parameter(e, value, m[1], false)
		}
		out = append(out, p)
	})
	return out
}

// parameter checks that a template names a declared scalar parameter, and a required one where the request needs it.
func (r *reader) parameter(e *Entry, n *yaml.Node, name string, inPath bool) {
	if e.Parameters == nil {
		return // the schema's own problems say so
	}
	kind, required, ok := e.property(name)
	switch {
	case !ok:
		r.add(n, suggest(name, e.Properties), "the template names {%s}, which is not a parameter", name)
	case kind != "string" && kind != "integer" && kind != "number" && kind != "boolean":
		r.add(n, "use a string, an integer, a number or a boolean", "{%s} is of type %s, which has no place in a request line", name, kind)
	case inPath && kind != "string" && kind != "integer":
		r.add(n, "use a string or an integer", "{%s} is of type %s, which has no place in a path", name, kind)
	case inPath && !required:
		r.add(n, fmt.Sprintf("list %s under required", name), "{%s} stands in the path but a call may leave it out", name)
	}
}

func (r *reader) result(h *HTTP, n *yaml.Node) {
	f := r.fields(n, "result", "pointer", "keep")
	if p := f["pointer"]; p != nil {
		if h.Pointer = r.text(p, "pointer"); !pointer.MatchString(h.Pointer) {
			r.add(p, "write it as RFC 6901 has it, as in /documents", "pointer %q is not a JSON pointer", h.Pointer)
		}
	}
	h.Keep = r.texts(f["keep"], "keep")
}

func (r *reader) limits(h *HTTP, f map[string]*yaml.Node) {
	if n := f["timeout"]; n != nil {
		d, err := time.ParseDuration(r.text(n, "timeout"))
		if err != nil || d < minTimeout || d > maxTimeout {
			r.add(n, fmt.Sprintf("write a duration from %v to %v, as in 5s", minTimeout, maxTimeout), "timeout is not usable")
		}
		h.Timeout = d
	}
	if n := f["max_bytes"]; n != nil {
		size, err := strconv.Atoi(n.Value)
		if err != nil || size < minResult || size > maxResult {
			r.add(n, fmt.Sprintf("write a number from %d to %d", minResult, maxResult), "max_bytes is not usable")
		}
		h.MaxBytes = size
	}
}

// everyParameterIsSent refuses a parameter that a model fills in and nobody receives.
func (r *reader) everyParameterIsSent(e *Entry, h *HTTP, n *yaml.Node) {
	sent := map[string]bool{}
	for _, s := range h.Path {
		sent[s.Parameter] = true
	}
	for _, p := range slices.Concat(h.Query, h.Body) {
		sent[p.Value.Parameter] = true
	}
	for _, name := range e.Properties {
		if !sent[name] {
			r.add(n, "use it in path, query or body, or remove it", "parameter %s is never sent", name)
		}
	}
}
