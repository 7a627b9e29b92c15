package signaling

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hovor/signaling/realtime"
	"hovor/signaling/sdpfrag"
)

// origins are the origins whose pages may call. A page of the gateway's own origin always may, and so may a client that
// sends no Origin, because it is no browser.
type origins struct {
	any  bool
	list map[string]bool
}

func newOrigins(allowed []string) origins {
	o := origins{list: make(map[string]bool, len(allowed))}
	for _, a := range allowed {
		o.any = o.any || a == "*"
		o.list[strings.ToLower(strings.TrimRight(a, "/"))] = true
	}
	return o
}

// exposed are the response headers that a page may read; without them it cannot learn its call id.
const exposed = "Location, Link, ETag, Retry-After"

// admit sets the CORS headers of an allowed origin and reports whether the request may go on.
func (o origins) admit(h http.Header, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	h.Add("Vary", "Origin")
	if !o.any && !o.list[strings.ToLower(origin)] && !sameOrigin(origin, r) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposed)
	return true
}

func sameOrigin(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// options answers OPTIONS, a browser's preflight or anybody's question. Every header that the page wants to send is
// allowed, because SDKs add their own and the origin was the thing to check.
func (h *handler) options(w *reply, r *http.Request, methods map[string]endpoint) {
	header := w.Header()
	header.Set("Allow", allow(r, methods))
	if r.URL.Path == base+"calls" {
		header.Set("Accept-Post", sdpType) // RFC 9725 section 4.2
		if r.Header.Get("Access-Control-Request-Method") == "" {
			h.announceICE(header, realtime.NewID("turn"), h.authenticated(r)) // not in a preflight: section 4.6
		}
	}
	if methods[http.MethodPatch] != nil {
		header.Set("Accept-Patch", sdpfrag.MediaType) // RFC 5789 section 3.1
	}
	preflight(header, r, allow(r, methods))
	w.WriteHeader(http.StatusNoContent)
}

// authenticated reports whether OPTIONS came from somebody: whoever gets a TURN credential can spend our traffic.
func (h *handler) authenticated(r *http.Request) bool {
	a, ok := h.service.(Authenticator)
	if !ok {
		return false
	}
	c, err := callerOf(r)
	return err == nil && a.Authenticate(r.Context(), c) == nil
}

// preflight tells a page of an admitted origin what it may send.
func preflight(h http.Header, r *http.Request, methods string) {
	if r.Header.Get("Origin") == "" {
		return
	}
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Max-Age", "600")
	h.Add("Vary", "Access-Control-Request-Headers")
	if asked := headerNames(r.Header.Get("Access-Control-Request-Headers")); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
}

func allow(r *http.Request, methods map[string]endpoint) string {
	names := append(slices.Collect(maps.Keys(methods)), http.MethodOptions)
	if isRoot(r.URL.Path) {
		names = append(names, http.MethodGet)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// headerNames keeps what can be a header name (RFC 9110 token) of a comma-separated list, 64 names at most.
func headerNames(list string) string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if isToken(name) && len(names) < 64 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// CORS lets pages of the allowed origins reach h, which is some other part of the same API, by the rules of the door.
func CORS(allowed []string, h http.Handler) http.Handler {
	o := newOrigins(allowed)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !o.admit(rw.Header(), r) {
			WriteError(rw, errOrigin)
			return
		}
		if r.Method == http.MethodOptions {
			preflight(rw.Header(), r, "GET, POST, OPTIONS")
			rw.WriteHeader(http.StatusNoContent)
			return
		}
		h.ServeHTTP(rw, r)
	})
}
