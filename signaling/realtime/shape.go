package realtime

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// kind is what a JSON value is allowed to be.
type kind int

const (
	kindAny kind = iota
	kindObject
	kindArray
	kindMap
	kindString
	kindInteger
	kindNumber
	kindBool
	kindUnion // one of alts, told apart by the JSON type
)

func (k kind) String() string {
	return [...]string{"any value", "an object", "an array", "an object", "a string", "an integer", "a number", "true or false", "one of several forms"}[k]
}

// shape is what the struct tags say about one value. Decode, Encode and the schemas are all read from it.
type shape struct {
	kind     kind
	name     string // Go type of an object, for $defs
	fields   []field
	index    map[string]int
	elem     *shape
	alts     []*shape
	lenient  *shape // a further form that only a server may use, and that we never write
	enum     []string
	min, max *float64
	minLen   int
	maxLen   int  // bytes; 0 = no limit
	null     bool // null is allowed from a client
}

// field is one key of an object.
type field struct {
	name     string
	shape    *shape
	required bool // Decode insists on it
	emitted  bool // Encode always writes it
}

// The tag rt:"…" holds, separated by commas: req (must be there), id (must be there and not empty), null (null is allowed),
// emit (always written though not demanded), object (raw JSON that must be an object), enum=a|b, items=a|b (enum of the
// elements), min=, max=, maxlen= (bytes).
const tagKey = "rt"

// shaper is implemented by types whose wire form is not what reflection sees.
type shaper interface{ wireShape() *shape }

// nuller is implemented by Nullable.
type nuller interface{ elemType() reflect.Type }

func (Nullable[T]) elemType() reflect.Type { return reflect.TypeFor[T]() }

func (MaxTokens) wireShape() *shape {
	return &shape{kind: kindUnion, alts: []*shape{{kind: kindString, enum: []string{"inf"}}, {kind: kindInteger, min: ptr(1.0), max: ptr(1e9)}}}
}

func (Voice) wireShape() *shape {
	return &shape{kind: kindUnion, alts: []*shape{{kind: kindString, maxLen: 128}, object("", field{name: "id", shape: &shape{kind: kindString, maxLen: 128}, required: true})}}
}

// A response's voice is read in either form, but never written as an object.
func (VoiceName) wireShape() *shape {
	return &shape{kind: kindString, maxLen: 128, lenient: object("", field{name: "id", shape: &shape{kind: kindString}})}
}

func (ToolChoice) wireShape() *shape {
	return &shape{kind: kindUnion, alts: []*shape{
		{kind: kindString, enum: []string{"auto", "none", "required"}},
		object("",
			field{name: "type", shape: &shape{kind: kindString, enum: []string{"function", "mcp"}}, required: true},
			field{name: "name", shape: &shape{kind: kindString}},
			field{name: "server_label", shape: &shape{kind: kindString}}),
	}}
}

func (Tracing) wireShape() *shape {
	return &shape{kind: kindUnion, alts: []*shape{{kind: kindString, enum: []string{"auto"}}, shapeOf(reflect.TypeFor[tracingObject]())}}
}

func (Truncation) wireShape() *shape {
	limits := object("", field{name: "post_instructions", shape: &shape{kind: kindInteger, min: ptr(0.0)}})
	limits.null = true
	return &shape{kind: kindUnion, alts: []*shape{
		{kind: kindString, enum: []string{"auto", "disabled"}},
		object("",
			field{name: "type", shape: &shape{kind: kindString, enum: []string{"retention_ratio"}}, required: true},
			field{name: "retention_ratio", shape: &shape{kind: kindNumber, min: ptr(0.0), max: ptr(1.0)}, required: true},
			field{name: "token_limits", shape: limits}),
	}}
}

func ptr[T any](v T) *T { return &v }

func object(name string, fields ...field) *shape {
	s := &shape{kind: kindObject, name: name, fields: fields, index: make(map[string]int, len(fields))}
	for i, f := range fields {
		s.index[f.name] = i
	}
	return s
}

var shapes sync.Map // reflect.Type → *shape

// shapeOf describes a Go type. It panics on a type or tag that it does not know, which a test of all events would show.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := describe(t)
	shapes.Store(t, s)
	return s
}

func describe(t reflect.Type) *shape {
	if t == reflect.TypeFor[Raw]() {
		return &shape{kind: kindAny, null: true}
	}
	v := reflect.Zero(t).Interface()
	if n, ok := v.(nuller); ok {
		s := *shapeOf(n.elemType())
		s.null = true
		return &s
	}
	if t.Kind() == reflect.Pointer {
		return shapeOf(t.Elem())
	}
	if w, ok := v.(shaper); ok {
		return w.wireShape()
	}
	switch t.Kind() {
	case reflect.String:
		return &shape{kind: kindString}
	case reflect.Bool:
		return &shape{kind: kindBool}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		s := &shape{kind: kindInteger}
		if t.Kind() == reflect.Uint64 {
			s.min = ptr(0.0)
		}
		return s
	case reflect.Float64:
		return &shape{kind: kindNumber}
	case reflect.Slice:
		return &shape{kind: kindArray, elem: shapeOf(t.Elem())}
	case reflect.Map:
		return &shape{kind: kindMap, elem: shapeOf(t.Elem())}
	case reflect.Struct:
		return describeStruct(t)
	}
	panic("realtime: no wire form for " + t.String())
}

func describeStruct(t reflect.Type) *shape {
	s := object(t.Name())
	for sf := range fieldsOf(t) {
		name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" || !sf.IsExported() {
			continue
		}
		f := field{name: name, shape: shapeOf(sf.Type)}
		f.emitted = !strings.Contains(opts, "omit")
		applyTag(&f, sf.Tag.Get(tagKey))
		s.index[name] = len(s.fields)
		s.fields = append(s.fields, f)
	}
	return s
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// applyTag narrows a copy of the field's shape, so that a shared type keeps its own.
func applyTag(f *field, tag string) {
	if tag == "" {
		return
	}
	s := *f.shape
	for opt := range strings.SplitSeq(tag, ",") {
		key, value, _ := strings.Cut(opt, "=")
		switch key {
		case "req":
			f.required = true
		case "id":
			f.required, s.minLen, s.maxLen = true, 1, 256
		case "null":
			s.null = true
		case "emit":
			f.emitted = true
		case "object":
			s.kind = kindMap
			s.elem = &shape{kind: kindAny, null: true}
			s.null = strings.Contains(tag, "null")
		case "enum":
			s.enum = strings.Split(value, "|")
		case "items":
			elem := *s.elem
			elem.enum = strings.Split(value, "|")
			s.elem = &elem
		case "min":
			s.min = ptr(mustFloat(value))
		case "max":
			s.max = ptr(mustFloat(value))
		case "maxlen":
			s.maxLen = int(mustFloat(value))
		default:
			panic(fmt.Sprintf("realtime: field %s: unknown tag option %q", f.name, opt))
		}
	}
	f.shape = &s
}

func mustFloat(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic("realtime: number in tag: " + err.Error())
	}
	return v
}
