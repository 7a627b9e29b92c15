package scrape

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const page = `# HELP a_total A.
# TYPE a_total counter
a_total{side="up"} 3
a_total{side="down"} 4
# TYPE g gauge
g 2.5
# TYPE h histogram
h_bucket{le="+Inf"} 1
h_sum 1
h_count 1
`

func TestSumsAndLabels(t *testing.T) {
	v, err := Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	if v["a_total"] != 7 || v[`a_total{side="down"}`] != 4 || v["g"] != 2.5 || len(v) != 4 {
		t.Fatalf("%v", v)
	}
	rose := v.Rose(Values{"a_total": 5, "g": 2.5}, func(n string) bool { return !strings.Contains(n, "{") })
	if len(rose) != 1 || rose["a_total"] != 2 {
		t.Fatalf("%v", rose)
	}
}

func TestBadPages(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"no page":   func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
	} {
		s := httptest.NewServer(h)
		if _, err := Get(t.Context(), s.Client(), s.URL); !errors.Is(err, ErrMetrics) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
		if _, err := Get(t.Context(), s.Client(), s.URL); !errors.Is(err, ErrMetrics) {
			t.Errorf("%s, server gone: %v", name, err)
		}
	}
}
