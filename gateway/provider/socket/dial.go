package socket

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"hovor/gateway/provider"
)

// Config is one connection to open. It prints without its header and query: they hold the credential.
type Config struct {
	URL    string      // ws:// or wss://
	Header http.Header // further request headers; OpenAI-Beta is refused
	// Net makes the connection below; nil is the operating system, with the proxy of the environment.
	Net     func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS     *tls.Config   // nil = the system's roots
	Ping    time.Duration // between two pings; 0 = 1 s
	Silence time.Duration // without a sign of life after which the far side counts as gone; 0 = 2.5 s
	Backlog int           // bytes of audio that may wait to be written; 0 = 512 KiB, some 8 s of PCM16 at 24 kHz in base64
	Logger  *slog.Logger  // nil = silent
}

// String keeps the credential out of what is printed.
func (c Config) String() string {
	host, _, _ := strings.Cut(c.URL, "?")
	return "socket to " + host
}

// GoString covers %#v.
func (c Config) GoString() string { return c.String() }

// LogValue covers slog.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

const (
	// maxMessage is more than a provider's longest event: a retrieved item with its audio.
	maxMessage = 32 << 20
	// deaf is how long a far side that never answered a ping may be silent: it may not know pings.
	deaf = 30 * time.Second
)

// Dial opens a connection. Every error is a *provider.Error; its words are ours, because the provider's own may repeat what
// we sent.
func Dial(ctx context.Context, cfg Config) (*Conn, error) {
	cfg.complete()
	c := &Conn{cfg: cfg, begin: time.Now(), wake: make(chan struct{}, 1)}
	d := websocket.Dialer{NetDialContext: c.open, TLSClientConfig: cfg.TLS, ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10}
	if cfg.Net == nil {
		d.Proxy = http.ProxyFromEnvironment
	}
	header := cfg.Header.Clone()
	header.Del("OpenAI-Beta")                 // the beta shape is gone, and the header with it (research: langwatch/scenario#602)
	stop := context.AfterFunc(ctx, c.abandon) // gorilla looks only at the deadline once it has a connection
	ws, res, err := d.DialContext(ctx, cfg.URL, header)
	stop()
	if err != nil {
		return nil, refusal(ctx, res, err)
	}
	ws.SetReadLimit(maxMessage)
	ws.SetPongHandler(func(string) error { c.ponged.Store(true); return nil })
	c.ws = ws
	c.note()
	_ = ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(cfg.Ping)) // early: does it answer?
	return c, nil
}

// open makes the connection below and listens for its signs of life.
func (c *Conn) open(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := c.cfg.Net
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	n, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	l := &lively{n, c.note}
	c.below.Store(l)
	return l, nil
}

// abandon gives up on a handshake.
func (c *Conn) abandon() {
	if l := c.below.Load(); l != nil {
		_ = l.Close()
	}
}

func (c *Config) complete() {
	if c.Ping == 0 {
		c.Ping = time.Second
	}
	if c.Silence == 0 {
		c.Silence = 2500 * time.Millisecond
	}
	if c.Backlog == 0 {
		c.Backlog = 512 << 10
	}
	if c.Header == nil {
		c.Header = http.Header{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// refusal names a handshake that failed.
func refusal(ctx context.Context, res *http.Response, err error) *provider.Error {
	if res != nil && errors.Is(err, websocket.ErrBadHandshake) {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // gorilla keeps the first kilobyte
		_ = res.Body.Close()
		return FromStatus(res.StatusCode, res.Header, body)
	}
	e := &provider.Error{Class: provider.Unreachable, Err: causeOf(err)}
	var op *net.OpError
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Class = provider.Timeout
	case errors.As(err, &op), errors.As(err, &dns):
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Class = provider.Lost
	case strings.Contains(err.Error(), "malformed"):
		e.Class = provider.BadAnswer
	}
	return e
}

// causeOf leaves out the URL, which may hold a key.
func causeOf(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return err
	}
	return errOpening
}

// FromStatus names a refusal over HTTP. Of the body only the code is kept: {"error":{"code"|"type"|"status"}}.
func FromStatus(status int, header http.Header, body []byte) *provider.Error {
	e := &provider.Error{Class: provider.ClassOfStatus(status), Status: status, Code: codeIn(body)}
	if e.RetryAfter = retryAfter(header.Get("Retry-After")); e.RetryAfter == 0 {
		if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 { // OpenAI, Azure
			e.RetryAfter = time.Duration(ms * float64(time.Millisecond))
		}
	}
	return e
}

// retryAfter reads seconds or a date (RFC 9110 section 10.2.3).
func retryAfter(v string) time.Duration {
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// codeIn finds the provider's own code, a word and never a sentence.
func codeIn(body []byte) string {
	var form struct {
		Error struct {
			Code   json.RawMessage `json:"code"`
			Type   string          `json:"type"`
			Status string          `json:"status"` // Google
		} `json:"error"`
	}
	if json.Unmarshal(body, &form) != nil {
		return ""
	}
	var code string
	_ = json.Unmarshal(form.Error.Code, &code) // Google's is a number: the HTTP status again
	for _, s := range []string{code, form.Error.Status, form.Error.Type} {
		if s != "" && len(s) <= 64 && !strings.ContainsAny(s, " \n\t") {
			return s
		}
	}
	return ""
}
