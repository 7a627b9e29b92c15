package realtime

import "testing"

// FuzzDecode looks for panics, and for events that come in and cannot go out again.
func FuzzDecode(f *testing.F) {
	for _, d := range []Direction{FromClient, FromServer} {
		for _, e := range examples(d) {
			raw, err := Encode(e)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(int(d), raw)
		}
	}
	for _, s := range []string{``, `{`, `[]`, `{"type":"session.update","session":null}`, `{"type":"response.cancel","Type":1}`,
		`{"type":"error","error":{"code":1e2}}`, `{"type":"response.done","response":{"audio":{"output":{"voice":{"id":1}}}}}`,
		"{\"type\":\"\\ud800\"}", `{"type":"session.update","session":{"type":"realtime","tracing":"auto","truncation":{"type":"retention_ratio","retention_ratio":0.5,"token_limits":null}}}`} {
		f.Add(0, []byte(s))
		f.Add(1, []byte(s))
	}
	f.Fuzz(func(t *testing.T, dir int, data []byte) {
		d := Direction(dir & 1)
		ev, err := Decode(d, data)
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		raw, err := Encode(ev)
		if err != nil {
			return // a provider's oddity, taken in and refused on the way out
		}
		if _, err := Decode(d, raw); err != nil {
			t.Fatalf("what was encoded is refused: %v\nin  %s\nout %s", err, data, raw)
		}
	})
}
