package realtime

import (
	"encoding/json"
	"net/http"
)

// Error types.
const (
	TypeInvalidRequest = "invalid_request_error"
	TypeAuthentication = "authentication_error"
	TypePermission     = "permission_error"
	TypeRateLimit      = "rate_limit_error"
	TypeServer         = "server_error"
)

// Error codes that this module produces. Others may come through from a provider.
const (
	CodeInvalidJSON            = "invalid_json"
	CodeUnknownEvent           = "unknown_event"
	CodeInvalidEvent           = "invalid_event"
	CodeInvalidType            = "invalid_type"
	CodeInvalidValue           = "invalid_value"
	CodeMissingParameter       = "missing_required_parameter"
	CodeUnknownParameter       = "unknown_parameter"
	CodeDuplicateParameter     = "duplicate_parameter"
	CodeMessageTooLarge        = "message_too_large"
	CodeMissingCredential      = "missing_credential"
	CodeInvalidCredential      = "invalid_credential"
	CodeExpiredCredential      = "expired_credential"
	CodeUsedCredential         = "used_credential"
	CodeForbidden              = "forbidden"
	CodeInvalidSDP             = "invalid_sdp"
	CodeNoAudio                = "no_audio"
	CodeUnsupportedCodec       = "unsupported_codec"
	CodeUnsupportedContentType = "unsupported_content_type"
	CodeNotAcceptable          = "not_acceptable"
	CodeCallIDNotFound         = "call_id_not_found"
	CodeNotFound               = "not_found"
	CodeMethodNotAllowed       = "method_not_allowed"
	CodeOriginNotAllowed       = "origin_not_allowed"
	CodeTooManyCalls           = "too_many_calls"
	CodeUnavailable            = "unavailable"
	CodeTimeout                = "timeout"
	CodeInternal               = "internal_error"
	CodeEventNotAllowed        = "event_not_allowed"
	CodePreconditionRequired   = "precondition_required"
	CodePreconditionFailed     = "precondition_failed"
	CodeInvalidFragment        = "invalid_sdp_fragment"
	CodeNotSupported           = "not_supported"
	CodeUpgradeRequired        = "upgrade_required"
)

// Error is the protocol's error form, in an HTTP body as in an error event. Message is for a person, and says what to do.
type Error struct {
	Status     int    `json:"-"` // HTTP status; 0 in an error event
	RetryAfter int    `json:"-"` // seconds for a Retry-After header; 0 = none
	Type       string `json:"type"`
	Code       string `json:"code" rt:"null"`
	Message    string `json:"message"`
	Param      string `json:"param" rt:"null"`
	EventID    string `json:"event_id,omitempty" rt:"null"` // of the client event at fault
}

// Error is the message, with the field that it is about.
func (e *Error) Error() string {
	if e.Param != "" {
		return e.Code + ": " + e.Param + ": " + e.Message
	}
	if e.Code != "" {
		return e.Code + ": " + e.Message
	}
	return e.Message
}

// MarshalJSON writes all four fields of the published form, null where there is nothing, and event_id when it is known.
func (e Error) MarshalJSON() ([]byte, error) {
	type form struct {
		Type    string  `json:"type"`
		Code    *string `json:"code"`
		Message string  `json:"message"`
		Param   *string `json:"param"`
		EventID *string `json:"event_id,omitempty"`
	}
	return json.Marshal(form{e.Type, nonEmpty(e.Code), e.Message, nonEmpty(e.Param), nonEmpty(e.EventID)})
}

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Event wraps the error for the data channel.
func (e *Error) Event() *ErrorEvent { return &ErrorEvent{Error: e} }

// Invalid is an error about one field of a request: 400 over HTTP.
func Invalid(code, param, message string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: TypeInvalidRequest, Code: code, Param: param, Message: message}
}
