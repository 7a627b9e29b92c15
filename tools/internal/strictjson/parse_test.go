package strictjson

import (
	"errors"
	"strings"
	"testing"
)

func TestParseRefusesWhatTwoReadersCouldUnderstandDifferently(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"empty", ``, ErrSyntax},
		{"cut short", `{"a":`, ErrSyntax},
		{"cut inside a string", `{"a":"b`, ErrSyntax},
		{"not closed", `{"a":1`, ErrSyntax},
		{"array not closed", `[1`, ErrSyntax},
		{"two values", `{} {}`, ErrSyntax},
		{"trailing text", `{}x`, ErrSyntax},
		{"key is no string", `{1:2}`, ErrSyntax},
		{"single quotes", `{'a':1}`, ErrSyntax},
		{"stray close", `}`, ErrSyntax},
		{"NaN", `{"a":NaN}`, ErrSyntax},
		{"duplicate key", `{"a":1,"a":2}`, ErrDuplicate},
		{"duplicate key, one escaped", `{"a":1,"\u0061":2}`, ErrDuplicate},
		{"duplicate key deep inside", `{"x":[{"a":1,"a":2}]}`, ErrDuplicate},
		{"2^53", `{"a":9007199254740992}`, ErrNumber},
		{"-2^53", `{"a":-9007199254740992}`, ErrNumber},
		{"2^53 as exponent", `{"a":9007199254740992e0}`, ErrNumber},
		{"far too large", `{"a":1e400}`, ErrNumber},
		{"longer than an int64", `{"a":99999999999999999999}`, ErrNumber},
		{"lone high surrogate", `{"a":"\ud800"}`, ErrUnicode},
		{"lone low surrogate", `{"a":"\udc00"}`, ErrUnicode},
		{"high surrogate twice", `{"a":"\ud83d\ud83d"}`, ErrUnicode},
		{"broken UTF-8", "{\"a\":\"\xff\"}", ErrUnicode},
		{"too deep", strings.Repeat("[", 5) + strings.Repeat("]", 5), ErrDepth},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := Parse([]byte(c.text), 4); !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestParseReadsWhatIsPlain(t *testing.T) {
	for text, canonical := range map[string]string{
		` {"b": 1, "a":"<č>"} `:           `{"a":"<č>","b":1}`,
		`{"a":9007199254740991}`:          `{"a":9007199254740991}`,
		`{"a":-9007199254740991}`:         `{"a":-9007199254740991}`,
		`{"a":"\ud83d\ude00"}`:            `{"a":"😀"}`,
		`{"a":"\\ud800"}`:                 `{"a":"\\ud800"}`,
		`{"a":[1.5,true,null,{}],"c":[]}`: `{"a":[1.5,true,null,{}],"c":[]}`,
		`[[[[]]]]`:                        `[[[[]]]]`,
	} {
		v, _, err := Parse([]byte(text), 4)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := Canonical(v)
		if err != nil || string(got) != canonical {
			t.Fatalf("%s: got %s, %v; want %s", text, got, err, canonical)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\ud83d\ude00"]}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, _, err := Parse(text, 8)
		if err != nil {
			return
		}
		once, err := Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Parse(once, 8)
		if err != nil {
			t.Fatalf("canonical form does not parse: %v", err)
		}
		if twice, _ := Canonical(again); string(twice) != string(once) {
			t.Fatal("canonical form is not stable")
		}
	})
}
