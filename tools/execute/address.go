package execute

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"hovor/tools/catalogue"
)

// address fills the entry's template. Every argument is escaped whole, so that it stays one path segment or one query
// value; what a careless backend could still take for a way out of the path is refused.
func address(base *url.URL, m *catalogue.HTTP, arguments map[string]any) (*url.URL, error) {
	var raw strings.Builder
	raw.WriteString(base.EscapedPath())
	for _, s := range m.Path {
		if s.Parameter == "" {
			raw.WriteString(s.Literal)
			continue
		}
		value, ok := scalar(arguments[s.Parameter])
		if !ok || !segment(value) {
			return nil, errArgument
		}
		raw.WriteString(url.PathEscape(value))
	}
	path, err := url.PathUnescape(raw.String())
	if err != nil {
		return nil, errArgument
	}
	query := url.Values{}
	for _, p := range m.Query {
		if p.Value.Parameter == "" {
			query.Set(p.Name, p.Value.Literal)
			continue
		}
		given, present := arguments[p.Value.Parameter]
		if !present {
			continue
		}
		value, ok := scalar(given)
		if !ok {
			return nil, errArgument
		}
		query.Set(p.Name, value)
	}
	return &url.URL{Scheme: base.Scheme, Host: base.Host, Path: path, RawPath: raw.String(), RawQuery: query.Encode()}, nil
}

// segment reports whether a value can stand as one path segment: not empty, no control characters, and no dot segment
// between any slashes, for backends that unescape before they route.
func segment(value string) bool {
	if value == "" || strings.ContainsFunc(value, unicode.IsControl) {
		return false
	}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			return false
		}
	}
	return true
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
