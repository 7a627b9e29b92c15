package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// The keywords of JSON Schema 2020-12 that parameters may use. What could open a closed object again ($ref, anyOf,
// patternProperties and their kin) is left out on purpose: a reviewer must be able to read what a model may send.
var (
	keywords = []string{"type", "description", "properties", "required", "additionalProperties", "items", "enum", "const",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
		"minItems", "maxItems", "uniqueItems"}
	types = []string{"object", "array", "string", "integer", "number", "boolean"}
)

const maxSchemaDepth = 8

// parameters reads the schema of the call's arguments.
func (r *reader) parameters(e *Entry, n *yaml.Node) {
	if n == nil {
		return
	}
	before := len(r.problems)
	if r.schema(n, "parameters", 0) != "object" && len(r.problems) == before {
		r.add(n, "write type: object", "parameters must describe an object")
	}
	if len(r.problems) > before {
		return
	}
	var b bytes.Buffer
	if err := encode(&b, n); err != nil {
		r.add(n, "", "parameters cannot be written as JSON: %v", err)
		return
	}
	schema, err := compile(b.Bytes())
	if err != nil {
		r.add(n, "", "parameters are not a JSON Schema: %s", schemaError(err))
		return
	}
	e.schema, e.Parameters = schema, b.Bytes()
	if p := child(n, "properties"); p != nil {
		for i := 0; i < len(p.Content); i += 2 {
			e.Properties = append(e.Properties, p.Content[i].Value)
		}
	}
}

// schema checks one schema object and returns its type.
func (r *reader) schema(n *yaml.Node, what string, depth int) (kind string) {
	if depth > maxSchemaDepth {
		r.add(n, "flatten it", "%s is nested deeper than %d", what, maxSchemaDepth)
		return ""
	}
	f := r.fields(n, what, keywords...)
	if n.Kind != yaml.MappingNode {
		return ""
	}
	r.need(n, f, what, "use one of "+strings.Join(types, ", "), "type")
	if t := f["type"]; t != nil {
		if kind = r.text(t, what+" type"); !slices.Contains(types, kind) {
			r.add(t, "use one of "+strings.Join(types, ", "), "%s has type %q", what, kind)
			return ""
		}
	}
	if kind == "object" {
		r.object(n, f, what, depth)
	} else if p := f["properties"]; p != nil {
		r.add(p, "write type: object, or remove it", "%s has properties but is of type %s", what, kind)
	}
	if kind == "array" {
		r.need(n, f, what, "say what the items are", "items")
		if f["items"] != nil {
			r.schema(f["items"], what+" items", depth+1)
		}
	}
	return kind
}

func (r *reader) object(n *yaml.Node, f map[string]*yaml.Node, what string, depth int) {
	closed := f["additionalProperties"]
	if closed == nil || closed.Tag != "!!bool" || closed.Value != "false" {
		at := n
		if closed != nil {
			at = closed
		}
		r.add(at, "write additionalProperties: false", "%s is open: a model could send keys that nobody checks", what)
	}
	var names []string
	r.each(f["properties"], what+" properties", func(key, value *yaml.Node) {
		names = append(names, key.Value)
		r.schema(value, what+" "+key.Value, depth+1)
	})
	for i, name := range r.texts(f["required"], what+" required") {
		if !slices.Contains(names, name) {
			r.add(f["required"].Content[i], suggest(name, names), "%s requires %q, which is not a property", what, name)
		}
	}
}

// property returns the type of a top-level parameter and whether a call must have it.
func (e *Entry) property(name string) (kind string, required, ok bool) {
	p, ok := e.schema.Properties[name]
	if !ok {
		return "", false, false
	}
	if types := p.Types.ToStrings(); len(types) == 1 {
		kind = types[0]
	}
	return kind, slices.Contains(e.schema.Required, name), true
}

// Check validates decoded arguments against the parameters. The error is the library's; its text repeats what the
// model sent and must never be shown or logged.
func (e *Entry) Check(arguments any) *jsonschema.ValidationError {
	var invalid *jsonschema.ValidationError
	if err := e.schema.Validate(arguments); err != nil && !errors.As(err, &invalid) {
		return &jsonschema.ValidationError{}
	}
	return invalid
}

func compile(text []byte) (*jsonschema.Schema, error) {
	const url = "catalogue:///parameters"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema can pull in no file and no URL
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

// schemaError puts the library's tree of reasons on one line.
func schemaError(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.ReplaceAll(strings.Join(lines[1:], " "), "catalogue:///parameters", "")
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// encode writes a YAML node as compact JSON in the file's order, so that the bytes a model is sent are the same on
// every start.
func encode(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encodeString(b, n.Content[i].Value); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := encode(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encode(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	return encodeScalar(b, n)
}

func encodeScalar(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Tag {
	case "!!str":
		return encodeString(b, n.Value)
	case "!!bool":
		v, err := strconv.ParseBool(strings.ToLower(n.Value))
		b.WriteString(strconv.FormatBool(v))
		return err
	case "!!int", "!!float":
		if !json.Valid([]byte(n.Value)) {
			return errors.New("a number is not written as JSON has it")
		}
		b.WriteString(n.Value)
		return nil
	}
	return errors.New("a value is neither text, number nor boolean")
}

func encodeString(b *bytes.Buffer, s string) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}
