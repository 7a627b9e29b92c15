package catalogue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hovor/tools/effect"
)

// entry is a tool that loads; tests break one thing of it at a time.
const entry = `  - name: get_document
    class: read
    description: Read a document.
    parameters:
      type: object
      properties:
        id: {type: string, minLength: 1}
        page: {type: integer, minimum: 1}
      required: [id]
      additionalProperties: false
    http:
      service: demo
      method: GET
      path: /documents/{id}
      query: {page: "{page}"}
`

const head = "version: 1\nservices: [demo]\ntools:\n"

func TestAFileThatIsRightLoads(t *testing.T) {
	c, err := Parse("c.yaml", []byte(head+entry+"profiles: {voice: [get_document]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := c.Lookup("get_document")
	if !ok || e.Class != effect.Read || e.Ceiling != effect.Free || e.Line != 4 {
		t.Fatalf("got %+v", e)
	}
	want := `{"type":"object","properties":{"id":{"type":"string","minLength":1},"page":{"type":"integer","minimum":1}},"required":["id"],"additionalProperties":false}`
	if string(e.Parameters) != want {
		t.Fatalf("parameters %s", e.Parameters)
	}
	if p, ok := c.Profile("voice"); !ok || len(p) != 1 || p[0] != e {
		t.Fatal("the profile does not offer the tool")
	}
	if _, ok := c.Profile("other"); ok {
		t.Fatal("a profile that is not there was found")
	}
}

func TestNamesAreExact(t *testing.T) {
	c, err := Parse("c.yaml", []byte(head+entry))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "Get_document", "GET_DOCUMENT", "get_document ", " get_document", "get-document",
		"get_dоcument" /* Cyrillic o */, "ｇet_document", "get_document\u200b", "get_document\x00"} {
		if _, ok := c.Lookup(name); ok {
			t.Errorf("%q was taken for get_document", name)
		}
	}
}

func TestACeilingIsRaisedAndNeverLowered(t *testing.T) {
	load := func(class, ceiling, method string) (*Catalogue, error) {
		text := strings.Replace(head+entry, "class: read\n", "class: "+class+"\n    ceiling: "+ceiling+"\n", 1)
		return Parse("c.yaml", []byte(strings.Replace(text, "method: GET", "method: "+method, 1)))
	}
	c, err := load("external", "card", "POST")
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := c.Lookup("get_document"); e.Ceiling != effect.Card || e.Decision() != effect.Confirm {
		t.Fatalf("ceiling %s", e.Ceiling)
	}
	if _, err := load("external", "undo", "POST"); err == nil || !strings.Contains(err.Error(), "can only be raised") {
		t.Fatalf("a lowered ceiling loaded: %v", err)
	}
}

// Each case replaces one piece of a file that loads, and names the line and the words that a person needs to mend it.
func TestAFileThatIsWrongNamesLineAndFix(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"no class", "    class: read\n", "", "c.yaml:4: tool get_document: the tool has no class; fix: say what a call really does"},
		{"made-up class", "class: read", "class: write", `c.yaml:5: tool get_document: class "write" is not an effect class: want one of read,`},
		{"class with a capital", "class: read", "class: Read", `class "Read" is not`},
		{"empty class", "class: read", "class: ''", "class is empty"},
		{"unknown key with a near miss", "description:", "descripton:", `c.yaml:6: tool get_document: the tool has no key "descripton"; fix: write "description"`},
		{"unknown key at the top", "version: 1", "version: 1\ntool: []", `c.yaml:2: the catalogue has no key "tool"; fix: write "tools"`},
		{"no version", "version: 1\n", "", "the catalogue has no version"},
		{"other version", "version: 1", "version: 2", "c.yaml:1: the catalogue's version is not 1"},
		{"key twice", "    class: read\n", "    class: read\n    class: screen\n", `c.yaml:6: tool get_document: the tool has the key "class" twice`},
		{"open schema", "      additionalProperties: false\n", "", ": tool get_document: parameters is open"},
		{"schema opened on purpose", "additionalProperties: false", "additionalProperties: true", "c.yaml:13: tool get_document: parameters is open"},
		{"nested schema open", "id: {type: string, minLength: 1}", "id: {type: object, properties: {x: {type: string}}}", "parameters id is open"},
		{"keyword that opens", "      required: [id]\n", "      required: [id]\n      patternProperties: {}\n", `parameters has no key "patternProperties"`},
		{"reference to elsewhere", "id: {type: string, minLength: 1}", `id: {$ref: "file:///etc/passwd"}`, `parameters id has no key "$ref"`},
		{"schema of no object", entry[strings.Index(entry, "      type: object"):strings.Index(entry, "    http:")], "      type: string\n", "parameters must describe an object"},
		{"made-up type", "{type: string, minLength: 1}", "{type: text}", `parameters id has type "text"`},
		{"schema that is none", "minLength: 1", "minLength: many", "parameters are not a JSON Schema"},
		{"pattern that is none", "minLength: 1", "pattern: '('", "parameters are not a JSON Schema"},
		{"required but not there", "required: [id]", "required: [id, idd]", `parameters requires "idd", which is not a property; fix: write "id"`},
		{"path parameter may be left out", "      required: [id]\n", "", "{id} stands in the path but a call may leave it out"},
		{"template names a stranger", "{id}", "{doc}", "names {doc}, which is not a parameter"},
		{"parameter nobody receives", `      query: {page: "{page}"}` + "\n", "", "parameter page is never sent"},
		{"path out of the base", "/documents/{id}", "/documents/../{id}", "is not usable"},
		{"path with a query", "/documents/{id}", "/documents/{id}?all=1", "is not usable"},
		{"path elsewhere", "/documents/{id}", "https://example.org/{id}", "does not start at the service's base URL"},
		{"unknown service", "service: demo", "service: demos", `service "demos" is not listed under services; fix: write "demo"`},
		{"a read that may write", "method: GET", "method: POST", "class read does not fit: POST may write"},
		{"a writer that only reads", "class: read", "class: shared", "class shared does not fit: GET only reads"},
		{"screen by HTTP", "class: read", "class: screen", "class screen does not fit"},
		{"method in small letters", "method: GET", "method: get", `method "get" is not usable`},
		{"no executor", entry[strings.Index(entry, "    http:"):], "", "the tool has no executor"},
		{"two executors", "    http:", "    screen: true\n    http:", "two executors"},
		{"timeout without unit", "      path:", "      timeout: 5\n      path:", "timeout is not"},
		{"timeout too long", "      path:", "      timeout: 5m\n      path:", "timeout is not usable"},
		{"result too large", "      path:", "      max_bytes: 99999999\n      path:", "max_bytes is not usable"},
		{"pointer that is none", "      path:", "      result: {pointer: documents}\n      path:", "is not a JSON pointer"},
		{"body on a GET", "      query:", "      body: {x: y}\n      query:", "a GET request has no body"},
		{"name with a capital", "name: get_document", "name: Get_document", "is not usable"},
		{"name as look-alike", "name: get_document", "name: get_dоcument", "is not usable"},
		{"declared twice", entry, entry + entry, "tool get_document is declared twice; the first stands in line 4"},
		{"unknown language", "    http:", "    sentences: {fr: {denied: Non.}}\n    http:", `sentences has no key "fr"`},
		{"unknown status", "    http:", "    sentences: {en: {done: Yes.}}\n    http:", `sentences in en has no key "done"`},
		{"profile with a stranger", entry, entry + "profiles: {voice: [get_documents]}\n", `profile voice lists "get_documents", which is not declared; fix: write "get_document"`},
		{"alias", "services: [demo]", "services: &s [demo]\nprofiles: {voice: *s}", "is an alias"},
		{"merge key", "    class: read\n", "    class: read\n    <<: {name: x}\n", "key that is not text"},
		{"second document", "version: 1\n", "version: 1\n---\nversion: 1\n", "more than one document"},
		{"no YAML", "version: 1", "version: [1", "is not YAML"},
		{"tools is no list", head + entry, "version: 1\ntools: {a: b}\n", "tools must be a list"},
		{"no tools", head + entry, "version: 1\ntools: []\n", "tools is empty"},
		{"empty file", head + entry, "", "the file is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(head+entry, c.old, c.new, 1)
			if text == head+entry {
				t.Fatal("the case changes nothing")
			}
			got, err := Parse("c.yaml", []byte(text))
			if got != nil || !errors.Is(err, ErrLoad) {
				t.Fatalf("loaded: %v", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Fatalf("want %q in:\n%v", c.want, err)
			}
		})
	}
}

func TestEveryProblemIsListedAtOnceInTheFilesOrder(t *testing.T) {
	text := strings.NewReplacer("class: read", "class: write", "method: GET", "method: FETCH", "required: [id]", "required: [ids]").Replace(head + entry)
	_, err := Parse("c.yaml", []byte(text))
	var load *LoadError
	if !errors.As(err, &load) || len(load.Problems) != 3 {
		t.Fatalf("want three problems: %v", err)
	}
	for i := 1; i < len(load.Problems); i++ {
		if load.Problems[i].Line < load.Problems[i-1].Line {
			t.Fatalf("not in the file's order: %v", err)
		}
	}
}

func TestNeverByVoiceIsOfferedToNobody(t *testing.T) {
	text := strings.NewReplacer("class: read", "class: sensitive", "method: GET", "method: DELETE").Replace(head+entry) +
		"profiles: {voice: [get_document]}\n"
	if _, err := Parse("c.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "which is never done by voice") {
		t.Fatalf("got %v", err)
	}
}

func TestLoadReadsAFileAndNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.yaml")
	if _, err := Load(path); !errors.Is(err, os.ErrNotExist) || !errors.Is(err, ErrLoad) {
		t.Fatalf("missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte(head+"  - {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path+":4: the tool has no name") {
		t.Fatalf("got %v", err)
	}
}

func TestEverySentenceExistsInEveryLanguage(t *testing.T) {
	for _, language := range Languages {
		if len(defaults[language]) != len(defaults["en"]) {
			t.Errorf("%s has %d sentences, en has %d", language, len(defaults[language]), len(defaults["en"]))
		}
		seen := map[string]Saying{}
		for saying := range defaults["en"] {
			text := defaults[language][saying]
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s %s: %q is no sentence", language, saying, text)
			}
			if other, twice := seen[text]; twice {
				t.Errorf("%s says the same for %s and %s", language, saying, other)
			}
			seen[text] = saying
		}
	}
}

func TestSentencesFallBackFromEntryToFileToDefault(t *testing.T) {
	text := "version: 1\nservices: [demo]\nsentences: {cs: {denied: Tam ne.}, de: {denied: Da nicht.}}\ntools:\n" +
		entry + "    sentences: {cs: {denied: Sem ne.}}\n"
	c, err := Parse("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Lookup("get_document")
	for language, want := range map[string]string{
		"cs": "Sem ne.", "cs-CZ": "Sem ne.", "de-AT": "Da nicht.", "en": defaults["en"][SayDenied], "fr": defaults["en"][SayDenied],
		"": defaults["en"][SayDenied], "RU": defaults["ru"][SayDenied],
	} {
		if got := e.Sentence(language, SayDenied); got != want {
			t.Errorf("%q: %q, want %q", language, got, want)
		}
	}
	if got := (*Entry)(nil).Sentence("cs", SayUnknownTool); got != defaults["cs"][SayUnknownTool] {
		t.Errorf("no entry: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(head + entry)
	f.Add("version: 1\ntools: [{}]\nprofiles: {a: [b]}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("c.yaml", []byte(text))
		if (c == nil) == (err == nil) {
			t.Fatal("neither a catalogue nor an error, or both")
		}
		if c == nil {
			return
		}
		for _, e := range c.Entries() {
			if e.Ceiling.Below(e.Class.Floor()) || (e.HTTP == nil) == !e.Screen {
				t.Fatalf("loaded %+v", e)
			}
		}
	})
}
