package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// ErrMetrics means that the page could not be read.
var ErrMetrics = errors.New("cannot read the metrics page")

// maxPage is far more than any server of ours says.
const maxPage = 16 << 20

// Values are counters, gauges and untyped metrics: by name, summed over their labels, and by name{label="value",…} when they have some.
type Values map[string]float64

// Get reads the page at url. Errors: ErrMetrics.
func Get(ctx context.Context, hc *http.Client, url string) (Values, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMetrics, err)
	}
	q.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	resp, err := hc.Do(q)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMetrics, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: %s: %s", ErrMetrics, url, resp.Status)
	}
	return Parse(io.LimitReader(resp.Body, maxPage))
}

// Parse reads the text form.
func Parse(r io.Reader) (Values, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMetrics, err)
	}
	v := Values{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			x, ok := number(m)
			if !ok {
				continue
			}
			v[name] += x
			if len(m.GetLabel()) > 0 {
				v[name+labels(m)] += x
			}
		}
	}
	return v, nil
}

func number(m *dto.Metric) (float64, bool) {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue(), true
	case m.Gauge != nil:
		return m.Gauge.GetValue(), true
	case m.Untyped != nil:
		return m.Untyped.GetValue(), true
	}
	return 0, false
}

func labels(m *dto.Metric) string {
	var parts []string
	for _, l := range m.GetLabel() {
		parts = append(parts, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Rose gives how much those metrics rose since before whose name passes keep; those that stood still are left out.
func (v Values) Rose(before Values, keep func(name string) bool) map[string]float64 {
	out := map[string]float64{}
	for name, x := range v {
		if d := x - before[name]; d != 0 && keep(name) {
			out[name] = d
		}
	}
	return out
}
