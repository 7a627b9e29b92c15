package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"hovor/signaling/realtime"
	"hovor/signaling/socket"
)

// SocketConfig is one WebSocket to open. It prints without its token.
type SocketConfig struct {
	BaseURL string // http(s) or ws(s), up to and including /v1/realtime
	Token   string // sent as a bearer; never logged; empty when Header authenticates
	// Exactly one of Model, CallID and Intent says what the socket is for, unless BaseURL has a query that does.
	Model  string // a call of its own
	CallID string // a sideband of a running call
	Intent string // "transcription"

	AsBrowser bool        // send the token as a subprotocol, as a page has to
	Protocols []string    // further subprotocols, for example "openai-beta.realtime-v1"
	Header    http.Header // further request headers
	TLS       *tls.Config // nil = the system's
	// NetDial makes the connection, nil = the operating system, through the proxy of the environment.
	NetDial func(ctx context.Context, network, addr string) (net.Conn, error)
	Limits  socket.Config
	// Event is one event of the server, on the goroutine of Run: raw belongs to the callee, ev is nil when the message is no
	// event this module knows. It may block, which holds the server back. nil: messages are dropped.
	Event  func(raw []byte, ev realtime.Event)
	Logger *slog.Logger // nil = discard
}

// String keeps the token out of what is printed.
func (c SocketConfig) String() string { return fmt.Sprintf("socket to %s", hostOf(c.BaseURL)) }

// GoString covers %#v.
func (c SocketConfig) GoString() string { return c.String() }

// LogValue covers slog.
func (c SocketConfig) LogValue() slog.Value { return slog.StringValue(c.String()) }

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "?"
	}
	return u.Host
}

// Socket is an open WebSocket of the protocol. The caller must Run it.
type Socket struct {
	cfg  SocketConfig
	conn *socket.Conn
}

// handshakeTimeout bounds a dial whose ctx does not.
const handshakeTimeout = 30 * time.Second

// DialSocket opens a WebSocket. ctx bounds the handshake, not the socket's life. Errors: ErrConfig, ErrTransport, and a
// *realtime.Error with its HTTP status for what the server refused.
func DialSocket(ctx context.Context, cfg SocketConfig) (*Socket, error) {
	target, err := cfg.target()
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	d := websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, NetDialContext: cfg.NetDial, TLSClientConfig: cfg.TLS,
		HandshakeTimeout: handshakeTimeout, Subprotocols: cfg.protocols(),
	}
	header := http.Header{}
	for name, values := range cfg.Header {
		header[name] = values
	}
	if cfg.Token != "" && !cfg.AsBrowser {
		header.Set("Authorization", "Bearer "+cfg.Token)
	}
	ws, res, err := d.DialContext(ctx, target, header)
	if err != nil {
		return nil, fmt.Errorf("open socket: %w", dialError(res, err))
	}
	return &Socket{cfg: cfg, conn: socket.New(ws, cfg.Limits)}, nil
}

// dialError is a refusal in the server's words, or a transport error without the URL, whose query may hold a secret.
func dialError(res *http.Response, err error) error {
	if res == nil || res.StatusCode == http.StatusSwitchingProtocols {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return fmt.Errorf("%w: %w", ErrTransport, err)
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxReply)) // the dialer keeps at most 1 KiB of it
	return refusal(res, body)
}

func (c *SocketConfig) target() (string, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%w: the base URL cannot be read", ErrConfig)
	}
	switch u.Scheme {
	case "http", "ws":
		u.Scheme = "ws"
	case "https", "wss":
		u.Scheme = "wss"
	default:
		return "", fmt.Errorf("%w: the base URL must be http, https, ws or wss", ErrConfig)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	query := u.Query()
	for name, value := range map[string]string{"model": c.Model, "call_id": c.CallID, "intent": c.Intent} {
		if value != "" {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func (c *SocketConfig) protocols() []string {
	var list []string
	if c.AsBrowser {
		list = append(list, "realtime", "openai-insecure-api-key."+c.Token)
	}
	return append(list, c.Protocols...)
}

// Send encodes and queues one event; it never blocks. Errors: those of realtime.Encode and of socket.Conn.Write.
func (s *Socket) Send(e realtime.Event) error {
	raw, err := realtime.Encode(e)
	if err != nil {
		return err
	}
	return s.conn.Write(raw)
}

// SendRaw queues one message as it is; it never blocks, and keeps the slice.
func (s *Socket) SendRaw(msg []byte) error { return s.conn.Write(msg) }

// Close says goodbye with CodeNormal and does not wait; Run returns soon after.
func (s *Socket) Close() { s.conn.Close(socket.CodeNormal, "") }

// Conn is the socket itself: its end, its counters.
func (s *Socket) Conn() *socket.Conn { return s.conn }

// Run hands events over until the socket is over: ctx ended, Close was called, or the server went. It returns nil when
// both sides parted in order, and else a *socket.CloseError or another error of package socket.
func (s *Socket) Run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.conn.Run(ctx) }()
	for {
		raw, err := s.conn.Read(context.WithoutCancel(ctx)) // the end of ctx reaches it through the socket, in order
		if err != nil {
			break
		}
		if s.cfg.Event == nil {
			continue
		}
		ev, err := realtime.Decode(realtime.FromServer, raw)
		if err != nil {
			s.cfg.Logger.Debug("server event not understood", "err", err)
			ev = nil
		}
		s.cfg.Event(raw, ev)
	}
	return <-ended
}
