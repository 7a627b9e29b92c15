package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"hovor/gateway/config"
	"hovor/gateway/telemetry"
	"hovor/gateway/thread"
	"hovor/gateway/usage"
	"hovor/sfu"
)

// ErrAddressInUse says that a listener's address is taken; the wrapped text names it and the key to change.
var ErrAddressInUse = errors.New("the address is already in use")

// Server is a whole gateway. Make one with New, then Run it once.
type Server struct {
	cfg     *config.Config
	log     *slog.Logger
	metrics *telemetry.Metrics
	ready   readiness

	public, admin net.Listener
	engine        *sfu.Engine
	threads       *thread.Store
	usage         *usage.Store
	door          *door
	handler       http.Handler
	parts         []part
}

// part is something that runs as long as the server does: the embedded provider, the demo app, the store's writer.
type part struct {
	name string
	run  func(context.Context) error
}

// New puts a gateway together and binds its addresses, so that a taken port, a missing weights file or a missing
// program is known before anything runs. It starts nothing; after an error nothing stays open.
func New(cfg *config.Config, log *slog.Logger) (*Server, error) {
	s := &Server{cfg: cfg, log: log, metrics: telemetry.New(telemetry.BuildVersion())}
	s.ready.set("starting")
	for _, step := range []func() error{s.listen, s.media, s.store, s.assemble} {
		if err := step(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// PublicURL is where the page is; AdminURL where metrics and health are.
func (s *Server) PublicURL() string { return "http://" + s.public.Addr().String() }

// AdminURL is the base of /metrics, /healthz and /readyz.
func (s *Server) AdminURL() string { return "http://" + s.admin.Addr().String() }

func (s *Server) listen() (err error) {
	if s.public, err = listen(s.cfg.Listen, "listen"); err != nil {
		return err
	}
	s.admin, err = listen(s.cfg.AdminListen, "admin-listen")
	return err
}

func listen(addr, key string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil && isAddrInUse(err) {
		return nil, fmt.Errorf("%w: %s; end the other program, or choose another with --%s", ErrAddressInUse, addr, key)
	}
	return l, err
}

func (s *Server) media() (err error) {
	m := s.cfg.Media
	addr := net.JoinHostPort(m.Address, fmt.Sprint(m.Port))
	c := sfu.Config{
		NodeID: s.cfg.NodeID, UDPListen: addr, PublicIPs: m.PublicIPs, Loopback: m.Loopback, Logger: s.log,
	}
	if m.TCP {
		c.TCPListen = addr
	}
	if s.engine, err = sfu.NewEngine(c); errors.Is(err, sfu.ErrPortInUse) {
		return fmt.Errorf("%w; end the other program, or choose another with --media-port", err)
	}
	return err
}

// Run serves until ctx ends, then drains: new calls are refused, running ones may finish until limits.drain is over.
// It returns nil after a clean end, and the first error of a part that failed.
func (s *Server) Run(ctx context.Context) error {
	defer s.close()
	s.metrics.Capacity(s.cfg.Limits.Sessions)

	// Parts outlive ctx: a draining call still needs its provider, its tools and its thread.
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group, live := errgroup.WithContext(live)
	for _, p := range s.parts {
		group.Go(func() error {
			if err := p.run(live); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			return nil
		})
	}
	group.Go(func() error { return serve(live, s.public, s.handler) })
	group.Go(func() error { return serve(live, s.admin, adminHandler(s.metrics, &s.ready)) })
	s.ready.set("")

	group.Go(func() error {
		select {
		case <-ctx.Done():
			s.drain()
		case <-live.Done(): // a part failed: there is nothing to wait for
		}
		stop()
		return nil
	})
	return group.Wait()
}

func (s *Server) drain() {
	s.ready.set("draining: no new calls are taken")
	s.metrics.Draining(true)
	within, cancel := context.WithTimeout(context.Background(), time.Duration(s.cfg.Limits.Drain))
	defer cancel()
	if cut := s.door.calls.Drain(within); cut > 0 {
		s.log.Warn("calls were ended at the drain deadline", "calls", cut)
	}
}

// bodyTimeout is how long a request may take to arrive whole. Go cancels a request that is still being worked on when it is over,
// so it is longer than any answer takes; a WebSocket is not bound by it.
const bodyTimeout = time.Minute

// serve runs an HTTP server on l until ctx ends; requests that run then get one second.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       bodyTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		soon, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(soon) != nil {
			_ = server.Close()
		}
	}()
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		<-done
		return nil
	}
	return err
}

func (s *Server) close() {
	for _, l := range []net.Listener{s.public, s.admin} {
		if l != nil {
			_ = l.Close()
		}
	}
	if s.engine != nil {
		_ = s.engine.Close()
	}
	if s.threads != nil {
		_ = s.threads.Close()
	}
	if s.usage != nil {
		_ = s.usage.Close()
	}
}
