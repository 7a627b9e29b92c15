package execute

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"hovor/tools"
)

const (
	defaultMaxBody = 1 << 20
	maxRedirects   = 3
	maxDepth       = 64 // of an answer's nesting
)

// The closed set of details, for the operator.
const (
	DetailClass       = "class_not_read"  // not a read; refused here whatever was decided elsewhere
	DetailService     = "unknown_service" // the catalogue's service has no base URL
	DetailArgument    = "argument"        // an argument has no place in a request line
	DetailCredential  = "no_credential"
	DetailUnreachable = "unreachable" // no connection, nothing was sent
	DetailTimeout     = "timeout"
	DetailConnection  = "connection" // lost on the way
	DetailRedirect    = "redirect"   // to another origin, too many, or without an address
	DetailStatus      = "status"     // an answer's status that says it was not done
	DetailTooLarge    = "too_large"
	DetailNotJSON     = "not_json"
	DetailMapping     = "mapping" // the answer lacks what the catalogue maps
)

// Config is what the HTTP executor is built from.
type Config struct {
	Services  map[string]string // service name in the catalogue to base URL, as in "http://127.0.0.1:8081"
	MaxBody   int64             // bytes of an answer that are read; default 1 MiB
	Transport http.RoundTripper // nil = an own transport without proxies
}

// HTTP runs catalogue entries as HTTP requests. It implements tools.Executor and is safe for concurrent use.
type HTTP struct {
	services map[string]*url.URL
	maxBody  int64
	client   *http.Client
}

// NewHTTP checks the base URLs and returns an executor. Errors wrap ErrService.
func NewHTTP(cfg Config) (*HTTP, error) {
	h := &HTTP{services: map[string]*url.URL{}, maxBody: cfg.MaxBody}
	if h.maxBody <= 0 {
		h.maxBody = defaultMaxBody
	}
	for name, text := range cfg.Services {
		base, err := url.Parse(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: service %s: not a URL", ErrService, name)
		case base.Scheme != "http" && base.Scheme != "https", base.Host == "":
			return nil, fmt.Errorf("%w: service %s: want http:// or https:// and a host", ErrService, name)
		case base.User != nil || base.RawQuery != "" || base.Fragment != "":
			return nil, fmt.Errorf("%w: service %s: user, query and fragment have no place in it", ErrService, name)
		}
		base.Path = strings.TrimSuffix(base.Path, "/")
		base.RawPath = ""
		h.services[name] = base
	}
	transport := cfg.Transport
	if transport == nil {
		transport = newTransport()
	}
	h.client = &http.Client{Transport: transport, CheckRedirect: sameOrigin}
	return h, nil
}

// Close lets go of idle connections.
func (h *HTTP) Close() { h.client.CloseIdleConnections() }

// newTransport has no proxy, because a proxy from the environment would be handed people's credentials, and does not
// decompress, because a bound on bytes read must be a bound on bytes held.
func newTransport() http.RoundTripper {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 2 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    3 * time.Second,
		MaxIdleConnsPerHost:    32,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        90 * time.Second,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
	}
}

// sameOrigin follows a few redirects within one origin and none out of it: the credential belongs to that origin.
func sameOrigin(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects || next.URL.Scheme != first.Scheme || next.URL.Host != first.Host || next.URL.User != nil {
		return errRedirect
	}
	return nil
}

// Execute sends the call as the person and reads the answer. The caller's context bounds it in time.
func (h *HTTP) Execute(ctx context.Context, r tools.Request) tools.Outcome {
	if !r.Entry.Class.Reads() || r.Entry.HTTP == nil || r.Entry.HTTP.Method != http.MethodGet {
		return tools.Outcome{Status: tools.StatusDenied, Detail: DetailClass}
	}
	base, ok := h.services[r.Entry.HTTP.Service]
	if !ok {
		return tools.Outcome{Status: tools.StatusFailed, Detail: DetailService}
	}
	token := r.Credential.Reveal()
	if token == "" {
		return tools.Outcome{Status: tools.StatusDenied, Detail: DetailCredential}
	}
	target, err := address(base, r.Entry.HTTP, r.Arguments)
	if err != nil {
		return tools.Outcome{Status: tools.StatusInvalid, Detail: DetailArgument}
	}
	request := (&http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: http.Header{
		"Authorization": {"Bearer " + token},
		"Accept":        {"application/json"},
		"User-Agent":    {"hovor"},
	}}).WithContext(ctx)
	response, err := h.client.Do(request)
	if err != nil {
		return tools.Outcome{Status: tools.StatusFailed, Detail: lost(err)}
	}
	defer response.Body.Close()
	if status := statusOf(response.StatusCode); status != tools.StatusOK {
		return tools.Outcome{Status: status, Detail: DetailStatus}
	}
	return h.answer(response, r)
}

// lost names a transport error. A read that was lost on the way changed nothing, so all of them are failures.
func lost(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, errRedirect):
		return DetailRedirect
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &timeout) && timeout.Timeout():
		return DetailTimeout
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, new(*net.DNSError)):
		return DetailUnreachable
	}
	return DetailConnection
}

// statusOf maps an HTTP status to what it proves about a read.
func statusOf(code int) tools.Status {
	switch {
	case code == http.StatusOK, code == http.StatusNoContent, code == http.StatusNonAuthoritativeInfo:
		return tools.StatusOK
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return tools.StatusDenied
	case code == http.StatusNotFound, code == http.StatusGone:
		return tools.StatusNotFound
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests:
		return tools.StatusFailed // well formed, only not now
	case code >= 400 && code < 500:
		return tools.StatusInvalid
	}
	return tools.StatusFailed
}

func (h *HTTP) answer(response *http.Response, r tools.Request) tools.Outcome {
	if response.StatusCode == http.StatusNoContent {
		return tools.Outcome{Status: tools.StatusOK, Result: []byte("null")}
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil ||
		(kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
		return tools.Outcome{Status: tools.StatusFailed, Detail: DetailNotJSON}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, h.maxBody+1))
	switch {
	case err != nil:
		return tools.Outcome{Status: tools.StatusFailed, Detail: lost(err)}
	case int64(len(text)) > h.maxBody:
		return tools.Outcome{Status: tools.StatusFailed, Detail: DetailTooLarge}
	}
	return result(text, r.Entry.HTTP)
}
