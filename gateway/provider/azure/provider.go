package azure

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/openai"
	"hovor/gateway/provider/openaiws"
	"hovor/gateway/provider/socket"
	"hovor/sfu"
	"hovor/signaling/realtime"
)

// Transport is how the audio travels.
type Transport string

// The transports.
const (
	WebSocket Transport = "websocket" // the default: one step, one connection
	WebRTC    Transport = "webrtc"    // two steps, RTP forwarded
)

// Config says which resource and deployment, and how to be let in. Exactly one of Key and Entra is set.
type Config struct {
	Name       string // label for metrics; empty = "azure"
	Resource   string // https://<resource>.openai.azure.com; a path is replaced
	Deployment string // used when the setup names none
	Transport  Transport

	Key   func() string                             // the resource's key, read at each dial
	Entra func(ctx context.Context) (string, error) // an access token for https://ai.azure.com/.default

	Engine *sfu.Engine                                                       // for WebRTC
	HTTP   *http.Client                                                      // nil = http.DefaultClient
	Net    func(ctx context.Context, network, addr string) (net.Conn, error) // for WebSocket; nil = the operating system
	TLS    *tls.Config                                                       // for WebSocket; nil = the system's roots

	Connect time.Duration // 0 = 10 s
	Limit   time.Duration // see openaiws.Config; for WebSocket
	Logger  *slog.Logger  // nil = silent
}

// ErrConfig: the configuration cannot work; the text says why.
var ErrConfig = errors.New("azure configuration")

// base is the path of the GA API; the preview with its api-version was retired on 2026-04-30.
const base = "/openai/v1/realtime"

// minting bounds the request for a secret's answer.
const maxReply = 1 << 20

// door is what both transports need.
type door struct {
	cfg  Config
	base string
}

// New makes the provider; it connects to nothing. Error: ErrConfig.
func New(cfg Config) (provider.Provider, error) {
	u, err := url.Parse(cfg.Resource)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%w: the resource must be an address such as https://my-resource.openai.azure.com", ErrConfig)
	case (cfg.Key == nil) == (cfg.Entra == nil):
		return nil, fmt.Errorf("%w: exactly one of a key and an Entra token is needed", ErrConfig)
	}
	if cfg.Name == "" {
		cfg.Name = "azure"
	}
	if cfg.HTTP == nil {
		cfg.HTTP = http.DefaultClient
	}
	d := &door{cfg: cfg, base: u.Scheme + "://" + u.Host + base}
	switch cfg.Transport {
	case WebSocket, "":
		return openaiws.New(openaiws.Config{Name: cfg.Name, BaseURL: d.base, Authorize: d.header, Model: cfg.Deployment, Net: cfg.Net, TLS: cfg.TLS,
			Connect: cfg.Connect, Limit: cfg.Limit, Shape: Shape, Logger: cfg.Logger}), nil
	case WebRTC:
		if cfg.Engine == nil {
			return nil, fmt.Errorf("%w: WebRTC needs an engine", ErrConfig)
		}
		return openai.New(openai.Config{Name: cfg.Name, BaseURL: d.base, Token: d.mint, Model: cfg.Deployment, Engine: cfg.Engine, HTTP: cfg.HTTP,
			Connect: cfg.Connect, Shape: Shape, Logger: cfg.Logger}), nil
	}
	return nil, fmt.Errorf("%w: transport %q is neither websocket nor webrtc", ErrConfig, cfg.Transport)
}

// header is how the resource lets us in.
func (d *door) header(ctx context.Context) (http.Header, error) {
	h := http.Header{}
	if d.cfg.Entra == nil {
		h.Set("api-key", d.cfg.Key())
		return h, nil
	}
	token, err := d.cfg.Entra(ctx)
	if err != nil {
		return nil, &provider.Error{Class: provider.Unauthorized, Code: "entra_token", Err: err}
	}
	h.Set("Authorization", "Bearer "+token)
	return h, nil
}

// mint gets the secret that a call over WebRTC is opened with: the key itself is refused there.
func (d *door) mint(ctx context.Context, s realtime.Session) (secret string, err error) {
	err = socket.Retry(ctx, socket.Backoff{}, func(ctx context.Context) error {
		secret, err = d.mintOnce(ctx, s)
		return err
	})
	return secret, err
}

func (d *door) mintOnce(ctx context.Context, s realtime.Session) (string, error) {
	body, err := json.Marshal(realtime.ClientSecretRequest{Session: &s})
	if err != nil {
		return "", &provider.Error{Class: provider.Rejected, Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.base+"/client_secrets", bytes.NewReader(body))
	if err != nil {
		return "", &provider.Error{Class: provider.Rejected}
	}
	if req.Header, err = d.header(ctx); err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := d.cfg.HTTP.Do(req)
	if err != nil {
		class := provider.Unreachable
		if ctx.Err() != nil {
			class = provider.Timeout
		}
		return "", &provider.Error{Class: class, Err: err}
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	switch {
	case err != nil:
		return "", &provider.Error{Class: provider.Lost, Err: err}
	case res.StatusCode < 200 || res.StatusCode > 299:
		return "", socket.FromStatus(res.StatusCode, res.Header, reply)
	}
	var secret realtime.ClientSecret
	if err := realtime.DecodeReply(reply, &secret); err != nil || secret.Value == "" {
		return "", &provider.Error{Class: provider.BadAnswer, Code: "client_secret"}
	}
	return secret.Value, nil
}

// Shape takes out of a session what Azure refuses although stock clients send it (openai/openai-agents-js#466).
func Shape(s realtime.Session) realtime.Session {
	s.Tracing = realtime.Nullable[realtime.Tracing]{}
	s.Prompt = realtime.Nullable[realtime.Prompt]{}
	if s.Audio == nil || s.Audio.Input == nil {
		return s
	}
	audio, in := *s.Audio, *s.Audio.Input
	if n := in.NoiseReduction.Value; n != nil && n.Strength != nil {
		in.NoiseReduction = realtime.Some(realtime.NoiseReduction{Type: n.Type})
	}
	if t := in.Transcription.Value; t != nil {
		in.Transcription = realtime.Some(realtime.Transcription{Model: t.Model, Language: t.Language, Prompt: t.Prompt})
	}
	if d := in.TurnDetection.Value; d != nil && d.Type == realtime.SemanticVAD && d.Eagerness == "auto" {
		plain := *d
		plain.Eagerness = ""
		in.TurnDetection = realtime.Some(plain)
	}
	audio.Input, s.Audio = &in, &audio
	return s
}

// Resource is the address of a resource by its name.
func Resource(name string) string { return "https://" + strings.ToLower(name) + ".openai.azure.com" }
