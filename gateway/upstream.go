package gateway

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"hovor/gateway/config"
	"hovor/gateway/provider"
	"hovor/gateway/provider/azure"
	"hovor/gateway/provider/gemini"
	"hovor/gateway/provider/openai"
	"hovor/gateway/provider/openaiws"
)

// upstream is one provider as the door uses it.
type upstream struct {
	provider.Provider
	base string        // ".../v1/realtime" of one that takes offers; empty for others
	key  func() string // what it is opened with
	// limit is that of its sessions, when its legs do not renew themselves: over WebRTC. 0 is none.
	limit time.Duration
}

// openaiLimit is how long OpenAI keeps a session (openai/openai-agents-js#1278).
const openaiLimit = time.Hour

func (s *Server) upstreams() (map[string]upstream, error) {
	all := map[string]upstream{}
	for _, p := range s.cfg.Providers {
		var err error
		if p.Kind == "local" {
			all[p.Name], err = s.embedded(p)
		} else {
			all[p.Name], err = s.remote(p)
		}
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", p.Name, err)
		}
	}
	return all, nil
}

// remote reaches a provider with this server's own key, read anew at every call.
func (s *Server) remote(p config.Provider) (u upstream, err error) {
	if os.Getenv(p.KeyEnv) == "" {
		return u, fmt.Errorf("the environment variable %s (key_env) is empty; put the API key there", p.KeyEnv)
	}
	u.key = func() string { return os.Getenv(p.KeyEnv) }
	base := strings.TrimSuffix(p.URL, "/") + "/realtime"
	limit := time.Duration(p.SessionLimit)
	switch p.Kind {
	case "openai-ws":
		u.Provider = openaiws.New(openaiws.Config{Name: p.Name, BaseURL: base, Model: p.Model, Key: u.key, Limit: limit, Logger: s.log})
	case "azure":
		u.Provider, err = azure.New(azure.Config{Name: p.Name, Resource: p.URL, Deployment: p.Model, Transport: azure.Transport(p.Transport),
			Key: u.key, Engine: s.engine, Limit: limit, Logger: s.log})
		if p.Transport == "webrtc" {
			u.limit = cmp.Or(limit, openaiLimit)
		}
	case "gemini":
		u.Provider = gemini.New(gemini.Config{Name: p.Name, BaseURL: p.URL, Model: p.Model, Key: u.key, Limit: limit, Logger: s.log})
	default:
		u.base = base
		u.limit = cmp.Or(limit, openaiLimit)
		u.Provider = s.webrtc(p, base, u.key)
	}
	return u, err
}

func (s *Server) webrtc(p config.Provider, base string, key func() string) provider.Provider {
	return openai.New(openai.Config{Name: p.Name, BaseURL: base, Model: p.Model, Key: key, Engine: s.engine, Logger: s.log})
}

// embedded starts the local provider on a loopback port and reaches it as it would any other: over sockets, with a key.
func (s *Server) embedded(p config.Provider) (u upstream, err error) {
	key := rand.Text()
	e, err := newEmbedded(Embedded{
		Listen: "127.0.0.1:0", Key: key, Brain: p.Brain, Sessions: s.cfg.Limits.Sessions, Logger: s.log,
	})
	if err != nil {
		return u, err
	}
	s.parts = append(s.parts, part{"embedded provider", e.run})
	u.key = func() string { return key }
	u.base = e.url() + "/v1/realtime"
	u.limit = time.Duration(p.SessionLimit)
	if p.Transport == "websocket" {
		u.limit = 0
		model := p.Model
		if model == "" {
			model = "gpt-realtime" // the embedded provider answers to any name, but wants one
		}
		u.Provider = openaiws.New(openaiws.Config{Name: p.Name, BaseURL: u.base, Model: model, Key: u.key,
			Limit: cmp.Or(time.Duration(p.SessionLimit), -1), Logger: s.log})
		return u, nil
	}
	u.Provider = s.webrtc(p, u.base, u.key)
	return u, nil
}
