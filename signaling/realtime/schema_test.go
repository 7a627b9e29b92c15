package realtime

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the files under schema/ anew")

var schemaFiles = map[Direction]string{FromClient: "client.schema.json", FromServer: "server.schema.json"}

func TestGeneratingTheSchemasAgainChangesNothing(t *testing.T) {
	for d, name := range schemaFiles {
		path := filepath.Join("schema", name)
		want := Schema(d)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the structs say: run go test ./signaling/realtime -run Schemas -update", path)
		}
	}
}

// compiled is the schema as an independent library reads it.
func compiled(t *testing.T, d Direction) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema(d)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("events.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("events.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryEventThatIsEncodedFitsItsSchema(t *testing.T) {
	for _, d := range []Direction{FromClient, FromServer} {
		s := compiled(t, d)
		for _, e := range examples(d) {
			raw, err := Encode(e)
			if err != nil {
				t.Errorf("%s: %v", e.EventType(), err)
				continue
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("%s: %v\n%s", e.EventType(), err, raw)
			}
		}
	}
}

func TestWhatDecodeRefusesForItsShapeTheSchemaRefusesToo(t *testing.T) {
	s := compiled(t, FromClient)
	for _, raw := range []string{
		`{"type":"conversation.item.truncate","item_id":"a","content_index":0,"audio_end_ms":1.5}`,
		`{"type":"conversation.item.truncate","item_id":"a","content_index":0}`,
		`{"type":"session.update","session":{"type":"other"}}`,
		`{"type":"session.update","session":{"type":"realtime","audio":{"output":{"speed":9}}}}`,
		`{"type":"conversation.item.create","item":{"type":"function_call_output","output":"x"}}`,
		`{"type":"response.create","response":{"max_output_tokens":"many"}}`,
		`{"type":"nobody.knows"}`,
	} {
		if _, err := Decode(FromClient, []byte(raw)); err == nil {
			t.Errorf("decode took %s", raw)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(doc) == nil {
			t.Errorf("the schema took %s", raw)
		}
	}
}
