package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"

	"hovor/gateway/call"
	"hovor/gateway/config"
	"hovor/gateway/demo"
	"hovor/gateway/identity"
	"hovor/gateway/thread"
	"hovor/gateway/usage"
	"hovor/gateway/web"
	"hovor/signaling"
	"hovor/signaling/secrets"
	"hovor/tools"
	"hovor/tools/catalogue"
	"hovor/tools/execute"
	"hovor/vad"
	"hovor/vad/silero"
)

func (s *Server) store() (err error) {
	if err := os.MkdirAll(filepath.Dir(s.cfg.Store.Path), 0o700); err != nil {
		return fmt.Errorf("make the store's folder (store.path): %w", err)
	}
	if s.threads, err = thread.Open(s.cfg.Store.Path); err != nil {
		return fmt.Errorf("open the store (store.path): %w", err)
	}
	s.threads.Refused = func(err error, writes int) {
		s.log.Error("what was said could not be kept; look at the disk of store.path", "writes", writes, "cause", err)
	}
	s.parts = append(s.parts, part{"thread store", s.threads.Run})
	if s.usage, err = usage.Open(s.cfg.Store.Path); err != nil {
		return err
	}
	s.parts = append(s.parts, part{"usage store", s.usage.Run})
	return nil
}

// assemble joins the rooms: people, tools, providers, the ear, the door and the page.
func (s *Server) assemble() error {
	d := &door{
		cfg: s.cfg, log: s.log, metrics: s.metrics, engine: s.engine, threads: s.threads, books: s.usage,
		people:  identity.NewTable(rows(s.cfg.People)),
		secrets: secrets.New[claims](0),
		calls:   call.NewManager(call.ManagerConfig{Limit: s.cfg.Limits.Sessions, Logger: s.log}),
	}
	s.door = d
	demoURL, err := s.demo()
	if err != nil {
		return err
	}
	if d.tools, err = s.tools(live{d}, demoURL); err != nil {
		return err
	}
	if d.detector, err = s.ear(); err != nil {
		return err
	}
	if d.providers, err = s.upstreams(); err != nil {
		return err
	}
	s.parts = append(s.parts, part{"calls", d.calls.Run})
	ice, err := s.iceServers()
	if err != nil {
		return err
	}
	s.handler = s.routes(d, demoURL, ice)
	return nil
}

func rows(people []config.Person) []identity.Row {
	list := make([]identity.Row, len(people))
	for i, p := range people {
		list[i] = identity.Row{ID: p.ID, Name: p.Name, Language: p.Language, Token: p.Token.Reveal()}
	}
	return list
}

// demo starts the demo app on a loopback port of its own and returns its base URL, empty when the demo is off.
func (s *Server) demo() (string, error) {
	if !s.cfg.Demo.On {
		return "", nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("demo app: %w", err)
	}
	h := demo.New().Handler()
	s.parts = append(s.parts, part{"demo app", func(ctx context.Context) error { return serve(ctx, l, h) }})
	return "http://" + l.Addr().String(), nil
}

func (s *Server) tools(port live, demoURL string) (*tools.Service, error) {
	services := map[string]string{}
	for _, svc := range s.cfg.Services {
		services[svc.Name] = svc.URL
	}
	var list *catalogue.Catalogue
	var err error
	switch {
	case s.cfg.Catalogue != "":
		list, err = catalogue.Load(s.cfg.Catalogue)
	case s.cfg.Demo.On:
		services["demo"] = demoURL
		list, err = demo.Catalogue()
	default:
		list = &catalogue.Catalogue{}
	}
	if err != nil {
		return nil, err
	}
	exec, err := execute.NewHTTP(execute.Config{Services: services})
	if err != nil {
		return nil, err
	}
	return tools.New(tools.Config{Catalogue: list, HTTP: exec, Screen: port, Sessions: port, Observer: port, Logger: s.log})
}

// weights finds a relative path in the working directory, else in the folder above the program's own: bin/hovor works
// from anywhere.
func weights(path string) string {
	if exists(path) || filepath.IsAbs(path) {
		return path
	}
	if exe, err := os.Executable(); err == nil {
		if near := filepath.Join(filepath.Dir(exe), "..", path); exists(near) {
			return near
		}
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ear loads the detector's weights once for all calls; nil when the ear is off.
func (s *Server) ear() (func() vad.Detector, error) {
	if s.cfg.Ear.Off {
		return nil, nil
	}
	model, err := silero.Load(weights(s.cfg.Ear.Model))
	if err != nil {
		return nil, fmt.Errorf("%w; the key ear.model says where they are", err)
	}
	return func() vad.Detector { return model.Stream() }, nil
}

// iceServers are what clients are told of STUN and TURN.
func (s *Server) iceServers() (signaling.ICEServers, error) {
	m := s.cfg.Media
	ice := signaling.ICEServers{URLs: m.ICEServers}
	if m.TURNSecretEnv != "" {
		ice.Secret = signaling.NewCredential(os.Getenv(m.TURNSecretEnv))
		if ice.Secret.IsZero() {
			return ice, fmt.Errorf("the environment variable %s (media.turn_secret_env) is empty; put the TURN server's shared secret there", m.TURNSecretEnv)
		}
	}
	return ice, ice.Validate()
}

func (s *Server) routes(d *door, demoURL string, ice signaling.ICEServers) http.Handler {
	mux := http.NewServeMux()
	realtime := signaling.NewHandler(d, signaling.HandlerConfig{AllowedOrigins: s.cfg.CORS.Origins, ICE: ice, Logger: s.log})
	mux.Handle("/v1/realtime", realtime) // the WebSocket, and calls of the older dialect
	mux.Handle("/v1/realtime/", realtime)
	api := http.NewServeMux()
	toolAPI := tools.NewHandler(d.tools, d.people.Request, tools.HandlerConfig{Profile: profile, Logger: s.log})
	api.Handle("/v1/tools", toolAPI)
	api.Handle("/v1/tools/", toolAPI)
	api.HandleFunc("GET /v1/threads", d.listThreads)
	api.HandleFunc("GET /v1/threads/{id}", d.getThread)
	api.HandleFunc("GET /v1/about", serveJSON(about(s.cfg)))
	mux.Handle("/v1/", signaling.CORS(s.cfg.CORS.Origins, api))
	if demoURL != "" {
		if u, err := url.Parse(demoURL); err == nil {
			mux.Handle("/demo/", http.StripPrefix("/demo", httputil.NewSingleHostReverseProxy(u)))
		}
	}
	mux.Handle("/", web.Handler())
	return mux
}
