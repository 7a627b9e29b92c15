package signaling

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/websocket"

	"hovor/signaling/realtime"
	"hovor/signaling/socket"
)

// SocketConfig is the limits of the WebSocket front; see socket.Config.
type SocketConfig = socket.Config

const (
	realtimeProtocol = "realtime"
	keyProtocol      = "openai-insecure-api-key."
	orgProtocol      = "openai-organization."
	projectProtocol  = "openai-project."
)

// serveSocket is GET /v1/realtime: it finds out who comes and for what, and hands the socket to the Service.
func (h *handler) serveSocket(w *reply, r *http.Request) {
	s, ok := h.service.(SocketService)
	if !ok {
		w.fail(errNoSocket)
		return
	}
	if err := checkUpgrade(r); err != nil {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		w.fail(err)
		return
	}
	protocol, err := selectProtocol(offeredProtocols(r))
	if err != nil {
		w.fail(err)
		return
	}
	p := newPending(h, w, r, protocol)
	caller, err := socketCaller(r)
	var req SocketRequest
	if err == nil {
		req, err = readSocketRequest(r)
	}
	if err == nil {
		err = s.Socket(p.ctx, caller, req, p)
	}
	p.finish(err, dialectOf(r))
}

// checkUpgrade tells a handshake (RFC 6455 section 4.2.1) from any other GET.
func checkUpgrade(r *http.Request) error {
	switch {
	case !websocket.IsWebSocketUpgrade(r):
		return errNotUpgrade
	case strings.TrimSpace(r.Header.Get("Sec-Websocket-Version")) != "13":
		return errSocketVersion
	}
	return nil
}

// offeredProtocols are the subprotocols that the client offers. Some hold a credential: never log them.
func offeredProtocols(r *http.Request) []string { return websocket.Subprotocols(r) }

// selectProtocol picks the one subprotocol that is answered: a browser drops a socket that answers none of its own. What
// holds a credential is never answered.
func selectProtocol(offered []string) (string, error) {
	other := ""
	for _, p := range offered {
		switch {
		case p == realtimeProtocol:
			return p, nil
		case other != "", strings.HasPrefix(p, keyProtocol), strings.HasPrefix(p, orgProtocol), strings.HasPrefix(p, projectProtocol):
		default:
			other = p
		}
	}
	if other == "" && len(offered) > 0 {
		return "", errNoProtocol
	}
	return other, nil
}

// socketCaller reads who knocks from the Authorization header or from the subprotocol that browsers have to use.
func socketCaller(r *http.Request) (Caller, error) {
	key := ""
	for _, p := range offeredProtocols(r) {
		token, ok := strings.CutPrefix(p, keyProtocol)
		if !ok {
			continue
		}
		if key != "" || token == "" || len(token) > maxBearer {
			return Caller{}, errKeyProtocol
		}
		key = token
	}
	c, err := callerOf(r)
	switch {
	case key == "":
		return c, err
	case errors.Is(err, ErrNoCredential):
		c.Bearer = NewCredential(key)
		return c, nil
	case err != nil:
		return c, err
	case !c.Bearer.Equal(key):
		return c, errTwoKeys
	}
	return c, nil
}

// readSocketRequest reads what the socket is for: exactly one of model, call_id and intent.
func readSocketRequest(r *http.Request) (SocketRequest, error) {
	req := SocketRequest{Dialect: dialectOf(r)}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return req, errQuery
	}
	said := 0
	for name, field := range map[string]*string{"model": &req.Model, "call_id": &req.CallID, "intent": &req.Intent} {
		values := query[name]
		if len(values) > 1 {
			return req, realtime.Invalid(realtime.CodeDuplicateParameter, name, "this parameter stands in the URL twice")
		}
		if len(values) == 1 && values[0] != "" {
			*field = values[0]
			said++
		}
	}
	switch {
	case said != 1:
		return req, errOneOfThree
	case req.Intent != "" && req.Intent != IntentTranscription:
		return req, realtime.Invalid(realtime.CodeInvalidValue, "intent", `the one intent is "transcription"; for a conversation name a model`)
	case req.CallID != "" && !plausibleID(req.CallID):
		return req, ErrCallNotFound
	}
	return req, checkModel(req.Model)
}

// CloseFor is the close code and the reason that a socket ends with after err. The reason is the error's type and code.
func CloseFor(err error) (code int, reason string) {
	if err == nil {
		return socket.CodeNormal, ""
	}
	e := ReplyTo(err)
	reason = e.Type + "." + e.Code
	switch {
	case e.Status == http.StatusUnauthorized:
		return socket.CodeUnauthorized, reason
	case e.Status == http.StatusForbidden:
		return socket.CodeForbidden, reason
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusGatewayTimeout:
		return socket.CodeTimeout, reason
	case e.Status == http.StatusTooManyRequests, e.Status == http.StatusServiceUnavailable, e.Status == http.StatusBadGateway:
		return socket.CodeTryLater, reason
	case e.Status >= 500, e.Status < 400:
		return socket.CodeInternal, reason
	}
	return socket.CodePolicy, reason
}

// hijackable finds the connection under whatever wraps the writer.
type hijackable struct{ http.ResponseWriter }

// Hijack is what the upgrader asks for.
func (w hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// isPage reports that a browser's page made the request. It cannot read the reply to a handshake that was refused.
func isPage(r *http.Request) bool { return r.Header.Get("Origin") != "" }
