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

func TestWhatIssueThreeAddedIsChecked(t *testing.T) {
	const good = `media: {ice_servers: ["stun:stun.example.org:3478", "turn:turn.example.org:3478?transport=udp"], turn_secret_env: TURN_SECRET}
people:
  - {id: alice, name: Alice, token: long-enough}
providers:
  - {name: ws, kind: openai-ws, url: "https://api.example.org/v1", key_env: KEY, session_limit: 30m}
  - {name: az, kind: azure, url: "https://name.openai.azure.com", key_env: KEY, transport: webrtc}
  - {name: gem, kind: gemini, key_env: KEY}
  - {name: here, kind: local, transport: websocket}
  - {name: rtc, kind: openai, url: "https://api.example.org/v1", key_env: KEY}
assistants:
  - {name: a, aliases: [a], provider: rtc, mode: direct, policy: locked, client_fields: [turn_detection], client_events: [response.create], max_duration: 15m}
  - {name: b, aliases: [b], provider: ws, policy: open}
`
	if _, err := Parse("hovor.yaml", []byte(good)); err != nil {
		t.Errorf("refused: %v", err)
	}
	for change, want := range map[[2]string]string{
		{"stun:stun", "http://stun"}:                                  "media.ice_servers[0]",
		{"kind: gemini", "kind: xai"}:                                 "local, openai, openai-ws, azure or gemini",
		{"transport: webrtc", "transport: sctp"}:                      "providers[1].transport",
		{"session_limit: 30m", "session_limit: -1m"}:                  "providers[0].session_limit",
		{"provider: rtc, mode: direct", "provider: ws, mode: direct"}: "takes no offer of a browser",
		{"mode: direct", "mode: indirect"}:                            "relay or direct",
		{"policy: open", "policy: ajar"}:                              "locked, merge or open",
		{"policy: open", "policy: open, locked: true"}:                "says the contrary of policy",
		{"[turn_detection]", "[turn_detector]"}:                       "client_fields[0]",
		{"[response.create]", `["response create"]`}:                  "client_events[0]",
		{"max_duration: 15m", "max_duration: -15m"}:                   "assistants[0].max_duration",
	} {
		_, err := Parse("hovor.yaml", []byte(strings.Replace(good, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", change[1], want, err)
		}
	}
}
