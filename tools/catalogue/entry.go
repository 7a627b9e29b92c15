package catalogue

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"hovor/tools/effect"
)

// Catalogue is a loaded file. It is immutable and safe for concurrent use.
type Catalogue struct {
	entries  []*Entry // in file order
	byName   map[string]*Entry
	profiles map[string][]*Entry
}

// Entry is one declared tool. It must not be changed after loading.
type Entry struct {
	Name        string
	Description string // told to the model
	Class       effect.Class
	Ceiling     effect.Ceiling  // the class's floor, or higher
	Parameters  json.RawMessage // JSON Schema 2020-12, closed, compact, in the file's order
	Properties  []string        // names of the top-level parameters, in the file's order
	HTTP        *HTTP           // set for a tool that the HTTP executor runs
	Screen      bool            // set for a tool that the person's page runs
	Line        int             // where the entry stands in the file

	schema    *jsonschema.Schema
	sentences sentences
}

// HTTP maps a call to one HTTP request against a configured service and its answer back to a result.
type HTTP struct {
	Service  string        // names a base URL in the executor's configuration
	Method   string        // GET for every class that only reads
	Path     []Segment     // below the service's base URL
	Query    []Pair        // in the file's order; a parameter that the call leaves out is left out
	Body     []Pair        // JSON object members, for methods with a body
	Pointer  string        // RFC 6901 pointer to the part of the answer that is the result; "" = all of it
	Keep     []string      // members of that object, or of each object in that array, to keep; nil = all
	Timeout  time.Duration // of the whole exchange
	MaxBytes int           // of the compact result; what is longer is shortened and marked
}

// Segment is a piece of a path: literal text, or the name of a parameter.
type Segment struct {
	Literal   string
	Parameter string
}

// Pair names a query or body member and the value it takes.
type Pair struct {
	Name  string
	Value Segment
}

// Lookup returns the entry of exactly that name: names are case-sensitive and nothing is normalised.
func (c *Catalogue) Lookup(name string) (*Entry, bool) {
	e, ok := c.byName[name]
	return e, ok
}

// Entries returns every entry in file order.
func (c *Catalogue) Entries() []*Entry { return slices.Clone(c.entries) }

// Profile returns the entries that an assistant of that profile is offered, in the profile's order.
func (c *Catalogue) Profile(name string) ([]*Entry, bool) {
	entries, ok := c.profiles[name]
	return slices.Clone(entries), ok
}

// Decision says what a call of the entry calls for.
func (e *Entry) Decision() effect.Decision { return effect.Decide(e.Class, e.Ceiling) }
