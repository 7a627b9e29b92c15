package execute

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hovor/tools"
	"hovor/tools/catalogue"
)

// cutMark ends a text that was shortened and stands in place of what was left out, so that a model can tell.
const cutMark = "…[cut]"

// result takes the mapped part out of an answer and bounds it.
func result(text []byte, m *catalogue.HTTP) tools.Outcome {
	value, err := decode(text)
	if err != nil {
		return tools.Outcome{Status: tools.StatusFailed, Detail: DetailNotJSON}
	}
	if value, err = point(value, m.Pointer); err != nil {
		return tools.Outcome{Status: tools.StatusFailed, Detail: DetailMapping}
	}
	value = keep(value, m.Keep)
	whole := size(value)
	if whole <= m.MaxBytes {
		return tools.Outcome{Status: tools.StatusOK, Result: compact(value)}
	}
	return tools.Outcome{Status: tools.StatusOK, Result: compact(shorten(value, m.MaxBytes)), Cut: whole}
}

func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the value")
	}
	return value, nil
}

// point follows an RFC 6901 pointer.
func point(value any, pointer string) (any, error) {
	if pointer == "" {
		return value, nil
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch at := value.(type) {
		case map[string]any:
			next, ok := at[token]
			if !ok {
				return nil, errPointer
			}
			value = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return nil, errPointer
			}
			value = at[i]
		default:
			return nil, errPointer
		}
	}
	return value, nil
}

// keep leaves the named members of an object, or of each object in an array.
func keep(value any, names []string) any {
	if names == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range names {
			if member, ok := v[name]; ok {
				out[name] = member
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = keep(v[i], names)
		}
		return out
	}
	return value
}

func compact(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil // decoded JSON always encodes
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func size(value any) int { return len(compact(value)) }

// shorten returns a form of value that takes at most budget bytes: texts lose their end, arrays their last items, and
// objects give up the largest members first.
func shorten(value any, budget int) any {
	if size(value) <= budget {
		return value
	}
	switch v := value.(type) {
	case string:
		return shortenText(v, budget)
	case []any:
		return shortenArray(v, budget)
	case map[string]any:
		return shortenObject(v, budget)
	}
	return cutMark
}

func shortenText(s string, budget int) any {
	lo, hi := 0, min(len(s), budget)
	for lo < hi { // the longest beginning whose encoding still fits
		mid := (lo + hi + 1) / 2
		if size(cutAt(s, mid)) <= budget {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return cutAt(s, lo)
}

// cutAt cuts before the rune that byte n is in.
func cutAt(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cutMark
}

func shortenArray(v []any, budget int) any {
	used := 2 + size(cutMark)
	out := []any{}
	for _, item := range v {
		n := size(item) + 1
		if used+n > budget {
			break
		}
		used += n
		out = append(out, item)
	}
	if room := budget - used - 1; len(out) == 0 && len(v) > 0 && room > size(cutMark) {
		out = append(out, shorten(v[0], room)) // something of the first is better than nothing of all
	}
	return append(out, cutMark)
}

func shortenObject(v map[string]any, budget int) any {
	out := make(map[string]any, len(v))
	names, sizes := make([]string, 0, len(v)), make(map[string]int, len(v))
	whole := 1
	for name, member := range v {
		out[name] = member
		names = append(names, name)
		sizes[name] = size(member)
		whole += size(name) + sizes[name] + 2 // colon and comma, or the closing brace
	}
	slices.SortFunc(names, func(a, b string) int { // largest first, then by name so that the same answer is cut the same way
		if d := sizes[b] - sizes[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		if whole <= budget {
			break
		}
		out[name] = shorten(v[name], max(sizes[name]-(whole-budget), size(cutMark)))
		whole += size(out[name]) - sizes[name]
	}
	if size(out) <= budget {
		return out
	}
	out["…"] = cutMark // the names alone are too many
	for i := 0; size(out) > budget && i < len(names); i++ {
		delete(out, names[i])
	}
	return out
}
