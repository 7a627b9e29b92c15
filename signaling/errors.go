package signaling

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"hovor/sfu"
	"hovor/signaling/realtime"
)

// Errors a Service may return as they are; each is the whole reply to the client.
var (
	// ErrCallNotFound says the same for a call that never was and for somebody else's.
	ErrCallNotFound = refuse(http.StatusNotFound, realtime.TypeInvalidRequest, realtime.CodeCallIDNotFound,
		"there is no live call with this id; it may have ended already")
	// ErrNoCredential is for a request without a bearer.
	ErrNoCredential = refuse(http.StatusUnauthorized, realtime.TypeAuthentication, realtime.CodeMissingCredential,
		`no credential: send the header "Authorization: Bearer …" with a client secret (ek_…) or your own token`)
	// ErrBadCredential is for a bearer that nobody here issued.
	ErrBadCredential = refuse(http.StatusUnauthorized, realtime.TypeAuthentication, realtime.CodeInvalidCredential,
		"this credential is not known here: check that it was issued by this host, and that the client talks to the same host")
	// ErrPrecondition is for a PATCH whose entity-tag is not that of the current ICE session.
	ErrPrecondition = refuse(http.StatusPreconditionFailed, realtime.TypeInvalidRequest, realtime.CodePreconditionFailed,
		`the entity-tag in If-Match is not that of the call's current ICE session; use the ETag of the last answer, or "*" to restart ICE`)
	// ErrPatchKind is for the one of trickle and restart that a Service does not do.
	ErrPatchKind = refuse(http.StatusUnprocessableEntity, realtime.TypeInvalidRequest, realtime.CodeNotSupported,
		"this call does not take this kind of PATCH; candidates need not be sent here, because the answer holds all of the server's")
	// ErrNoTranscription is for ?intent=transcription where no provider can do it.
	ErrNoTranscription = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeNotSupported,
		"no provider behind this gateway has sessions that only transcribe; open a session with ?model= and set audio.input.transcription in it")
)

// The door's own refusals.
var (
	errOrigin = refuse(http.StatusForbidden, realtime.TypePermission, realtime.CodeOriginNotAllowed,
		"pages of this origin may not call this gateway; its operator can add the origin to the allowed origins")
	errNoEndpoint = refuse(http.StatusNotFound, realtime.TypeInvalidRequest, realtime.CodeNotFound,
		"there is no such endpoint; a call is opened with POST /v1/realtime/calls")
	errMethod = refuse(http.StatusMethodNotAllowed, realtime.TypeInvalidRequest, realtime.CodeMethodNotAllowed,
		"this endpoint does not take this method; see the Allow header")
	errBearer = refuse(http.StatusUnauthorized, realtime.TypeAuthentication, realtime.CodeInvalidCredential,
		`the Authorization header must be "Bearer" and one token`)
	errBodyTooLarge = refuse(http.StatusRequestEntityTooLarge, realtime.TypeInvalidRequest, realtime.CodeMessageTooLarge,
		"the request body is larger than this gateway takes")
	errBodyCut = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidValue,
		"the request body ended early")
	errEmptyOffer = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidSDP,
		"the body is empty; it must be the SDP offer")
	errNotSDP = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidSDP,
		`the body is not an SDP offer; it must be what RTCPeerConnection.createOffer() made, and begins with "v=0"`)
	errNoBoundary = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidValue,
		`the Content-Type names no boundary and the body does not begin with one; send a form as FormData or your HTTP library makes it`)
	errBrokenForm = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidValue,
		"the form cannot be read: its parts do not fit the boundary, it ends early, or it has too many parts")
	errNoSDPPart = &realtime.Error{Status: http.StatusBadRequest, Type: realtime.TypeInvalidRequest, Code: realtime.CodeMissingParameter,
		Param: "sdp", Message: `the form has no part named "sdp"; it must hold the SDP offer, and a part "session" may hold the session as JSON`}
	errNoSDPField = &realtime.Error{Status: http.StatusBadRequest, Type: realtime.TypeInvalidRequest, Code: realtime.CodeMissingParameter,
		Param: "sdp", Message: `this field is required: the SDP offer, a string`}
	errNoAudio = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeNoAudio,
		"the offer has no audio section; add an audio track or transceiver before createOffer(), video alone cannot be answered")
	errCodec = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeUnsupportedCodec,
		"the offer's audio has no codec in common with this gateway; it speaks opus/48000/2, PCMU/8000 and PCMA/8000")
	errNegotiation = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidSDP,
		"this SDP offer can be read but not answered; it needs ICE, DTLS and bundled sections, as browsers send them")
	errSIP = refuse(http.StatusUnprocessableEntity, realtime.TypeInvalidRequest, realtime.CodeNotSupported,
		"accept, reject and refer are for telephone calls, and this gateway takes none; a call is ended with hangup or DELETE")
	errNoIfMatch = refuse(http.StatusPreconditionRequired, realtime.TypeInvalidRequest, realtime.CodePreconditionRequired,
		`a PATCH needs the header If-Match: the ETag of the answer to add candidates, or "*" to restart ICE`)
	errIfMatch = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidValue,
		`If-Match must be one entity-tag in quotes, or "*"`)
	errNoSocket = refuse(http.StatusNotImplemented, realtime.TypeInvalidRequest, realtime.CodeNotSupported,
		"this server has no WebSocket front; open a call over WebRTC with POST /v1/realtime/calls")
	errNotUpgrade = refuse(http.StatusUpgradeRequired, realtime.TypeInvalidRequest, realtime.CodeUpgradeRequired,
		"this is a WebSocket endpoint; a proxy in between must pass the Upgrade and Connection headers on")
	errSocketVersion = refuse(http.StatusUpgradeRequired, realtime.TypeInvalidRequest, realtime.CodeUpgradeRequired,
		"this is a WebSocket endpoint for version 13 (RFC 6455)")
	errHandshake = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeUpgradeRequired,
		"the WebSocket handshake is broken: it needs a Sec-WebSocket-Key of 16 bytes in base64, over HTTP/1.1")
	errNoProtocol = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidValue,
		`offer the subprotocol "realtime" too; one that holds a credential cannot be answered`)
	errKeyProtocol = refuse(http.StatusUnauthorized, realtime.TypeAuthentication, realtime.CodeInvalidCredential,
		`exactly one subprotocol "openai-insecure-api-key.…" can name the credential`)
	errTwoKeys = refuse(http.StatusUnauthorized, realtime.TypeAuthentication, realtime.CodeInvalidCredential,
		"the Authorization header and the subprotocol name different credentials; send one")
	errQuery = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeInvalidValue,
		"the query of the URL cannot be read")
	errOneOfThree = refuse(http.StatusBadRequest, realtime.TypeInvalidRequest, realtime.CodeMissingParameter,
		"the URL must say what the socket is for: exactly one of ?model=, ?call_id= and ?intent=transcription")
	errSocketUnused = refuse(http.StatusServiceUnavailable, realtime.TypeServer, realtime.CodeUnavailable,
		"nobody took the socket; try again")
	errTimeout = refuse(http.StatusGatewayTimeout, realtime.TypeServer, realtime.CodeTimeout,
		"the call could not be set up in time; try again")
	errCanceled = refuse(http.StatusServiceUnavailable, realtime.TypeServer, realtime.CodeUnavailable,
		"the request was given up before it was answered")
	errInternal = refuse(http.StatusInternalServerError, realtime.TypeServer, realtime.CodeInternal,
		"something went wrong in the gateway; its log says what")
)

func refuse(status int, typ, code, message string) *realtime.Error {
	return &realtime.Error{Status: status, Type: typ, Code: code, Message: message}
}

// known turns the errors of other rooms into replies.
var known = []struct {
	is    error
	reply *realtime.Error
}{
	{sfu.ErrNotSDP, errNotSDP},
	{sfu.ErrNoAudio, errNoAudio},
	{sfu.ErrUnsupportedCodec, errCodec},
	{sfu.ErrNegotiation, errNegotiation},
	{context.DeadlineExceeded, errTimeout},
	{context.Canceled, errCanceled},
}

// ReplyTo is what a client is told of err: the *realtime.Error in it, the fitting one for an error of another room, or a
// 500 without a cause.
func ReplyTo(err error) *realtime.Error {
	if e, ok := errors.AsType[*realtime.Error](err); ok {
		return e
	}
	for _, k := range known {
		if errors.Is(err, k.is) {
			return k.reply
		}
	}
	return errInternal
}

// WriteError writes err in the Realtime form with its status; other handlers of the same server use it too.
func WriteError(w http.ResponseWriter, err error) {
	e := ReplyTo(err)
	status := e.Status
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	body, merr := json.Marshal(struct {
		Error *realtime.Error `json:"error"`
	}{e})
	if merr != nil {
		body = []byte(`{"error":{"type":"server_error","code":"internal_error","message":"internal error","param":null}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Del("Location")
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="hovor"`)
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// fail answers with err and keeps what the log line needs.
func (w *reply) fail(err error) {
	w.note(ReplyTo(err), err)
	WriteError(w, err)
}

func (w *reply) note(e *realtime.Error, err error) {
	w.code = e.Code
	if e.Status >= 500 || e.Status < 400 {
		w.cause = err
	}
}
