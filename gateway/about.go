package gateway

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"hovor/gateway/config"
	"hovor/gateway/telemetry"
)

// About is what GET /v1/about says. Every sentence is computed from the running configuration (S1-45, S1-46), so that it
// cannot go on claiming what a change of configuration made untrue.
type About struct {
	Version string `json:"version"`
	// AudioPath says, in one sentence a person understands, where their voice goes.
	AudioPath string          `json:"audio_path"`
	Providers []AboutProvider `json:"providers"`
	// Recording says what is kept of a call.
	Recording string `json:"recording"`
	// Ear says whether this server listens for pauses itself.
	Ear bool `json:"ear"`
}

// AboutProvider is one upstream as people may know it.
type AboutProvider struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Where is "this machine" or the host that receives the audio.
	Where string `json:"where"`
}

func about(c *config.Config) About {
	a := About{
		Version:   telemetry.BuildVersion(),
		Recording: "The words of a call are kept in this server's own database. Audio is not recorded.",
		Ear:       !c.Ear.Off,
	}
	used := map[string]bool{}
	paths := map[string][]string{} // sentence → the assistants it is true of
	var order []string
	for _, assistant := range c.Assistants {
		used[assistant.Provider] = true
		sentence := audioPath(c, assistant)
		if paths[sentence] == nil {
			order = append(order, sentence)
		}
		paths[sentence] = append(paths[sentence], assistant.Name)
	}
	for _, p := range c.Providers {
		if used[p.Name] {
			a.Providers = append(a.Providers, AboutProvider{Name: p.Name, Kind: p.Kind, Where: whereOf(p)})
		}
	}
	for i, sentence := range order {
		if len(order) > 1 {
			sentence = "With " + strings.Join(paths[sentence], " and ") + ": " + sentence
		}
		if i > 0 {
			a.AudioPath += " "
		}
		a.AudioPath += sentence
	}
	return a
}

// audioPath says where the voice of a person goes who talks to the assistant.
func audioPath(c *config.Config, a config.Assistant) string {
	for _, p := range c.Providers {
		switch {
		case p.Name != a.Provider:
		case a.Mode == config.Direct && p.Kind == "local":
			return "Your voice goes from your browser straight to the voice service, on this machine and past this gateway."
		case a.Mode == config.Direct:
			return "Your voice goes from your browser straight to " + whereOf(p) + "; this server does not receive it."
		case whereOf(p) == "this machine":
			return "Your voice goes from your browser to this server, and stays on this machine."
		default:
			return "Your voice goes from your browser through this server to " + whereOf(p) + "."
		}
	}
	return ""
}

func serveJSON(v any) http.HandlerFunc {
	body, err := json.Marshal(v)
	return func(w http.ResponseWriter, _ *http.Request) {
		if err != nil {
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(body)
	}
}

func whereOf(p config.Provider) string {
	if p.Kind == "local" {
		return "this machine"
	}
	if p.Kind == "gemini" && p.URL == "" {
		return "generativelanguage.googleapis.com"
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return p.Name
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsLoopback() || u.Hostname() == "localhost" {
		return "this machine"
	}
	return u.Hostname()
}
