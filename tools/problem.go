package tools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"hovor/tools/catalogue"
	"hovor/tools/internal/strictjson"
)

// fault is what is wrong with the arguments of a call: a sort from a closed set, the parameter it is about when the
// catalogue knows that parameter, and a limit. It never holds anything that the model sent.
type fault struct {
	sort  string
	field string // "" = the arguments as a whole
	limit string
}

// The sorts of faults, with a sentence per language. %[1]s is the field, %[2]s the limit.
var faults = map[string]map[string]string{
	"syntax": {
		"en": "The arguments are not JSON.", "cs": "Argumenty nejsou JSON.",
		"de": "Die Argumente sind kein JSON.", "ru": "Аргументы не являются JSON."},
	"unicode": {
		"en": "The arguments hold broken Unicode.", "cs": "Argumenty obsahují poškozený Unicode.",
		"de": "Die Argumente enthalten fehlerhaftes Unicode.", "ru": "Аргументы содержат повреждённый Unicode."},
	"object": {
		"en": "The arguments must be a JSON object.", "cs": "Argumenty musí být objekt JSON.",
		"de": "Die Argumente müssen ein JSON-Objekt sein.", "ru": "Аргументы должны быть объектом JSON."},
	"size": {
		"en": "The arguments are longer than %[2]s bytes.", "cs": "Argumenty jsou delší než %[2]s bajtů.",
		"de": "Die Argumente sind länger als %[2]s Bytes.", "ru": "Аргументы длиннее %[2]s байт."},
	"depth": {
		"en": "The arguments are nested deeper than %[2]s levels.", "cs": "Argumenty jsou vnořené hlouběji než %[2]s úrovní.",
		"de": "Die Argumente sind tiefer als %[2]s Ebenen verschachtelt.", "ru": "Аргументы вложены глубже %[2]s уровней."},
	"duplicate": {
		"en": "The arguments have a key twice.", "cs": "Argumenty mají jeden klíč dvakrát.",
		"de": "Die Argumente haben einen Schlüssel doppelt.", "ru": "В аргументах один ключ стоит дважды."},
	"duplicate_field": {
		"en": "The arguments have %[1]s twice.", "cs": "Argumenty mají %[1]s dvakrát.",
		"de": "Die Argumente haben %[1]s doppelt.", "ru": "В аргументах %[1]s стоит дважды."},
	"number": {
		"en": "The arguments have a number beyond 2^53 - 1, which cannot be passed on exactly.",
		"cs": "Argumenty mají číslo větší než 2^53 - 1, které nejde předat přesně.",
		"de": "Die Argumente haben eine Zahl jenseits von 2^53 - 1, die sich nicht genau weitergeben lässt.",
		"ru": "В аргументах есть число больше 2^53 - 1, его нельзя передать точно."},
	"extra": {
		"en": "The arguments have a key that the tool does not know; it takes only: %[2]s.",
		"cs": "Argumenty mají klíč, který nástroj nezná; bere jen: %[2]s.",
		"de": "Die Argumente haben einen Schlüssel, den das Werkzeug nicht kennt; es nimmt nur: %[2]s.",
		"ru": "В аргументах есть ключ, которого инструмент не знает; он принимает только: %[2]s."},
	"extra_none": {
		"en": "The tool takes no arguments.", "cs": "Nástroj nebere žádné argumenty.",
		"de": "Das Werkzeug nimmt keine Argumente.", "ru": "Инструмент не принимает аргументов."},
	"case": {
		"en": "The arguments have a key that differs from %[1]s only in its letters' case or look.",
		"cs": "Argumenty mají klíč, který se od %[1]s liší jen velikostí nebo podobou písmen.",
		"de": "Die Argumente haben einen Schlüssel, der sich von %[1]s nur in Groß- und Kleinschreibung oder Aussehen unterscheidet.",
		"ru": "В аргументах есть ключ, который отличается от %[1]s только регистром или видом букв."},
	"missing": {
		"en": "The arguments lack %[1]s.", "cs": "V argumentech chybí %[1]s.",
		"de": "In den Argumenten fehlt %[1]s.", "ru": "В аргументах нет %[1]s."},
	"type": {
		"en": "%[1]s must be of type %[2]s.", "cs": "%[1]s musí být typu %[2]s.",
		"de": "%[1]s muss vom Typ %[2]s sein.", "ru": "%[1]s должно быть типа %[2]s."},
	"short": {
		"en": "%[1]s is shorter than %[2]s.", "cs": "%[1]s je kratší než %[2]s.",
		"de": "%[1]s ist kürzer als %[2]s.", "ru": "%[1]s короче %[2]s."},
	"long": {
		"en": "%[1]s is longer than %[2]s.", "cs": "%[1]s je delší než %[2]s.",
		"de": "%[1]s ist länger als %[2]s.", "ru": "%[1]s длиннее %[2]s."},
	"value": {
		"en": "%[1]s has a value that the tool does not take.", "cs": "%[1]s má hodnotu, kterou nástroj nebere.",
		"de": "%[1]s hat einen Wert, den das Werkzeug nicht nimmt.", "ru": "%[1]s имеет значение, которого инструмент не принимает."},
}

// sentence is the fault in the language of the conversation.
func (f fault) sentence(language string) string {
	text := faults[f.sort][catalogue.Language(language)]
	if !strings.Contains(text, "%") {
		return text
	}
	field := f.field
	if field == "" {
		field = "arguments"
	}
	// Explicit indexes: a sentence that uses only one of the two must not print the other.
	return strings.NewReplacer("%[1]s", strconv.Quote(field), "%[2]s", f.limit).Replace(text)
}

// decode checks a call's arguments against its entry and returns them.
func (w *work) decode(limits Limits) (map[string]any, *fault) {
	if len(w.text) > limits.ArgumentBytes {
		return nil, &fault{sort: "size", limit: strconv.Itoa(limits.ArgumentBytes)}
	}
	if w.parseErr != nil {
		return nil, parseFault(w.entry, w.parseErr, w.key, limits)
	}
	object, ok := w.value.(map[string]any)
	if !ok {
		return nil, &fault{sort: "object"}
	}
	if f := keysFault(w.entry, object); f != nil {
		return nil, f
	}
	if invalid := w.entry.Check(object); invalid != nil {
		return nil, schemaFault(w.entry, invalid)
	}
	return object, nil
}

func parseFault(e *catalogue.Entry, err error, key string, limits Limits) *fault {
	switch err {
	case strictjson.ErrUnicode:
		return &fault{sort: "unicode"}
	case strictjson.ErrNumber:
		return &fault{sort: "number"}
	case strictjson.ErrDepth:
		return &fault{sort: "depth", limit: strconv.Itoa(limits.ArgumentDepth)}
	case strictjson.ErrDuplicate:
		if slices.Contains(e.Properties, key) {
			return &fault{sort: "duplicate_field", field: key}
		}
		return &fault{sort: "duplicate"}
	}
	return &fault{sort: "syntax"}
}

// keysFault looks for keys that the entry does not have, and tells a near miss from a stranger.
func keysFault(e *catalogue.Entry, object map[string]any) *fault {
	var stranger bool
	for key := range object {
		if slices.Contains(e.Properties, key) {
			continue
		}
		for _, known := range e.Properties {
			if lookAlike(key, known) {
				return &fault{sort: "case", field: known}
			}
		}
		stranger = true
	}
	switch {
	case !stranger:
		return nil
	case len(e.Properties) == 0:
		return &fault{sort: "extra_none"}
	}
	return &fault{sort: "extra", limit: strings.Join(e.Properties, ", ")}
}

// schemaFault turns the first leaf of the library's error into a fault; its values stay behind.
func schemaFault(e *catalogue.Entry, invalid *jsonschema.ValidationError) *fault {
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	f := &fault{sort: "value"}
	if at := invalid.InstanceLocation; len(at) > 0 && slices.Contains(e.Properties, at[0]) {
		f.field = at[0] // deeper names are not worth the risk of repeating what the model made up
	}
	switch k := invalid.ErrorKind.(type) {
	case *kind.Required:
		if len(k.Missing) > 0 && len(invalid.InstanceLocation) == 0 {
			f.sort, f.field = "missing", k.Missing[0]
		}
	case *kind.Type:
		f.sort, f.limit = "type", strings.Join(k.Want, ", ")
	case *kind.MinLength:
		f.sort, f.limit = "short", fmt.Sprint(k.Want)
	case *kind.MinItems:
		f.sort, f.limit = "short", fmt.Sprint(k.Want)
	case *kind.MaxLength:
		f.sort, f.limit = "long", fmt.Sprint(k.Want)
	case *kind.MaxItems:
		f.sort, f.limit = "long", fmt.Sprint(k.Want)
	}
	return f
}
