package tools

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Success has two sources: execute, which passes on what an executor established, and verdict, which reads how a screen
// request ended; output and Statuses only read it. A screen request ends as found in credit alone, which takes a page's
// report.
func TestSuccessIsNamedInTwoPlacesOnly(t *testing.T) {
	want := map[string][]string{
		"StatusOK":    {"execute", "output", "verdict", "Statuses"},
		"screenFound": {"credit", "verdict"},
		"ScreenFound": {"Outcome"},
	}
	for name, functions := range want {
		got := uses(t, name)
		slices.Sort(functions)
		if !slices.Equal(got, functions) {
			t.Errorf("%s is named in %v, want %v", name, got, functions)
		}
	}
}

func TestTheZeroValuesClaimNothing(t *testing.T) {
	for st := range screenUndelivered + 3 {
		if (st.verdict().status == StatusOK) != (st == screenFound) {
			t.Errorf("state %d proves %s", st, st.verdict().status)
		}
	}
	if (verdict{}).status == StatusOK || (screenState(0)).verdict().status != StatusPending {
		t.Error("a zero value is a success")
	}
}

// uses lists the functions of the package, without tests, that name an identifier.
func uses(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if _, other := n.(*ast.SelectorExpr); other {
					return false // another package's name, or a field
				}
				if id, ok := n.(*ast.Ident); ok && id.Name == name {
					found[f.Name.Name] = true
				}
				return true
			})
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func TestEveryFaultExistsInEveryLanguageAndPrintsNoVerb(t *testing.T) {
	for sort, texts := range faults {
		for _, language := range []string{"en", "cs", "de", "ru"} {
			if texts[language] == "" {
				t.Errorf("%s has no sentence in %s", sort, language)
			}
			if s := (fault{sort: sort, field: "id", limit: "3"}).sentence(language); strings.Contains(s, "%") || !strings.HasSuffix(s, ".") {
				t.Errorf("%s in %s: %q", sort, language, s)
			}
		}
	}
}
