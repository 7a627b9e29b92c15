package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The closed set of refusals.
var (
	ErrSyntax    = errors.New("not one JSON value")
	ErrUnicode   = errors.New("broken Unicode")
	ErrDuplicate = errors.New("duplicate key")
	ErrNumber    = errors.New("number beyond 2^53-1")
	ErrDepth     = errors.New("nested too deep")
)

// MaxSafe is the largest integer that every JSON reader holds exactly (RFC 8259 section 6).
const MaxSafe = 1<<53 - 1

// Parse reads exactly one JSON value with at most depth levels of arrays and objects. Numbers stay json.Number. key is
// the name that was there twice when err is ErrDuplicate; it is as untrusted as the text.
func Parse(text []byte, depth int) (value any, key string, err error) {
	if !utf8.Valid(text) || loneSurrogate(text) {
		return nil, "", ErrUnicode
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	p := parser{d: d, depth: depth}
	value, err = p.value()
	if err != nil {
		return nil, p.duplicate, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, "", ErrSyntax
	}
	return value, "", nil
}

// Canonical writes a parsed value compactly with sorted keys, so that two spellings of one value compare equal.
func Canonical(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

type parser struct {
	d         *json.Decoder
	depth     int
	duplicate string
}

func (p *parser) value() (any, error) {
	t, err := p.d.Token()
	if err != nil {
		return nil, ErrSyntax
	}
	switch t := t.(type) {
	case json.Delim:
		if p.depth == 0 {
			return nil, ErrDepth
		}
		p.depth--
		defer func() { p.depth++ }()
		if t == '{' {
			return p.object()
		}
		return p.array()
	case json.Number:
		return t, safe(string(t))
	default:
		return t, nil
	}
}

func (p *parser) object() (any, error) {
	out := map[string]any{}
	for p.d.More() {
		t, err := p.d.Token()
		if err != nil {
			return nil, ErrSyntax
		}
		name, ok := t.(string)
		if !ok {
			return nil, ErrSyntax
		}
		if _, twice := out[name]; twice {
			p.duplicate = name
			return nil, ErrDuplicate
		}
		if out[name], err = p.value(); err != nil {
			return nil, err
		}
	}
	return out, p.close()
}

func (p *parser) array() (any, error) {
	out := []any{}
	for p.d.More() {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, p.close()
}

func (p *parser) close() error {
	if _, err := p.d.Token(); err != nil {
		return ErrSyntax
	}
	return nil
}

func safe(n string) error {
	if !strings.ContainsAny(n, ".eE") {
		i, err := strconv.ParseInt(n, 10, 64)
		if err != nil || i > MaxSafe || i < -MaxSafe {
			return ErrNumber
		}
		return nil
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil || math.Abs(f) > MaxSafe {
		return ErrNumber
	}
	return nil
}

// loneSurrogate finds a \u escape that is half of a pair; encoding/json would replace it in silence.
func loneSurrogate(text []byte) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if text[i+1] != 'u' {
			i++
			continue
		}
		switch unit := hex4(text[i+2:]); {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit >= 0xD800 && unit <= 0xDBFF:
			rest := text[i+6:]
			if len(rest) < 2 || rest[0] != '\\' || rest[1] != 'u' {
				return true
			}
			if low := hex4(rest[2:]); low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 11
		default:
			i++
		}
	}
	return false
}

// hex4 returns -1 for anything that is not four hexadecimal digits; the decoder then reports the syntax.
func hex4(b []byte) int {
	if len(b) < 4 {
		return -1
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	if err != nil {
		return -1
	}
	return int(n)
}
