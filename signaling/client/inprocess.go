package client

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// InProcess is an HTTP client that calls h directly, without a socket, so that a whole call can run in one
// testing/synctest bubble. Whatever the URL's host, h answers. Replies are whole, never streamed.
func InProcess(h http.Handler) *http.Client {
	return &http.Client{Transport: inProcess{h}}
}

type inProcess struct{ handler http.Handler }

// RoundTrip runs the handler until it returns or the request's context ends; a handler that outlives it is expected to
// notice its context.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:1"
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	done := make(chan *recorder, 1)
	go func() {
		defer in.Body.Close()
		w := &recorder{header: http.Header{}}
		t.handler.ServeHTTP(w, in)
		done <- w
	}()
	select {
	case w := <-done:
		return w.response(r), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// recorder keeps what a handler writes.
type recorder struct {
	header http.Header
	sent   http.Header // as it was at WriteHeader
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

func (w *recorder) response(r *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}
}
