package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"hovor/signaling/realtime"
)

// maxReply is more than any SDP answer or session; a server that sends more is cut off.
const maxReply = 1 << 20

// MintSecret asks baseURL (up to and including /v1/realtime) for a client secret, with key as the bearer. hc nil is
// http.DefaultClient. Errors: ErrTransport, ErrReply, *realtime.Error.
func MintSecret(ctx context.Context, hc *http.Client, baseURL, key string, req realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	if hc == nil {
		hc = http.DefaultClient
	}
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("mint client secret: %w", err)
	}
	cfg := Config{BaseURL: baseURL, Token: key, HTTP: hc}
	_, reply, err := cfg.post(ctx, "/client_secrets", "application/json", "application/json", body)
	if err != nil {
		return nil, fmt.Errorf("mint client secret: %w", err)
	}
	var secret realtime.ClientSecret
	if err := realtime.DecodeReply(reply, &secret); err != nil {
		return nil, fmt.Errorf("mint client secret: %w: %w", ErrReply, err)
	}
	if secret.Value == "" {
		return nil, fmt.Errorf("mint client secret: %w: it holds no value", ErrReply)
	}
	return &secret, nil
}

// opened is what a server answered to an offer.
type opened struct {
	answer, callID, etag string
	links                []string
}

func (c *Config) postOffer(ctx context.Context, offer string) (opened, error) {
	target := "/calls"
	if c.Model != "" {
		target += "?model=" + url.QueryEscape(c.Model)
	}
	header, body, err := c.post(ctx, target, "application/sdp", "application/sdp", []byte(offer))
	if err != nil {
		return opened{}, err
	}
	if mediaType, _, _ := mime.ParseMediaType(header.Get("Content-Type")); mediaType != "application/sdp" && !bytes.HasPrefix(body, []byte("v=0")) {
		return opened{}, fmt.Errorf("%w: the answer is no SDP", ErrReply)
	}
	return opened{string(body), callIDOf(header.Get("Location")), header.Get("ETag"), header.Values("Link")}, nil
}

// callIDOf is the last path segment of a Location, which may be relative or absolute.
func callIDOf(location string) string {
	u, err := url.Parse(location)
	if err != nil || location == "" {
		return ""
	}
	id := path.Base(strings.TrimRight(u.Path, "/"))
	if id == "." || id == "/" {
		return ""
	}
	return id
}

func (c *Config) postHangup(ctx context.Context, callID string) error {
	_, _, err := c.post(ctx, "/calls/"+url.PathEscape(callID)+"/hangup", "", "", nil)
	if e, ok := errors.AsType[*realtime.Error](err); ok && e.Status == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("hang up: %w", err)
	}
	return nil
}

// post sends one POST; any status but 2xx is an error.
func (c *Config) post(ctx context.Context, target, contentType, accept string, body []byte) (http.Header, []byte, error) {
	header := http.Header{}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	if accept != "" {
		header.Set("Accept", accept)
	}
	return c.do(ctx, http.MethodPost, target, header, body)
}

// do sends one request; any status but 2xx is an error.
func (c *Config) do(ctx context.Context, method, target string, header http.Header, body []byte) (http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.BaseURL, "/")+target, bytes.NewReader(body))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the base URL cannot be read", ErrConfig)
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrTransport, err)
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrTransport, err)
	case len(reply) > maxReply:
		return nil, nil, fmt.Errorf("%w: larger than %d bytes", ErrReply, maxReply)
	case res.StatusCode < 200 || res.StatusCode > 299:
		return nil, nil, refusal(res, reply)
	}
	return res.Header, reply, nil
}

// refusal is a server's error reply as a *realtime.Error. Servers that answer with a text, a page or {"error":"text"} get a
// message of our own: a stranger's page is nothing to show.
func refusal(res *http.Response, body []byte) *realtime.Error {
	var form struct {
		Error realtime.Error `json:"error"`
	}
	e := &form.Error
	if err := json.Unmarshal(body, &form); err != nil || e.Message == "" {
		*e = realtime.Error{Message: "the server refused with " + strconv.Itoa(res.StatusCode) + " " + http.StatusText(res.StatusCode)}
	}
	e.Status = res.StatusCode
	if e.Type == "" {
		e.Type = realtime.TypeInvalidRequest
		if res.StatusCode >= 500 {
			e.Type = realtime.TypeServer
		}
	}
	if after, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && after > 0 {
		e.RetryAfter = after
	}
	return e
}
