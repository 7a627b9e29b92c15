package config

import (
	"errors"
	"strings"
	"testing"
)

func TestQuickstartIsValid(t *testing.T) {
	c, err := Quickstart()
	if err != nil {
		t.Fatal(err)
	}
	if a, exact := c.Assistant("gpt-realtime"); a == nil || !exact {
		t.Error("the demo assistant must answer to gpt-realtime")
	}
	if a, exact := c.Assistant("another-model"); a == nil || exact {
		t.Error("any other model name must reach the demo assistant, and be known as not exact")
	}
}

func TestEveryProblemIsNamedAtOnceWithLineAndFix(t *testing.T) {
	const file = `listn: 127.0.0.1:8080
admin_listen: nowhere
media:
  port: seventy
limits:
  idle: 5 minutes
people:
  - {id: alice, name: Alice, token: short}
providers:
  - {name: up, kind: openai, url: "api.openai.com"}
assistants:
  - name: demo
    aliases: [gpt-realtime]
    provider: elsewhere
`
	_, err := Parse("hovor.yaml", []byte(file))
	if !errors.Is(err, ErrInvalid) {
		t.Fatalf("want a refused configuration, got %v", err)
	}
	for _, want := range []string{
		`hovor.yaml:1: listn: no such key; did you mean "listen"?`,
		`hovor.yaml:2: admin_listen: "nowhere" is not an address; write host:port`,
		`hovor.yaml:4: media.port: must be a whole number`,
		`hovor.yaml:6: limits.idle: must be a duration such as 15s or 10m`,
		`hovor.yaml:8: people[0].token: is missing or shorter than 8 characters`,
		`hovor.yaml:10: providers[0].url: "api.openai.com" is not a URL`,
		`hovor.yaml:10: providers[0].key_env: is missing`,
		`hovor.yaml:14: assistants[0].provider: no provider is named "elsewhere"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "short;") {
		t.Error("a token must not be printed")
	}
}

func TestBadFilesAreRefusedWithOneSentence(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "not yaml": "a: [", "a list": "- a\n- b\n", "twice": "listen: a:1\nlisten: b:2\n",
	} {
		if _, err := Parse("x.yaml", []byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: want a refused configuration, got %v", name, err)
		}
	}
}

func TestPrintHidesSecrets(t *testing.T) {
	c, err := Quickstart()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Print()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "demo-alice") {
		t.Error("the printed configuration shows a token")
	}
	if !strings.Contains(string(out), "token: (hidden)") {
		t.Error("the printed configuration should say that a token is there")
	}
}
