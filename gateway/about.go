package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"

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
	for _, assistant := range c.Assistants {
		used[assistant.Provider] = true
	}
	outside := ""
	for _, p := range c.Providers {
		if !used[p.Name] {
			continue
		}
		where := whereOf(p)
		if p.Kind != "local" {
			if outside != "" {
				outside += " and "
			}
			outside += where
		}
		a.Providers = append(a.Providers, AboutProvider{Name: p.Name, Kind: p.Kind, Where: where})
	}
	a.AudioPath = "Your voice goes from your browser to this server, and stays on this machine."
	if outside != "" {
		a.AudioPath = "Your voice goes from your browser through this server to " + outside + "."
	}
	return a
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
	u, err := url.Parse(p.URL)
	if err != nil {
		return p.Name
	}
	return u.Hostname()
}
