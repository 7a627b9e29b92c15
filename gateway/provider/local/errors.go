package local

import "errors"

var (
	// ErrConfig is returned by New for a configuration that cannot work.
	ErrConfig = errors.New("embedded provider configuration")
	// ErrFull is returned when MaxSessions calls are open.
	ErrFull = errors.New("embedded provider is full")
	// ErrDraining is returned once Run's context has ended.
	ErrDraining = errors.New("embedded provider is draining")
)

// Codes of the error events that only a provider sends (protocol research 1.11, 1.14).
const (
	codeActiveResponse   = "conversation_already_has_active_response"
	codeNotActive        = "response_cancel_not_active"
	codeCommitEmpty      = "input_audio_buffer_commit_empty"
	codeCannotVoice      = "cannot_update_voice"
	codeUnsupported      = "unsupported_content_type"
	codeInvalidTransport = "invalid_event_for_transport"
	codeInvalidCall      = "invalid_tool_call_id"
	codeConversationFull = "conversation_full"
	codeSessionExpired   = "session_expired"
	codeTooFast          = "rate_limit_exceeded"
)
