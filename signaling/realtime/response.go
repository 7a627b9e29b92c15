package realtime

// Statuses that only a response has.
const (
	StatusCancelled = "cancelled"
	StatusFailed    = "failed"
)

// Reasons of a response that did not complete.
const (
	ReasonTurnDetected    = "turn_detected"
	ReasonClientCancelled = "client_cancelled"
	ReasonMaxOutputTokens = "max_output_tokens"
	ReasonContentFilter   = "content_filter"
)

// Response is one answer of the model.
type Response struct {
	ID               string         `json:"id,omitempty"`
	Object           string         `json:"object,omitempty" rt:"enum=realtime.response"`
	Status           string         `json:"status,omitempty" rt:"null,enum=completed|incomplete|failed|cancelled|in_progress"`
	StatusDetails    *StatusDetails `json:"status_details,omitempty" rt:"null"`
	Output           []Item         `json:"output,omitzero" rt:"null"`
	ConversationID   string         `json:"conversation_id,omitempty" rt:"null"`
	OutputModalities []string       `json:"output_modalities,omitempty" rt:"null,items=audio|text"`
	Audio            *ResponseAudio `json:"audio,omitempty" rt:"null"`
	MaxOutputTokens  MaxTokens      `json:"max_output_tokens,omitzero" rt:"null"`
	Metadata         Raw            `json:"metadata,omitempty" rt:"null,object"`
	Usage            *Usage         `json:"usage,omitempty" rt:"null"`
}

// StatusDetails says why a response ended as it did.
type StatusDetails struct {
	Type   string       `json:"type,omitempty"`
	Reason string       `json:"reason,omitempty" rt:"null"`
	Error  *StatusError `json:"error,omitempty" rt:"null"`
}

// StatusError is the cause of a failed response.
type StatusError struct {
	Type    string `json:"type,omitempty" rt:"null"`
	Code    string `json:"code,omitempty" rt:"null"`
	Message string `json:"message,omitempty" rt:"null"`
}

// ResponseAudio is how a response sounds.
type ResponseAudio struct {
	Output *ResponseAudioOutput `json:"output,omitempty" rt:"null"`
}

// ResponseAudioOutput is the sound of one response; the voice is always a plain string here, because clients insist on it.
type ResponseAudioOutput struct {
	Format *AudioFormat `json:"format,omitempty" rt:"null"`
	Voice  VoiceName    `json:"voice,omitempty" rt:"null"`
}

// ResponseParams is the body of response.create; absent fields come from the session.
type ResponseParams struct {
	Conversation      string               `json:"conversation,omitempty"` // "auto" (default) or "none"
	Input             []Item               `json:"input,omitzero" rt:"null"`
	Instructions      *string              `json:"instructions,omitempty" rt:"null"`
	OutputModalities  []string             `json:"output_modalities,omitempty" rt:"null,items=audio|text"`
	Audio             *ResponseParamsAudio `json:"audio,omitempty" rt:"null"`
	Tools             []Tool               `json:"tools,omitzero" rt:"null"`
	ToolChoice        *ToolChoice          `json:"tool_choice,omitempty" rt:"null"`
	ParallelToolCalls *bool                `json:"parallel_tool_calls,omitempty" rt:"null"`
	MaxOutputTokens   MaxTokens            `json:"max_output_tokens,omitzero" rt:"null"`
	Reasoning         *Reasoning           `json:"reasoning,omitempty" rt:"null"`
	Prompt            *Prompt              `json:"prompt,omitempty" rt:"null"`
	Metadata          Raw                  `json:"metadata,omitempty" rt:"null,object"`
}

// ResponseParamsAudio is how one response shall sound.
type ResponseParamsAudio struct {
	Output *AudioOutput `json:"output,omitempty" rt:"null"`
}

// Usage is what one response cost, in tokens. Its numbers are never null.
type Usage struct {
	TotalTokens        int64              `json:"total_tokens"`
	InputTokens        int64              `json:"input_tokens"`
	OutputTokens       int64              `json:"output_tokens"`
	InputTokenDetails  InputTokenDetails  `json:"input_token_details"`
	OutputTokenDetails OutputTokenDetails `json:"output_token_details"`
}

// InputTokenDetails divides the input tokens by kind.
type InputTokenDetails struct {
	TextTokens          int64         `json:"text_tokens"`
	AudioTokens         int64         `json:"audio_tokens"`
	ImageTokens         int64         `json:"image_tokens"`
	CachedTokens        int64         `json:"cached_tokens"`
	CachedTokensDetails CachedDetails `json:"cached_tokens_details"`
}

// CachedDetails divides the cached input tokens by kind.
type CachedDetails struct {
	TextTokens  int64 `json:"text_tokens"`
	AudioTokens int64 `json:"audio_tokens"`
	ImageTokens int64 `json:"image_tokens"`
}

// OutputTokenDetails divides the output tokens by kind.
type OutputTokenDetails struct {
	TextTokens  int64 `json:"text_tokens"`
	AudioTokens int64 `json:"audio_tokens"`
}

// TranscriptionUsage is what a transcript cost: Type "duration" with Seconds, or "tokens" with the token fields, which
// are all written then, because clients drop the event without them.
type TranscriptionUsage struct {
	Type              string                   `json:"type" rt:"req,enum=tokens|duration"`
	Seconds           float64                  `json:"seconds,omitempty"`
	TotalTokens       int64                    `json:"total_tokens,omitempty"`
	InputTokens       int64                    `json:"input_tokens,omitempty"`
	OutputTokens      int64                    `json:"output_tokens,omitempty"`
	InputTokenDetails *TranscriptionInputUsage `json:"input_token_details,omitempty" rt:"null"`
}

// TranscriptionInputUsage divides a transcript's input tokens by kind.
type TranscriptionInputUsage struct {
	TextTokens  int64 `json:"text_tokens"`
	AudioTokens int64 `json:"audio_tokens"`
}
