package dialect

import (
	"encoding/json"
	"slices"
)

// member is one key of an object. The key and the value stay as they were written.
type member struct {
	rawKey []byte // with its quotes
	key    string
	value  []byte
}

// object is a JSON object in the order it came. A key that stands twice stays twice, so that the decoder behind us can
// refuse it.
type object []member

// parse reads the first level of a JSON object; false when raw is none.
func parse(raw []byte) (object, bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	s := scanner{data: raw}
	if !s.open() {
		return nil, false
	}
	var o object
	for {
		m, ok := s.member()
		if !ok {
			return o, true
		}
		o = append(o, m)
	}
}

// typeOf is the value of the first top-level "type", looked up without reading further; empty when there is none.
func typeOf(raw []byte) string {
	s := scanner{data: raw}
	if !s.open() {
		return ""
	}
	for {
		m, ok := s.member()
		if !ok {
			return ""
		}
		if m.key == "type" {
			return text(m.value)
		}
	}
}

// scanner walks one level of an object. It stays in bounds on any input, and is right about valid JSON only.
type scanner struct {
	data []byte
	pos  int
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n', ',', ':':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) open() bool {
	s.space()
	if s.pos >= len(s.data) || s.data[s.pos] != '{' {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) member() (member, bool) {
	s.space()
	if s.pos >= len(s.data) || s.data[s.pos] != '"' {
		return member{}, false
	}
	key := s.value()
	s.space()
	value := s.value()
	if len(value) == 0 {
		return member{}, false
	}
	return member{rawKey: key, key: text(key), value: value}, true
}

// value steps over one value and returns its bytes.
func (s *scanner) value() []byte {
	start, depth := s.pos, 0
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case '"':
			s.str()
			if depth == 0 {
				return s.data[start:s.pos]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				if depth < 0 {
					return s.data[start:s.pos]
				}
				s.pos++
				return s.data[start:s.pos]
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.data[start:s.pos]
			}
		}
		s.pos++
	}
	return s.data[start:s.pos]
}

func (s *scanner) str() {
	s.pos++
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			return
		}
		s.pos++
	}
	s.pos = len(s.data)
}

// text is the string that raw is, empty when it is none.
func text(raw []byte) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

func quote(s string) []byte {
	b, _ := json.Marshal(s) // of a string it does not fail
	return b
}

func (o object) bytes() []byte {
	n := 2
	for _, m := range o {
		n += len(m.rawKey) + len(m.value) + 2
	}
	b := append(make([]byte, 0, n), '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, m.rawKey...), ':'), m.value...)
	}
	return append(b, '}')
}

func (o object) get(key string) ([]byte, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// set replaces every value of key, or adds the key at the end.
func (o *object) set(key string, value []byte) {
	found := false
	for i := range *o {
		if (*o)[i].key == key {
			(*o)[i].value, found = value, true
		}
	}
	if !found {
		*o = append(*o, member{quote(key), key, value})
	}
}

// front puts key before all others.
func (o *object) front(key string, value []byte) {
	*o = slices.Insert(*o, 0, member{quote(key), key, value})
}

// take removes key and returns its values.
func (o *object) take(key string) [][]byte {
	var values [][]byte
	*o = slices.DeleteFunc(*o, func(m member) bool {
		if m.key == key {
			values = append(values, m.value)
		}
		return m.key == key
	})
	return values
}

// lookup follows a path of keys.
func (o object) lookup(path []string) ([]byte, bool) {
	v, ok := o.get(path[0])
	if !ok || len(path) == 1 {
		return v, ok
	}
	inner, ok := parse(v)
	if !ok {
		return nil, false
	}
	return inner.lookup(path[1:])
}

// put adds a value at a path, making the objects on the way. What stands there already stays: whoever wrote both forms
// meant the newer one.
func (o *object) put(path []string, value []byte) {
	there, ok := o.get(path[0])
	if len(path) == 1 {
		if !ok {
			o.set(path[0], value)
		}
		return
	}
	inner, isObject := parse(there)
	if ok && !isObject && string(there) != "null" {
		return // not ours to repair; the decoder will say what is wrong
	}
	inner.put(path[1:], value)
	o.set(path[0], inner.bytes())
}

// each applies f to the elements of an array; what is no array stays as it is.
func each(raw []byte, f func([]byte) []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return raw
	}
	for i := range list {
		list[i] = f(list[i])
	}
	return join(list)
}

func join(list []json.RawMessage) []byte {
	b := []byte{'['}
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}
