package gateway

import (
	"strings"
	"testing"

	"hovor/gateway/config"
)

func TestWhereTheVoiceGoesFollowsTheConfiguration(t *testing.T) {
	c, err := config.Quickstart()
	if err != nil {
		t.Fatal(err)
	}
	if got := about(c).AudioPath; !strings.Contains(got, "stays on this machine") {
		t.Errorf("with the embedded provider: %q", got)
	}
	c.Providers = append(c.Providers, config.Provider{Name: "up", Kind: "openai", URL: "https://api.example.com/v1"})
	if got := about(c).AudioPath; strings.Contains(got, "api.example.com") {
		t.Errorf("a provider that no assistant uses receives no audio: %q", got)
	}
	c.Assistants[0].Provider = "up"
	if got := about(c).AudioPath; !strings.Contains(got, "to api.example.com") || strings.Contains(got, "stays") {
		t.Errorf("with a remote provider: %q", got)
	}
	c.Assistants[0].Mode = config.Direct
	if got := about(c).AudioPath; !strings.Contains(got, "straight to api.example.com") || !strings.Contains(got, "does not receive it") {
		t.Errorf("in direct mode: %q", got)
	}
	c.Assistants = append(c.Assistants, config.Assistant{Name: "second", Provider: "embedded"})
	if got := about(c).AudioPath; !strings.Contains(got, "With demo: ") || !strings.Contains(got, "With second: ") || !strings.Contains(got, "stays on this machine") {
		t.Errorf("with both: %q", got)
	}
}
