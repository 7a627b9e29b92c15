package signaling

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"hovor/signaling/realtime"
	"hovor/signaling/realtime/dialect"
)

const (
	sdpType       = "application/sdp"
	jsonType      = "application/json"
	multipartType = "multipart/form-data"
)

// offerBody is the body of POST calls, taken apart but not yet understood.
type offerBody struct {
	sdp     []byte
	session []byte // JSON; nil when there is none
	model   string
}

// offerReaders read the body of POST calls by its media type.
var offerReaders = map[string]func(body []byte, boundary string) (offerBody, error){
	sdpType:       rawOffer,
	multipartType: formOffer,
	jsonType:      jsonOffer,
}

// readOffer reads an offer in whichever form it came, and its session in whichever dialect.
func readOffer(r *http.Request, d realtime.Dialect) (Offer, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if errors.Is(err, mime.ErrInvalidMediaParameter) { // a bad parameter does not make the type unknown
		params = nil
	}
	read, ok := offerReaders[mediaType]
	if !ok {
		return Offer{}, unsupportedType(sdpType)
	}
	body, err := readBody(r)
	if err != nil {
		return Offer{}, err
	}
	parts, err := read(body, params["boundary"])
	if err != nil {
		return Offer{}, err
	}
	if err := looksLikeSDP(parts.sdp); err != nil {
		return Offer{}, err
	}
	o := Offer{SDP: string(parts.sdp), Dialect: d}
	if o.Session, o.Dialect, err = offeredSession(parts.session, d); err != nil {
		return Offer{}, err
	}
	switch model := r.URL.Query().Get("model"); {
	case model != "":
		o.Model = model
	case parts.model != "":
		o.Model = parts.model
	case o.Session != nil:
		o.Model = o.Session.Model
	}
	return o, checkModel(o.Model)
}

func checkModel(model string) error {
	if len(model) > 256 {
		return realtime.Invalid(realtime.CodeInvalidValue, "model", "longer than 256 bytes")
	}
	return nil
}

// offeredSession reads the session that came with an offer. One that names no type, and is flat, makes the connection a
// beta one: it is the client's first session.update, sent early.
func offeredSession(raw []byte, d realtime.Dialect) (*realtime.Session, realtime.Dialect, error) {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return nil, d, nil
	}
	if dialect.IsBetaSession(raw) {
		d = realtime.Beta
	}
	ga := raw
	if d == realtime.Beta {
		var err error
		if ga, err = dialect.SessionToGA(raw); err != nil {
			return nil, d, err
		}
	}
	session, err := realtime.DecodeSession(ga)
	if err != nil {
		return nil, d, inDialect(err, d)
	}
	return session, d, nil
}

// inDialect puts the field of an error into the client's own words.
func inDialect(err error, d realtime.Dialect) error {
	e, ok := errors.AsType[*realtime.Error](err)
	if !ok || d != realtime.Beta {
		return err
	}
	told := *e
	told.Param = dialect.Param(e.Param)
	return &told
}

// rawOffer is the SDP itself; the session is the secret's.
func rawOffer(body []byte, _ string) (offerBody, error) { return offerBody{sdp: body}, nil }

// jsonOffer is {"sdp", "session", "model"}; whatever else stands there is not read.
func jsonOffer(body []byte, _ string) (offerBody, error) {
	var form struct {
		SDP     *string      `json:"sdp" rt:"null"`
		Session realtime.Raw `json:"session" rt:"null"`
		Model   string       `json:"model" rt:"null"`
	}
	if err := realtime.DecodeBody(body, &form); err != nil {
		return offerBody{}, err
	}
	if form.SDP == nil {
		return offerBody{}, errNoSDPField
	}
	return offerBody{sdp: []byte(*form.SDP), session: form.Session, model: form.Model}, nil
}

// maxParts is more than the two parts that are read and fewer than a body of 1 MiB can be cut into.
const maxParts = 16

// formOffer is a form with the parts sdp and session, typed or plain. Some clients lose the boundary on the way to the
// header; the body itself begins with it.
func formOffer(body []byte, boundary string) (offerBody, error) {
	if boundary == "" {
		if boundary = sniffBoundary(body); boundary == "" {
			return offerBody{}, errNoBoundary
		}
	}
	var got offerBody
	seen := map[string]bool{}
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for n := 0; ; n++ {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) && n > 0 {
			break
		}
		if err != nil || n == maxParts {
			return offerBody{}, errBrokenForm
		}
		name := part.FormName()
		if name != "sdp" && name != "session" && name != "model" {
			continue
		}
		if seen[name] {
			return offerBody{}, realtime.Invalid(realtime.CodeDuplicateParameter, name, "this part stands in the form twice")
		}
		seen[name] = true
		value, err := io.ReadAll(part)
		if err != nil {
			return offerBody{}, errBrokenForm
		}
		switch name {
		case "sdp":
			got.sdp = value
		case "session":
			got.session = value
		case "model":
			got.model = string(value)
		}
	}
	if !seen["sdp"] {
		return offerBody{}, errNoSDPPart
	}
	return got, nil
}

// sniffBoundary reads the boundary off the body's first line (RFC 2046 section 5.1.1); empty when there is none.
func sniffBoundary(body []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimLeft(body, "\r\n"), []byte("\n"))
	line = bytes.TrimRight(line, " \t\r")
	boundary, ok := bytes.CutPrefix(line, []byte("--"))
	if !ok || len(boundary) == 0 || len(boundary) > 70 {
		return ""
	}
	for _, c := range boundary {
		if c < ' ' || c > '~' {
			return ""
		}
	}
	return string(boundary)
}

// looksLikeSDP turns away what is none at first sight; sfu reads it properly.
func looksLikeSDP(body []byte) error {
	body = bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(body) == 0:
		return errEmptyOffer
	case !bytes.HasPrefix(body, []byte("v=0")):
		return errNotSDP
	}
	return nil
}
