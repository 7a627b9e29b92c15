package execute

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"hovor/tools/catalogue"
)

func TestPartsOfAnAnswerAreFoundByPointer(t *testing.T) {
	answer := `{"a":{"b/c":[10,{"~":"deep"}]},"":1}`
	for pointer, want := range map[string]string{"": answer, "/a/b~1c/0": "10", "/a/b~1c/1/~0": `"deep"`} {
		o := result([]byte(answer), &catalogue.HTTP{Pointer: pointer, MaxBytes: 1000})
		var got, expected any
		if json.Unmarshal(o.Result, &got) != nil || json.Unmarshal([]byte(want), &expected) != nil || fmt.Sprint(got) != fmt.Sprint(expected) {
			t.Errorf("%q: %+v", pointer, o)
		}
	}
	for _, pointer := range []string{"/b", "/a/b~1c/2", "/a/b~1c/-1", "/a/b~1c/x", "/a/b~1c/0/x"} {
		if o := result([]byte(answer), &catalogue.HTTP{Pointer: pointer, MaxBytes: 1000}); o.Detail != DetailMapping {
			t.Errorf("%q: %+v", pointer, o)
		}
	}
}

func TestALongTextKeepsItsBeginningAndAMark(t *testing.T) {
	answer, _ := json.Marshal(map[string]string{"id": "x", "title": "Titulek", "text": strings.Repeat("Příliš žluťoučký kůň. ", 100)})
	o := result(answer, &catalogue.HTTP{MaxBytes: 300})
	var got map[string]string
	if err := json.Unmarshal(o.Result, &got); err != nil {
		t.Fatal(err)
	}
	if got["id"] != "x" || got["title"] != "Titulek" || !strings.HasPrefix(got["text"], "Příliš") || !strings.HasSuffix(got["text"], cutMark) {
		t.Fatalf("got %s", o.Result)
	}
	if len(o.Result) > 300 || len(o.Result) < 280 || o.Cut != len(answer) {
		t.Fatalf("%d bytes of %d, cut %d", len(o.Result), len(answer), o.Cut)
	}
}

func TestALongListKeepsItsFirstItemsAndAMark(t *testing.T) {
	answer := `[` + strings.TrimSuffix(strings.Repeat(`{"id":"document"},`, 100), ",") + `]`
	o := result([]byte(answer), &catalogue.HTTP{MaxBytes: 256})
	var got []any
	if err := json.Unmarshal(o.Result, &got); err != nil || len(got) < 10 || got[len(got)-1] != cutMark || len(o.Result) > 256 {
		t.Fatalf("%s %v", o.Result, err)
	}
}

func TestWhateverIsShortenedFitsAndIsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 600 {
		value := grow(rng, 3)
		answer, _ := json.Marshal(value)
		o := result(answer, &catalogue.HTTP{MaxBytes: 256})
		if !json.Valid(o.Result) || !utf8.Valid(o.Result) || len(o.Result) > 256 {
			t.Fatalf("%d bytes: %s\nof %s", len(o.Result), o.Result, answer)
		}
		if o.Cut > 0 != (size(value) > 256) || (o.Cut > 0 && !strings.Contains(string(o.Result), cutMark) && len(o.Result) > 2) {
			t.Fatalf("cut %d without a mark: %s", o.Cut, o.Result)
		}
	}
}

func grow(rng *rand.Rand, depth int) any {
	if depth == 0 {
		return strings.Repeat("ž<\"\n", rng.IntN(40))
	}
	switch rng.IntN(5) {
	case 0:
		out := []any{}
		for range rng.IntN(12) {
			out = append(out, grow(rng, depth-1))
		}
		return out
	case 1, 2:
		out := map[string]any{}
		for i := range rng.IntN(12) {
			out[strings.Repeat("k", rng.IntN(30))+fmt.Sprint(i)] = grow(rng, depth-1)
		}
		return out
	case 3:
		return json.Number("12345678.9")
	}
	return strings.Repeat("a word ", rng.IntN(120))
}
