package call

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hovor/signaling/realtime"
)

func TestReasonsOnTheWireInTheDocumentAndInCodeAgree(t *testing.T) {
	doc, err := os.ReadFile("call.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(doc), "## How it ends")
	if !found {
		t.Fatal("call.md does not say how a call ends")
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(table, -1) {
		documented = append(documented, m[1])
	}
	var known []string
	for _, r := range EndReasons() {
		known = append(known, string(r))
		raw, err := realtime.Encode(&realtime.HovorEnded{Reason: string(r), Message: r.Sentence()})
		if err != nil {
			t.Fatal(err)
		}
		ev, err := realtime.Decode(realtime.FromServer, raw)
		if err != nil || ev.(*realtime.HovorEnded).Reason != string(r) {
			t.Errorf("%s does not cross the wire: %v", r, err)
		}
	}
	if !slices.Equal(known, documented) {
		t.Errorf("code has %v\ncall.md has %v", known, documented)
	}
}
