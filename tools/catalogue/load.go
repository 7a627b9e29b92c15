package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hovor/tools/effect"
)

const (
	maxFile        = 4 << 20 // bytes of a catalogue file
	maxDescription = 1024    // characters of a description; a model is sent all of them in every session
	maxProfile     = 20      // tools in a profile: a model chooses worse among more (requirement S1-9)
)

var (
	toolName    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	serviceName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
)

// Load reads and checks a catalogue file. A file with problems gives a *LoadError that lists them all.
func Load(path string) (*Catalogue, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLoad, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLoad, err)
	}
	return Parse(path, text)
}

// Parse checks the text of a catalogue. file names it in problems.
func Parse(file string, text []byte) (*Catalogue, error) {
	r := &reader{file: file}
	root := r.document(text)
	if root == nil {
		return nil, loadError(r.problems)
	}
	c := &Catalogue{byName: map[string]*Entry{}, profiles: map[string][]*Entry{}}
	top := r.fields(root, "the catalogue", "version", "services", "sentences", "tools", "profiles")
	r.need(root, top, "the catalogue", "", "version", "tools")
	if v := top["version"]; v != nil && (v.Tag != "!!int" || v.Value != "1") {
		r.add(v, "write version: 1", "the catalogue's version is not 1")
	}
	services := r.services(top["services"])
	shared := r.sentences(top["sentences"], "sentences")
	declared := map[string]int{}
	r.items(top["tools"], "tools", func(n *yaml.Node) {
		e := r.entry(n, services, shared)
		r.tool = ""
		if line, twice := declared[e.Name]; twice && e.Name != "" {
			r.add(n, "rename or remove one of the two", "tool %s is declared twice; the first stands in line %d", e.Name, line)
			return
		}
		declared[e.Name] = e.Line
		c.entries = append(c.entries, e)
		c.byName[e.Name] = e
	})
	if n := top["tools"]; n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.add(n, "declare at least one tool", "tools is empty")
	}
	r.profiles(top["profiles"], c)
	if err := loadError(r.problems); err != nil {
		return nil, err
	}
	return c, nil
}

// document returns the root mapping of the one YAML document in text.
func (r *reader) document(text []byte) *yaml.Node {
	at := &yaml.Node{Line: 1}
	if len(text) > maxFile {
		r.add(at, "split it", "the file is larger than %d bytes", maxFile)
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			r.add(at, "declare at least one tool", "the file is empty")
		} else {
			at.Line = yamlLine(err)
			r.add(at, "", "the file is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		return nil
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		at.Line = max(more.Line, 1)
		r.add(at, "remove everything from the second --- on", "the file holds more than one document")
		return nil
	}
	root := doc.Content[0]
	if !r.is(root, yaml.MappingNode, "the catalogue", "a mapping") {
		return nil
	}
	return root
}

var lineInError = regexp.MustCompile(`line (\d+)`)

func yamlLine(err error) (line int) {
	if m := lineInError.FindStringSubmatch(err.Error()); m != nil {
		_, _ = fmt.Sscan(m[1], &line)
	}
	return line
}

func (r *reader) services(n *yaml.Node) []string {
	names := r.texts(n, "services")
	for i, name := range names {
		if name != "" && !serviceName.MatchString(name) {
			r.add(n.Content[i], "use lower-case letters, digits and hyphens, at most 32", "service name %q is not usable", name)
		}
	}
	return names
}

func (r *reader) entry(n *yaml.Node, services []string, shared sentences) *Entry {
	e := &Entry{Line: n.Line}
	if name := child(n, "name"); name != nil && toolName.MatchString(name.Value) {
		r.tool = name.Value
	}
	f := r.fields(n, "the tool", "name", "description", "class", "ceiling", "parameters", "http", "screen", "sentences")
	if e.Name = r.text(f["name"], "name"); e.Name != "" && !toolName.MatchString(e.Name) {
		r.add(f["name"], "use lower-case letters, digits and underscores, a letter first, at most 64", "tool name %q is not usable", e.Name)
		e.Name = ""
	}
	r.need(n, f, "the tool", "", "name", "description", "parameters")
	r.need(n, f, "the tool", "say what a call really does: one of "+join(effect.Classes()), "class")
	e.Description = r.text(f["description"], "description")
	if len([]rune(e.Description)) > maxDescription {
		r.add(f["description"], "shorten it; every session pays for it before the first word", "description is longer than %d characters", maxDescription)
	}
	r.class(e, f)
	r.parameters(e, f["parameters"])
	r.executor(e, n, f, services)
	e.sentences = shared.with(r.sentences(f["sentences"], "sentences"))
	return e
}

func (r *reader) class(e *Entry, f map[string]*yaml.Node) {
	var err error
	if n := f["class"]; n != nil {
		if e.Class, err = effect.ParseClass(r.text(n, "class")); err != nil {
			r.add(n, "choose the one that says what a call really does", "class %q is %v", n.Value, err)
			return
		}
	}
	e.Ceiling = e.Class.Floor()
	n := f["ceiling"]
	if n == nil || e.Class == "" {
		return
	}
	asked, err := effect.ParseCeiling(r.text(n, "ceiling"))
	if err != nil {
		r.add(n, "", "ceiling %q is %v", n.Value, err)
		return
	}
	if asked.Below(e.Ceiling) {
		r.add(n, fmt.Sprintf("remove the key, or raise it to %s or higher", e.Ceiling),
			"ceiling %s is below the floor of class %s, which is %s; a ceiling can only be raised", asked, e.Class, e.Ceiling)
		return
	}
	e.Ceiling = e.Ceiling.Raise(asked)
}

// executor reads how the tool is run and checks that this does not contradict the class.
func (r *reader) executor(e *Entry, n *yaml.Node, f map[string]*yaml.Node, services []string) {
	h, s := f["http"], f["screen"]
	switch {
	case h != nil && s != nil:
		r.add(s, "keep one of the two", "the tool has two executors, http and screen")
	case h == nil && s == nil && !present(n, "http") && !present(n, "screen"):
		r.add(n, "add http: or screen: true", "the tool has no executor")
	case h != nil:
		e.HTTP = r.http(e, h, services)
		r.methodFitsClass(e, h)
	case s != nil:
		if e.Screen = s.Tag == "!!bool" && s.Value == "true"; !e.Screen {
			r.add(s, "write screen: true", "screen is not true")
		}
		if e.Class != "" && e.Class != effect.Screen {
			r.add(s, "write class: screen", "class %s does not fit: the tool only changes what the page shows", e.Class)
		}
	}
}

func (r *reader) methodFitsClass(e *Entry, at *yaml.Node) {
	switch {
	case e.HTTP == nil || e.HTTP.Method == "" || e.Class == "":
	case e.Class == effect.Screen:
		r.add(at, "write screen: true instead of http", "class screen does not fit: an HTTP request changes no page")
	case e.Class.Reads() && e.HTTP.Method != "GET":
		r.add(at, "use GET, or a class that says what the call changes", "class %s does not fit: %s may write", e.Class, e.HTTP.Method)
	case !e.Class.Reads() && e.HTTP.Method == "GET":
		r.add(at, "write class: read, or the method that makes the change", "class %s does not fit: GET only reads", e.Class)
	}
}

func (r *reader) profiles(n *yaml.Node, c *Catalogue) {
	r.each(n, "profiles", func(key, value *yaml.Node) {
		names := r.texts(value, "profile "+key.Value)
		if len(names) > maxProfile {
			r.add(value, "leave out what an assistant can do without", "profile %s has %d tools; the most is %d", key.Value, len(names), maxProfile)
		}
		entries := []*Entry{}
		for i, name := range names {
			e, ok := c.byName[name]
			switch {
			case name == "":
			case !ok:
				r.add(value.Content[i], suggest(name, slices.Sorted(keys(c.byName))), "profile %s lists %q, which is not declared", key.Value, name)
			case e.Ceiling == effect.NeverByVoice:
				r.add(value.Content[i], "take it out of the profile", "profile %s offers %s, which is never done by voice", key.Value, name)
			default:
				entries = append(entries, e)
			}
		}
		c.profiles[key.Value] = entries
	})
}

func keys(m map[string]*Entry) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func join(classes []effect.Class) string {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}
