package signaling

import (
	"net/http"
	"strings"

	"hovor/signaling/realtime"
	"hovor/signaling/realtime/dialect"
)

// betaProtocol is the subprotocol by which a browser's WebSocket says what the header OpenAI-Beta says elsewhere.
const betaProtocol = "openai-beta.realtime-v1"

// dialectOf is the part of the dialect rule that a request shows: the header OpenAI-Beta, or the subprotocol.
func dialectOf(r *http.Request) realtime.Dialect {
	for _, v := range r.Header.Values("Openai-Beta") {
		for item := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(item), "realtime=v1") {
				return realtime.Beta
			}
		}
	}
	for _, p := range offeredProtocols(r) {
		if p == betaProtocol {
			return realtime.Beta
		}
	}
	return realtime.GA
}

// openBeta is POST /v1/realtime, where calls were opened before they had a path of their own.
func (h *handler) openBeta(w *reply, r *http.Request, c Caller, _ string) {
	h.answer(w, r, c, realtime.Beta)
}

// mintBeta is POST /v1/realtime/sessions: a flat session in, the same with a secret in it out.
func (h *handler) mintBeta(w *reply, r *http.Request, c Caller, _ string) {
	h.mintLegacy(w, r, c, realtime.SessionRealtime)
}

// mintBetaTranscription is POST /v1/realtime/transcription_sessions.
func (h *handler) mintBetaTranscription(w *reply, r *http.Request, c Caller, _ string) {
	h.mintLegacy(w, r, c, realtime.SessionTranscription)
}

func (h *handler) mintLegacy(w *reply, r *http.Request, c Caller, kind string) {
	body, err := readBody(r)
	if err == nil && len(body) > 0 {
		err = wantType(r, jsonType)
	}
	if err != nil {
		w.fail(err)
		return
	}
	if len(body) == 0 {
		body = []byte("{}")
	}
	var req realtime.ClientSecretRequest
	body, err = dialect.SecretRequestToGA(body, kind)
	if err == nil {
		err = realtime.DecodeBody(body, &req)
	}
	if err == nil && req.Session == nil { // the body was JSON, but no object of a session
		err = realtime.Invalid(realtime.CodeInvalidJSON, "", "expected a JSON object, the session")
	}
	if err != nil {
		w.fail(inDialect(err, realtime.Beta))
		return
	}
	secret, err := h.service.Mint(r.Context(), c, req)
	if err != nil {
		w.fail(inDialect(err, realtime.Beta))
		return
	}
	reply, err := dialect.SecretFromGA(secret)
	if err != nil {
		w.fail(err)
		return
	}
	w.raw(http.StatusOK, reply)
}

// sip answers what only a telephone call can be asked.
func (h *handler) sip(w *reply, _ *http.Request, _ Caller, _ string) { w.fail(errSIP) }
