package realtime

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Schema is the JSON Schema (draft 2020-12) of all events that d sends, made from the same structs that Decode and Encode
// use. The committed files under schema/ are its output, byte for byte.
func Schema(d Direction) []byte {
	g := generator{defs: map[string]any{}}
	events := clientEvents
	title := "Realtime client events"
	if d == FromServer {
		events, title = serverEvents, "Realtime server events"
	}
	var refs []any
	for _, e := range events {
		k := registry()[e.EventType()]
		g.event(e.EventType(), k)
		refs = append(refs, ref(e.EventType()))
	}
	root := ordered{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", title},
		{"oneOf", refs},
	}
	defs := ordered{}
	for _, name := range slices.Sorted(maps.Keys(g.defs)) {
		defs = append(defs, member{name, g.defs[name]})
	}
	root = append(root, member{"$defs", defs})
	raw, err := marshal(root)
	if err != nil {
		panic("realtime: schema: " + err.Error()) // only strings and numbers of our own go in
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		panic("realtime: schema: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

type generator struct{ defs map[string]any }

func ref(name string) ordered { return ordered{{"$ref", "#/$defs/" + name}} }

// event is an object with the type as a constant.
func (g *generator) event(typ string, k kindOfEvent) {
	o := g.object(k.shape)
	props := append(ordered{{"type", ordered{{"const", typ}}}}, o.get("properties").(ordered)...)
	required := append([]string{"type"}, o.get("required").([]string)...)
	g.defs[typ] = ordered{{"type", "object"}, {"properties", props}, {"required", required}}
}

func (g *generator) object(s *shape) ordered {
	props, required := ordered{}, []string{}
	for _, f := range s.fields {
		props = append(props, member{f.name, g.schema(f.shape)})
		if f.required || f.emitted {
			required = append(required, f.name)
		}
	}
	return ordered{{"type", "object"}, {"properties", props}, {"required", required}}
}

func (g *generator) schema(s *shape) any {
	o := g.bare(s)
	if !s.null || s.kind == kindAny {
		return o
	}
	return ordered{{"anyOf", []any{o, ordered{{"type", "null"}}}}}
}

// bare is the schema without null.
func (g *generator) bare(s *shape) ordered {
	switch s.kind {
	case kindObject:
		if s.name == "" {
			return g.object(s)
		}
		if _, ok := g.defs[s.name]; !ok {
			g.defs[s.name] = nil // taken: the type may contain itself
			o := g.object(s)
			if s.name == "Item" {
				o = append(o, member{"allOf", itemConditions()})
			}
			g.defs[s.name] = o
		}
		return ref(s.name)
	case kindArray:
		return ordered{{"type", "array"}, {"items", g.schema(s.elem)}}
	case kindMap:
		if s.elem.kind == kindAny {
			return ordered{{"type", "object"}}
		}
		return ordered{{"type", "object"}, {"additionalProperties", g.schema(s.elem)}}
	case kindUnion:
		var alts []any
		for _, a := range s.alts {
			alts = append(alts, g.schema(a))
		}
		return ordered{{"anyOf", alts}}
	case kindAny:
		return ordered{}
	}
	return scalar(s)
}

func scalar(s *shape) ordered {
	o := ordered{{"type", map[kind]string{kindString: "string", kindInteger: "integer", kindNumber: "number", kindBool: "boolean"}[s.kind]}}
	if len(s.enum) > 0 {
		o = append(o, member{"enum", s.enum})
	}
	if s.minLen > 0 {
		o = append(o, member{"minLength", s.minLen})
	}
	if s.maxLen > 0 {
		o = append(o, member{"maxLength", s.maxLen})
	}
	if s.min != nil {
		o = append(o, member{"minimum", *s.min})
	}
	if s.max != nil {
		o = append(o, member{"maximum", *s.max})
	}
	return o
}

// itemConditions says what each type of item must have.
func itemConditions() []any {
	var all []any
	for _, typ := range slices.Sorted(maps.Keys(itemRules)) {
		all = append(all, ordered{
			{"if", ordered{{"properties", ordered{{"type", ordered{{"const", typ}}}}}, {"required", []string{"type"}}}},
			{"then", ordered{{"required", itemRules[typ].required}}},
		})
	}
	return all
}

// ordered is a JSON object that keeps its order.
type ordered []member

type member struct {
	key   string
	value any
}

func (o ordered) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		k, err := marshal(m.key)
		if err != nil {
			return nil, err
		}
		v, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, k...), ':'), v...)
	}
	return append(b, '}'), nil
}
