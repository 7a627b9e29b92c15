package gateway

import (
	"context"
	"log/slog"
	"net"
	"strconv"

	"golang.org/x/sync/errgroup"

	"hovor/gateway/demo"
	"hovor/gateway/provider/local"
	"hovor/gateway/provider/local/brain"
	"hovor/sfu"
	"hovor/vad"
)

// Embedded says how the embedded provider runs: alone (`hovor provider`), or inside a gateway, which then reaches it
// over loopback sockets as it reaches any other.
type Embedded struct {
	Listen    string   // address of its API; host:0 picks a free port
	MediaPort int      // UDP port; 0 picks a free one
	Key       string   // the key that clients must show
	Brain     string   // "dialogue" or the path of a script
	Sessions  int      // calls at once; 0 = its own default
	Origins   []string // pages that may call it directly; "*" = any
	Detector  func() vad.Detector
	Logger    *slog.Logger
	// Started is told the base URL once it listens; nil means nobody cares.
	Started func(ctx context.Context, url string)
}

// embedded is one that is put together and listens, but does not run yet.
type embedded struct {
	server   *local.Server
	engine   *sfu.Engine
	listener net.Listener
}

func newEmbedded(e Embedded) (_ *embedded, err error) {
	c := local.Config{APIKey: e.Key, MaxSessions: e.Sessions, AllowedOrigins: e.Origins, Detector: e.Detector, Logger: e.Logger}
	names(&c)
	if c.Brain, err = chooseBrain(e.Brain); err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(e.Listen)
	if err != nil {
		return nil, err
	}
	media := sfu.Config{NodeID: "local", UDPListen: net.JoinHostPort(host, strconv.Itoa(e.MediaPort)), Loopback: true, Logger: e.Logger}
	if c.Engine, err = sfu.NewEngine(media); err != nil {
		return nil, err
	}
	made := &embedded{engine: c.Engine}
	if made.server, err = local.New(c); err == nil {
		made.listener, err = listen(e.Listen, "listen")
	}
	if err != nil {
		_ = made.engine.Close()
		return nil, err
	}
	return made, nil
}

func (e *embedded) url() string { return "http://" + e.listener.Addr().String() }

// run serves until ctx ends and every session is over.
func (e *embedded) run(ctx context.Context) error {
	defer func() { _ = e.engine.Close() }()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serve(ctx, e.listener, e.server.Handler()) })
	group.Go(func() error { return e.server.Run(ctx) })
	return group.Wait()
}

// ServeEmbedded runs the embedded provider alone until ctx ends.
func ServeEmbedded(ctx context.Context, e Embedded) error {
	made, err := newEmbedded(e)
	if err != nil {
		return err
	}
	if e.Started != nil {
		e.Started(ctx, made.url())
	}
	return made.run(ctx)
}

// names gives the recognizer and the dialogue the titles of the demo app: how they can be asked for aloud, and how they are
// written, which is what is typed and what an answer calls them.
func names(c *local.Config) {
	c.Phrases = demo.Phrases()
	for _, t := range demo.Titles() {
		list := &c.Documents
		if t.Kind == "process" {
			list = &c.Processes
		}
		for _, spoken := range t.Spoken {
			*list = append(*list, local.Named{ID: t.ID, Title: spoken, Written: t.Title, Language: "en"})
		}
		if len(t.Spoken) == 0 {
			*list = append(*list, local.Named{ID: t.ID, Title: t.Title, Language: t.Language})
		}
	}
}

func chooseBrain(name string) (brain.Brain, error) {
	if name == "" || name == "dialogue" {
		return nil, nil // the embedded provider's own default
	}
	return brain.LoadScript(name)
}
