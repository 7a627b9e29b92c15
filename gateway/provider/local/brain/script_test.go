package brain

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAScriptIsPlayedInOrder(t *testing.T) {
	b, err := ParseScript([]byte(`
responses:
  - - when: typed
    - say: {text: Dobrý den., language: cs}
    - wait: 300ms
    - call: {name: get_document, arguments: {id: welcome, n: 3}}
    - call: {name: odd, arguments: '{"id":'}
  - - say: Bye.
    - drop: response.done
    - malformed: "{"
    - error: {code: odd, message: Odd.}
    - fail: {}
    - close: true
then: again
`))
	if err != nil {
		t.Fatal(err)
	}
	m := b.Mind()
	if got := m.Respond(Turn{Input: Input{Kind: InputSpoken}}); got != nil {
		t.Errorf("a response for typed text answers speech: %v", got)
	}
	want := []Step{Say{"Dobrý den.", "cs"}, Wait{300 * time.Millisecond}, Call{"get_document", []byte(`{"id":"welcome","n":3}`)}, Call{"odd", []byte(`{"id":`)}}
	if got := m.Respond(Turn{Input: Input{Kind: InputTyped}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	want = []Step{Say{Text: "Bye."}, Fault{Kind: FaultDrop, Type: "response.done", Times: 1}, Fault{Kind: FaultMalformed, Text: "{"},
		Fault{Kind: FaultError, Code: "odd", Text: "Odd."}, Fault{Kind: FaultFail, Code: "server_error", Text: "An error was asked for."}, Fault{Kind: FaultClose}}
	for range 2 {
		if got := m.Respond(Turn{}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v", got)
		}
	}
}

func TestMistakesInAScriptAreAllNamedWithTheirLine(t *testing.T) {
	_, err := ParseScript([]byte(`responses:
  - - say: ""
    - shout: Hello.
    - wait: soon
    - call: {arguments: {}}
    - say: {text: x, langauge: cs}
    - close: maybe
  - hello
then: never
extra: 1
`))
	if !errors.Is(err, ErrScript) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"line 2: say needs", `line 3: unknown step "shout"`, "line 4: wait must", "line 5: call needs", `line 6: unknown or wrong key "langauge"`,
		"line 7: close must", "line 8: a response must", "line 9: then must", `line 10: unknown key "extra"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestScriptsThatAreNone(t *testing.T) {
	for _, s := range []string{"", "[]", "responses: []", "responses:\n  - say: x", "\t", "responses: [[]]\nresponses: [[]]"} {
		if _, err := ParseScript([]byte(s)); !errors.Is(err, ErrScript) {
			t.Errorf("%q: got %v", s, err)
		}
	}
	if _, err := LoadScript(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, ErrScript) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte("responses: [[{say: x}]]"))
	f.Add([]byte("responses: [[{close: {code: 1011}}, {delay: {event: a, for: 1s}}]]\ndoor: [{at: mint, status: 429}]\nsessions: [[{expires: 2s}], []]"))
	f.Add([]byte("responses: [[{call: {name: a, arguments: {b: [1, {c: d}]}}}]]\nthen: repeat"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, err := ParseScript(data); err == nil {
			b.Mind().Respond(Turn{})
		}
	})
}
