package tools

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"hovor/tools/catalogue"
)

// verdict is what was decided about a call, before it is put into words.
type verdict struct {
	status Status
	saying catalogue.Saying // "" = the status's own
	detail string           // one more sentence, already in the session's language
	result json.RawMessage
	cut    int // bytes of the whole result when result is a shortened form
}

type truncated struct {
	Kept  int `json:"kept_bytes"`
	Whole int `json:"whole_bytes"`
}

// output writes the exact text that a model may be given. Its members are status, result, truncated and message, in
// that order; a status that is not ok always has a message and never a result.
func (v verdict) output(e *catalogue.Entry, language string) string {
	out := struct {
		Status    Status          `json:"status"`
		Result    json.RawMessage `json:"result,omitempty"`
		Truncated *truncated      `json:"truncated,omitempty"`
		Message   string          `json:"message,omitempty"`
	}{Status: v.status}
	saying := v.saying
	if saying == "" {
		saying = catalogue.Saying(v.status)
	}
	switch {
	case v.status != StatusOK:
		out.Message = strings.TrimSpace(e.Sentence(language, saying) + " " + v.detail)
	case v.cut > 0:
		out.Result = v.result
		out.Truncated = &truncated{Kept: len(v.result), Whole: v.cut}
		out.Message = e.Sentence(language, catalogue.SayCut)
	case len(v.result) > 0:
		out.Result = v.result
		if v.saying != "" {
			out.Message = e.Sentence(language, v.saying)
		}
	default:
		out.Message = e.Sentence(language, saying)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(out) // result is JSON already, the rest is text and numbers: it cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// newID returns prefix and 26 random characters (128 bits and more).
func newID(prefix string) string { return prefix + rand.Text() }
