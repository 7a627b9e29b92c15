package signaling

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"hovor/signaling/realtime"
)

// maxBearer is longer than any access token in the field and short enough to hold in memory for every call.
const maxBearer = 16 << 10

// callerOf reads who knocks. Errors: ErrNoCredential, errBearer.
func callerOf(r *http.Request) (Caller, error) {
	c := Caller{Remote: r.RemoteAddr, Header: http.Header{}}
	for _, name := range callerHeaders {
		if v := r.Header.Values(name); len(v) > 0 {
			c.Header[name] = v
		}
	}
	bearer, err := bearerOf(r.Header.Values("Authorization"))
	c.Bearer = bearer
	return c, err
}

func bearerOf(headers []string) (Credential, error) {
	if len(headers) == 0 || len(headers) == 1 && strings.TrimSpace(headers[0]) == "" {
		return Credential{}, ErrNoCredential
	}
	scheme, token, ok := strings.Cut(strings.TrimSpace(headers[0]), " ")
	token = strings.TrimSpace(token)
	if len(headers) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxBearer || strings.ContainsAny(token, " \t,") {
		return Credential{}, errBearer
	}
	return NewCredential(token), nil
}

// readBody reads a request body, whose size the handler has bounded.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errBodyTooLarge
	case err != nil:
		return nil, errBodyCut
	}
	return body, nil
}

func wantType(r *http.Request, want string) error {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType != want {
		return unsupportedType(want)
	}
	return nil
}

func unsupportedType(want string) *realtime.Error {
	return refuse(http.StatusUnsupportedMediaType, realtime.TypeInvalidRequest, realtime.CodeUnsupportedContentType,
		"send the body with the header \"Content-Type: "+want+"\"")
}

// plausibleID tells a call id from a path that cannot be one, before anybody looks it up.
func plausibleID(id string) bool {
	if len(id) > 64 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// clipHeader keeps a value that came from outside short and on one line in the log.
func clipHeader(s string) string {
	if len(s) > 128 {
		s = s[:128] + "…"
	}
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, s), "?")
}
