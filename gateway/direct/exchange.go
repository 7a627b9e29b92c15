package direct

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"strings"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/socket"
	"hovor/signaling/realtime"
)

// Upstream is a provider that takes offers.
type Upstream struct {
	Name    string        // label for metrics
	BaseURL string        // ".../v1/realtime"
	Key     func() string // the server's own credential, read at each call
	HTTP    *http.Client  // nil = http.DefaultClient
	// Net makes the connection under the control socket; nil = the operating system.
	Net func(ctx context.Context, network, addr string) (net.Conn, error)
}

const (
	// exchangeWait bounds the handing over of an offer: a browser waits for it.
	exchangeWait = 10 * time.Second
	// hangupWait bounds the hang-up request.
	hangupWait = 2 * time.Second
	maxReply   = 1 << 20
)

// open hands the offer over and gives the answer as it came, with the provider's id of the call; "" when it has none.
// Errors are *provider.Error.
func (u *Upstream) open(ctx context.Context, offer string, session realtime.Session) (answer, id string, err error) {
	body, contentType, err := form(offer, session)
	if err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeWait)
	defer cancel()
	header, reply, err := u.post(ctx, "/calls", contentType, body)
	if err != nil {
		return "", "", err
	}
	if !bytes.HasPrefix(reply, []byte("v=0")) {
		return "", "", &provider.Error{Class: provider.BadAnswer, Err: errors.New("the answer is no SDP")}
	}
	return string(reply), callID(header.Get("Location")), nil
}

// form is the typed multipart form of POST calls (protocol: RealtimeCallCreateRequest).
func form(offer string, session realtime.Session) (body []byte, contentType string, err error) {
	text, err := json.Marshal(session)
	if err != nil {
		return nil, "", fmt.Errorf("encode the session: %w", err)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, part := range []struct {
		name, kind string
		data       []byte
	}{{"sdp", "application/sdp", []byte(offer)}, {"session", "application/json", text}} {
		p, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + part.name + `"`}, "Content-Type": {part.kind}})
		if err == nil {
			_, err = p.Write(part.data)
		}
		if err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

// callID is the last path segment of a Location, which may be relative or absolute.
func callID(location string) string {
	u, err := url.Parse(location)
	if err != nil || location == "" {
		return ""
	}
	if id := path.Base(strings.TrimRight(u.Path, "/")); id != "." && id != "/" {
		return id
	}
	return ""
}

// hangup ends the provider's call; one that is over already is no error.
func (u *Upstream) hangup(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, hangupWait)
	defer cancel()
	_, _, err := u.post(ctx, "/calls/"+url.PathEscape(id)+"/hangup", "", nil)
	if e := provider.AsError(err); e != nil && e.Status == http.StatusNotFound {
		return nil
	}
	return err
}

func (u *Upstream) post(ctx context.Context, target, contentType string, body []byte) (http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(u.BaseURL, "/")+target, bytes.NewReader(body))
	if err != nil {
		return nil, nil, &provider.Error{Class: provider.Unreachable, Err: errors.New("the base URL cannot be read")}
	}
	req.Header.Set("Authorization", "Bearer "+u.Key())
	req.Header.Set("Accept", "application/sdp")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	client := u.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		class := provider.Unreachable
		if errors.Is(err, context.DeadlineExceeded) {
			class = provider.Timeout
		}
		return nil, nil, &provider.Error{Class: class}
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	switch {
	case err != nil:
		return nil, nil, &provider.Error{Class: provider.Lost}
	case res.StatusCode < 200 || res.StatusCode > 299:
		return nil, nil, socket.FromStatus(res.StatusCode, res.Header, reply)
	}
	return res.Header, reply, nil
}

// control opens the control connection to a call. It may come a moment too early for the provider, hence the tries.
func (u *Upstream) control(ctx context.Context, id string) (*socket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeWait)
	defer cancel()
	address := strings.TrimRight(u.BaseURL, "/") + "?call_id=" + url.QueryEscape(id)
	if rest, ok := strings.CutPrefix(address, "http"); ok {
		address = "ws" + rest
	}
	var c *socket.Conn
	var last error
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		c, last = socket.Dial(ctx, socket.Config{URL: address, Header: http.Header{"Authorization": {"Bearer " + u.Key()}}, Net: u.Net})
		if last == nil {
			return c, nil
		}
		if e := provider.AsError(last); e.Class != provider.Unauthorized && e.Status != http.StatusNotFound && e.Class != provider.Overloaded {
			return nil, last
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, last
		}
	}
}

// refusal is a provider's failure as the client is told of it.
func refusal(err error) error {
	e := provider.AsError(err)
	r := &realtime.Error{Status: http.StatusBadGateway, Type: realtime.TypeServer, Code: string(e.Class), Message: e.Sentence()}
	switch e.Class {
	case provider.RateLimited:
		r.Status, r.Type, r.RetryAfter = http.StatusTooManyRequests, realtime.TypeRateLimit, int(e.RetryAfter/time.Second)
	case provider.Overloaded, provider.Unreachable:
		r.Status = http.StatusServiceUnavailable
	case provider.Timeout:
		r.Status = http.StatusGatewayTimeout
	}
	return r
}
