package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// Members reads exactly one JSON object and returns its members' texts, unread. Only the object's own keys are checked
// for duplicates.
func Members(text []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(text) {
		return nil, ErrUnicode
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, ErrSyntax
	}
	out := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, ErrSyntax
		}
		if _, twice := out[name]; twice {
			return nil, ErrDuplicate
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, ErrSyntax
		}
		out[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, ErrSyntax
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, ErrSyntax
	}
	return out, nil
}
