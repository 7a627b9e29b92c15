package realtime

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is deeper than any event; tool parameters and MCP schemas are the deepest honest content.
const maxDepth = 64

// maxSafe is the largest integer that every JavaScript client can hold: 2^53 - 1.
const maxSafe = 1<<53 - 1

// manyKeys is where a linear look for a duplicate key would start to cost.
const manyKeys = 16

// walker checks one JSON text against a shape. The text is known to be valid JSON when it starts, so it never looks for
// syntax. With tolerant it notes what encoding/json would misread and lets the rest pass.
type walker struct {
	data     []byte
	pos      int
	depth    int
	path     []byte
	tolerant bool // FromServer
	patches  []patch
}

// patch replaces data[from:to] before the text is given to encoding/json.
type patch struct {
	from, to int
	with     string
}

func (w *walker) fail(code, message string) *Error {
	return Invalid(code, clip(string(w.path), 200), message)
}

// clip keeps a name that came from outside short and printable.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}

func (w *walker) space() {
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ' ', '\t', '\r', '\n':
			w.pos++
		default:
			return
		}
	}
}

// value checks the value at pos and leaves pos behind it. s nil is "unread": only duplicates and depth are looked at.
func (w *walker) value(s *shape) *Error {
	w.space()
	got := kindAt(w.data[w.pos])
	if got == kindAny { // null
		w.pos += len("null")
		if s != nil && !s.null && !w.tolerant && s.kind != kindAny {
			return w.fail(CodeInvalidType, "expected "+s.kind.String()+", got null")
		}
		return nil
	}
	if s != nil {
		alt := s.pick(got)
		if alt == nil && w.tolerant {
			if s.kind == kindString && got == kindNumber { // some providers number their codes
				w.quoteNumber()
				return nil
			}
			if s.lenient != nil {
				alt = s.lenient.pick(got)
			}
		}
		if alt == nil {
			return w.fail(CodeInvalidType, "expected "+s.expected()+", got "+got.String())
		}
		s = alt
	}
	switch got {
	case kindObject:
		return w.object(s)
	case kindArray:
		return w.array(s)
	case kindString:
		return w.str(s)
	case kindNumber:
		return w.number(s)
	}
	for w.pos < len(w.data) && w.data[w.pos] >= 'a' && w.data[w.pos] <= 'z' { // true, false
		w.pos++
	}
	return nil
}

func kindAt(c byte) kind {
	switch c {
	case '{':
		return kindObject
	case '[':
		return kindArray
	case '"':
		return kindString
	case 't', 'f':
		return kindBool
	case 'n':
		return kindAny
	}
	return kindNumber
}

// pick is the shape that a JSON value of this kind must have, nil when it may not be here.
func (s *shape) pick(got kind) *shape {
	switch s.kind {
	case kindAny:
		return s
	case kindUnion:
		for _, a := range s.alts {
			if p := a.pick(got); p != nil {
				return p
			}
		}
		return nil
	case kindInteger:
		if got == kindNumber {
			return s
		}
		return nil
	case kindMap:
		if got == kindObject {
			return s
		}
		return nil
	}
	if s.kind == got {
		return s
	}
	return nil
}

func (s *shape) expected() string {
	if s.kind != kindUnion {
		return s.kind.String()
	}
	names := make([]string, len(s.alts))
	for i, a := range s.alts {
		names[i] = a.kind.String()
	}
	return strings.Join(names, " or ")
}

func (w *walker) enter() *Error {
	if w.depth++; w.depth > maxDepth {
		return w.fail(CodeInvalidEvent, "nested deeper than "+strconv.Itoa(maxDepth)+" levels")
	}
	w.pos++
	w.space()
	return nil
}

// more steps over a comma; it reports whether another element follows, and steps over the closing bracket if not.
func (w *walker) more(closing byte) bool {
	w.space()
	if w.data[w.pos] == ',' {
		w.pos++
		return true
	}
	if w.data[w.pos] == closing {
		w.pos++
		w.depth--
		return false
	}
	return true
}

func (w *walker) object(s *shape) *Error {
	if err := w.enter(); err != nil {
		return err
	}
	if s != nil && s.kind == kindAny {
		s = nil
	}
	var seen keySet
	var present uint64 // bit per field; no struct has more than 64
	base := len(w.path)
	for w.more('}') {
		w.space()
		keyAt := w.pos
		key := w.key()
		if len(w.path) > 0 {
			w.path = append(w.path, '.')
		}
		w.path = append(w.path, clip(key, 64)...)
		if !seen.add(key) {
			return w.fail(CodeDuplicateParameter, "this key stands there twice")
		}
		child, field, err := w.child(s, key, keyAt)
		if err != nil {
			return err
		}
		w.space()
		w.pos++ // colon
		w.space()
		if field >= 0 && w.data[w.pos] != 'n' {
			present |= 1 << field
		} else if field >= 0 && s.fields[field].shape.null {
			present |= 1 << field
		}
		if err := w.value(child); err != nil {
			return err
		}
		w.path = w.path[:base]
	}
	return w.missing(s, present)
}

// child finds the shape for a key: nil for one that is not read.
func (w *walker) child(s *shape, key string, keyAt int) (*shape, int, *Error) {
	switch {
	case s == nil:
		return nil, -1, nil
	case s.kind == kindMap:
		return s.elem, -1, nil
	}
	if i, ok := s.index[key]; ok {
		return s.fields[i].shape, i, nil
	}
	for _, f := range s.fields {
		if !strings.EqualFold(f.name, key) {
			continue
		}
		if !w.tolerant {
			return nil, -1, w.fail(CodeUnknownParameter, "did you mean "+f.name+"? keys are case-sensitive")
		}
		// encoding/json would take it for the field: make it a name that is none.
		w.patches = append(w.patches, patch{keyAt + 1, keyAt + 1, "~"})
	}
	return nil, -1, nil
}

func (w *walker) missing(s *shape, present uint64) *Error {
	if s == nil || s.kind != kindObject {
		return nil
	}
	for i, f := range s.fields {
		if f.required && present&(1<<i) == 0 {
			if len(w.path) > 0 {
				w.path = append(w.path, '.')
			}
			w.path = append(w.path, f.name...)
			return w.fail(CodeMissingParameter, "this field is required")
		}
	}
	return nil
}

func (w *walker) array(s *shape) *Error {
	if err := w.enter(); err != nil {
		return err
	}
	var elem *shape
	if s != nil {
		elem = s.elem
	}
	base := len(w.path)
	for i := 0; w.more(']'); i++ {
		w.path = append(w.path, '[')
		w.path = strconv.AppendInt(w.path, int64(i), 10)
		w.path = append(w.path, ']')
		if err := w.value(elem); err != nil {
			return err
		}
		w.path = w.path[:base]
	}
	return nil
}

// quoted is the string at pos with its quotes; pos is left behind it.
func (w *walker) quoted() []byte {
	start := w.pos
	for w.pos++; w.data[w.pos] != '"'; w.pos++ {
		if w.data[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos++
	return w.data[start:w.pos]
}

func (w *walker) key() string { return unquote(w.quoted()) }

func unquote(q []byte) string {
	inner := q[1 : len(q)-1]
	if !strings.Contains(string(inner), `\`) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(q, &s) // valid JSON: cannot fail
	return s
}

func (w *walker) str(s *shape) *Error {
	q := w.quoted()
	if s == nil {
		return nil
	}
	if n := len(q) - 2; s.minLen > n {
		return w.fail(CodeMissingParameter, "this field must not be empty")
	} else if s.maxLen > 0 && n > s.maxLen && !w.tolerant {
		return w.fail(CodeInvalidValue, "longer than "+strconv.Itoa(s.maxLen)+" bytes")
	}
	if len(s.enum) == 0 || w.tolerant {
		return nil
	}
	v := unquote(q)
	for _, e := range s.enum {
		if e == v {
			return nil
		}
	}
	return w.fail(CodeInvalidValue, "must be one of: "+strings.Join(s.enum, ", "))
}

func (w *walker) number(s *shape) *Error {
	start := w.pos
	for w.pos < len(w.data) && strings.IndexByte("+-.eE0123456789", w.data[w.pos]) >= 0 {
		w.pos++
	}
	if s == nil || s.kind == kindAny {
		return nil
	}
	text := string(w.data[start:w.pos])
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return w.fail(CodeInvalidValue, "this number is too large")
	}
	if s.kind == kindInteger {
		if math.Abs(v) > maxSafe {
			return w.fail(CodeInvalidValue, "this integer is beyond 2^53")
		}
		if strings.ContainsAny(text, ".eE") {
			if !w.tolerant {
				return w.fail(CodeInvalidType, "expected an integer, got a number with a fraction or exponent")
			}
			v = math.Round(v)
			w.patches = append(w.patches, patch{start, w.pos, strconv.FormatInt(int64(v), 10)})
		}
	}
	low, high := s.min != nil && v < *s.min, s.max != nil && v > *s.max
	if w.tolerant && !(low && *s.min == 0) {
		return nil
	}
	switch {
	case low:
		return w.fail(CodeInvalidValue, "must not be below "+strconv.FormatFloat(*s.min, 'g', -1, 64))
	case high:
		return w.fail(CodeInvalidValue, "must not be above "+strconv.FormatFloat(*s.max, 'g', -1, 64))
	}
	return nil
}

// quoteNumber makes the number at pos a string.
func (w *walker) quoteNumber() {
	start := w.pos
	_ = w.number(nil)
	w.patches = append(w.patches, patch{start, start, `"`}, patch{w.pos, w.pos, `"`})
}

// patched is the text with all patches applied; they are in order and do not overlap.
func (w *walker) patched() []byte {
	if len(w.patches) == 0 {
		return w.data
	}
	out := make([]byte, 0, len(w.data)+16*len(w.patches))
	at := 0
	for _, p := range w.patches {
		out = append(out, w.data[at:p.from]...)
		out = append(out, p.with...)
		at = p.to
	}
	return append(out, w.data[at:]...)
}

// keySet finds duplicate keys: by looking along a short list, by a map when there are many.
type keySet struct {
	list []string
	set  map[string]struct{}
}

func (k *keySet) add(key string) bool {
	if k.set != nil {
		if _, ok := k.set[key]; ok {
			return false
		}
		k.set[key] = struct{}{}
		return true
	}
	for _, s := range k.list {
		if s == key {
			return false
		}
	}
	if k.list = append(k.list, key); len(k.list) > manyKeys {
		k.set = make(map[string]struct{}, 2*len(k.list))
		for _, s := range k.list {
			k.set[s] = struct{}{}
		}
	}
	return true
}
