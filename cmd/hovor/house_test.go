package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The rules of the house that a machine can check. They hold over every package of the module.

const root = "../.."

type pkg struct {
	ImportPath   string
	Dir          string
	Imports      []string
	TestGoFiles  []string
	XTestGoFiles []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// wall says that nothing under From may reach anything under To, by any path of imports.
type wall struct{ From, To, Why string }

var walls = []wall{
	{"hovor/sfu", "hovor/tools", "a tool that hangs never delays a packet"},
	{"hovor/vad", "hovor/tools", "a tool that hangs never delays a packet"},
	{"hovor/tools", "hovor/sfu", "a lost packet never delays a tool"},
	{"hovor/tools", "hovor/vad", "a lost packet never delays a tool"},
	{"hovor/sfu", "hovor/vad", "rooms: sfu imports nothing of ours"},
	{"hovor/sfu", "hovor/signaling", "rooms: sfu imports nothing of ours"},
	{"hovor/sfu", "hovor/gateway", "rooms: sfu imports nothing of ours"},
	{"hovor/vad", "hovor/sfu", "rooms: vad imports nothing of ours"},
	{"hovor/vad", "hovor/signaling", "rooms: vad imports nothing of ours"},
	{"hovor/vad", "hovor/gateway", "rooms: vad imports nothing of ours"},
	{"hovor/tools", "hovor/signaling", "rooms: tools imports nothing of ours"},
	{"hovor/tools", "hovor/gateway", "rooms: tools imports nothing of ours"},
	{"hovor/signaling", "hovor/vad", "rooms: signaling imports sfu alone"},
	{"hovor/signaling", "hovor/tools", "rooms: signaling imports sfu alone"},
	{"hovor/signaling", "hovor/gateway", "rooms: signaling imports sfu alone"},
	{"hovor/gateway/provider", "hovor/tools/commit", "commit is out of the model's reach"},
	{"hovor/gateway/call", "hovor/tools/commit", "commit is out of the model's reach"},
	{"hovor/signaling", "hovor/tools/commit", "commit is out of the model's reach"},
}

func under(path, room string) bool { return path == room || strings.HasPrefix(path, room+"/") }

// breaches lists every import chain that crosses a wall.
func breaches(graph map[string][]string, walls []wall) []string {
	var found []string
	for _, w := range walls {
		for from := range graph {
			if !under(from, w.From) {
				continue
			}
			if chain := reach(graph, from, w.To, map[string]bool{}); chain != nil {
				found = append(found, strings.Join(chain, " → ")+" ("+w.Why+")")
			}
		}
	}
	return found
}

func reach(graph map[string][]string, at, room string, seen map[string]bool) []string {
	if seen[at] {
		return nil
	}
	seen[at] = true
	if under(at, room) {
		return []string{at}
	}
	for _, next := range graph[at] {
		if rest := reach(graph, next, room, seen); rest != nil {
			return append([]string{at}, rest...)
		}
	}
	return nil
}

func TestWalls(t *testing.T) {
	graph := map[string][]string{}
	for _, p := range packages(t) {
		graph[p.ImportPath] = p.Imports
	}
	for _, b := range breaches(graph, walls) {
		t.Errorf("a wall is crossed: %s", b)
	}
}

func TestWallsAreSeenWhenCrossed(t *testing.T) {
	graph := map[string][]string{
		"hovor/vad/turn":              {"hovor/vad"},
		"hovor/vad":                   {"hovor/tools/catalogue"},
		"hovor/gateway/provider/live": {"hovor/gateway/consent"},
		"hovor/gateway/consent":       {"hovor/tools/commit"},
	}
	if got := breaches(graph, walls); len(got) != 3 {
		t.Errorf("want the three crossings (vad, vad/turn, provider → commit), got %v", got)
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range packages(t) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Errorf("%s: no doc.go: %v", p.ImportPath, err)
			continue
		}
		if f.Doc == nil || len(strings.Fields(f.Doc.Text())) < 20 {
			t.Errorf("%s: doc.go must say its purpose, what it owns and what it never does", p.ImportPath)
		}
	}
}

// TestNoTestSleepsInRealTime lets a package's tests sleep only when they have a bubble to sleep in.
func TestNoTestSleepsInRealTime(t *testing.T) {
	for _, p := range packages(t) {
		var sleepers []string
		bubble := false
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			bubble = bubble || bytes.Contains(text, []byte("synctest.Test"+"("))
			if bytes.Contains(text, []byte("time.Sleep"+"(")) {
				sleepers = append(sleepers, name)
			}
		}
		if len(sleepers) > 0 && !bubble {
			t.Errorf("%s: %v sleep, and no test of the package runs in a synctest bubble", p.ImportPath, sleepers)
		}
	}
}

func TestTopLevel(t *testing.T) {
	known := map[string]bool{}
	for _, n := range strings.Fields("cmd gateway signaling sfu tools vad deploy go.mod go.sum Makefile README.md LICENSE") {
		known[n] = true
	}
	out, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Skip("not a git checkout, so what is committed cannot be told")
	}
	for _, f := range strings.Fields(string(out)) {
		if top, _, _ := strings.Cut(f, "/"); !known[top] && !strings.HasPrefix(top, ".") {
			t.Errorf("the top level holds %q, which the layout does not know", top)
		}
	}
}

// hosts are package registries; naming one ties the project to a network that a reader may not have.
var hosts = regexp.MustCompile(`registry\.npmjs\.org|files\.pythonhosted\.org|pypi\.org/simple|proxy\.golang\.org|deb\.debian\.org`)

func TestNoRegistryHostIsNamed(t *testing.T) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a git checkout, so what is committed cannot be told")
	}
	for f := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, f))
		if err != nil || strings.HasSuffix(f, "house_test.go") {
			continue
		}
		if m := hosts.Find(text); m != nil {
			t.Errorf("%s names %s", f, m)
		}
	}
}
