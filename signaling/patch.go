package signaling

import (
	"errors"
	"net/http"
	"strings"

	"hovor/signaling/realtime"
	"hovor/signaling/sdpfrag"
)

// patch takes trickled candidates and ICE restarts (RFC 9725 section 4.3).
func (h *handler) patch(w *reply, r *http.Request, c Caller, callID string) {
	w.Header().Set("Accept-Patch", sdpfrag.MediaType)
	p, err := readPatch(r)
	if err != nil {
		w.fail(err)
		return
	}
	answer, err := h.service.(Patcher).Patch(r.Context(), c, callID, p)
	if err != nil {
		w.fail(err)
		return
	}
	if answer == nil || answer.Fragment == nil {
		w.WriteHeader(http.StatusNoContent) // without an ETag: the ICE session is the one it was
		return
	}
	setETag(w.Header(), answer.ETag)
	w.Header().Set("Content-Type", sdpfrag.MediaType)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(answer.Fragment.Text()))
}

func readPatch(r *http.Request) (PatchRequest, error) {
	var p PatchRequest
	if err := wantType(r, sdpfrag.MediaType); err != nil {
		return p, err
	}
	var err error
	if p.IfMatch, p.Restart, err = ifMatch(r.Header.Values("If-Match")); err != nil {
		return p, err
	}
	body, err := readBody(r)
	if err != nil {
		return p, err
	}
	if p.Fragment, err = sdpfrag.Parse(string(body)); err != nil {
		return p, badFragment(err)
	}
	if p.Restart && p.Fragment.Current().IsZero() {
		return p, realtime.Invalid(realtime.CodeInvalidFragment, "", "a restart (If-Match: *) needs the new a=ice-ufrag and a=ice-pwd")
	}
	return p, nil
}

func badFragment(err error) error {
	e := realtime.Invalid(realtime.CodeInvalidFragment, "", err.Error())
	if errors.Is(err, sdpfrag.ErrTooLarge) {
		e.Status, e.Code = http.StatusRequestEntityTooLarge, realtime.CodeMessageTooLarge
	}
	return e
}

// ifMatch reads the condition: one strong entity-tag, or * for a restart. The examples of RFC 9725 write the star with
// quotes, so both forms count.
func ifMatch(values []string) (tag string, restart bool, err error) {
	value := strings.TrimSpace(strings.Join(values, ","))
	switch {
	case value == "":
		return "", false, errNoIfMatch
	case value == "*" || value == `"*"`:
		return "", true, nil
	case strings.HasPrefix(value, "W/"): // never equal in the strong comparison that If-Match asks for (RFC 9110 section 13.1.1)
		return "", false, ErrPrecondition
	}
	inner, ok := strings.CutPrefix(value, `"`)
	inner, ok2 := strings.CutSuffix(inner, `"`)
	if !ok || !ok2 || strings.Contains(inner, `"`) || len(inner) > 256 {
		return "", false, errIfMatch
	}
	return inner, false, nil
}

// setETag writes a strong entity-tag; an empty one, or one that cannot stand in quotes, is left out.
func setETag(h http.Header, tag string) {
	for i := range len(tag) {
		if tag[i] <= ' ' || tag[i] > '~' || tag[i] == '"' {
			return
		}
	}
	if tag != "" {
		h.Set("ETag", `"`+tag+`"`)
	}
}
