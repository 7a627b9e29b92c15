package gateway

import (
	"testing"

	"hovor/gateway/provider/local"
)

func TestTheDemoIsAskedForAloudAndCalledAsItIsWritten(t *testing.T) {
	var c local.Config
	names(&c)
	written := map[string]string{}
	for _, n := range append(c.Documents, c.Processes...) {
		if n.Written == "" && n.Language == "en" {
			t.Errorf("%q does not know how it is written", n.Title)
		}
		written[n.Title] = n.Written
	}
	for spoken, want := range map[string]string{
		"deposit rules": "Jak funguje kauce", "pricing twenty nineteen": "Pricing 2019", "bike names": "Why bikes are named after trees",
		"old import": "Старый импорт", "holiday calendar": "Der Feiertagskalender", "month end": "Month end",
	} {
		if written[spoken] != want {
			t.Errorf("%s: got %q, want %q", spoken, written[spoken], want)
		}
	}
}
