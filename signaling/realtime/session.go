package realtime

import "encoding/json"

// Session types.
const (
	SessionRealtime      = "realtime"
	SessionTranscription = "transcription"
)

// Session is the configuration of a call: whole in session.created and session.updated, partial in session.update and in
// a client secret. In a partial one an absent field (nil, or the zero Nullable) keeps what is; null, "" and [] clear it:
// an empty but non-nil slice, a pointer to "", Null. In JSON null for a field that is no Nullable is read as its empty form.
type Session struct {
	Type             string   `json:"type,omitempty" rt:"enum=realtime|transcription"`
	Object           string   `json:"object,omitempty"`
	ID               string   `json:"id,omitempty"`
	Model            string   `json:"model,omitempty" rt:"maxlen=256"`
	Instructions     *string  `json:"instructions,omitempty" rt:"null"`
	OutputModalities []string `json:"output_modalities,omitzero" rt:"null,items=audio|text"`
	Audio            *Audio   `json:"audio,omitempty" rt:"null"`

	Tools             []Tool      `json:"tools,omitzero" rt:"null"`
	ToolChoice        *ToolChoice `json:"tool_choice,omitempty" rt:"null"`
	ParallelToolCalls *bool       `json:"parallel_tool_calls,omitempty" rt:"null"`

	MaxOutputTokens MaxTokens           `json:"max_output_tokens,omitzero" rt:"null"`
	Reasoning       Nullable[Reasoning] `json:"reasoning,omitzero"`
	Truncation      *Truncation         `json:"truncation,omitempty" rt:"null"`
	Prompt          Nullable[Prompt]    `json:"prompt,omitzero"`
	Tracing         Nullable[Tracing]   `json:"tracing,omitzero"`
	Include         []string            `json:"include,omitzero" rt:"null"`

	ExpiresAt int64 `json:"expires_at,omitempty" rt:"null"` // unix seconds; 0 = does not say
}

// Audio is both directions of a session's sound.
type Audio struct {
	Input  *AudioInput  `json:"input,omitempty" rt:"null"`
	Output *AudioOutput `json:"output,omitempty" rt:"null"`
}

// AudioInput is what the session hears. TurnDetection null is manual: push-to-talk, or an ear elsewhere.
type AudioInput struct {
	Format         *AudioFormat             `json:"format,omitempty" rt:"null"`
	NoiseReduction Nullable[NoiseReduction] `json:"noise_reduction,omitzero"`
	Transcription  Nullable[Transcription]  `json:"transcription,omitzero"`
	TurnDetection  Nullable[TurnDetection]  `json:"turn_detection,omitzero"`
}

// AudioOutput is what the session says. Voice cannot change after the first audio; Speed is 0.25..1.5, 0 = absent.
type AudioOutput struct {
	Format *AudioFormat `json:"format,omitempty" rt:"null"`
	Voice  Voice        `json:"voice,omitempty" rt:"null"`
	Speed  float64      `json:"speed,omitempty" rt:"null,min=0.25,max=1.5"`
}

// AudioFormat is audio/pcm (Rate 24000), audio/pcmu or audio/pcma. Over WebRTC the track's codec decides instead.
type AudioFormat struct {
	Type string `json:"type,omitempty" rt:"enum=audio/pcm|audio/pcmu|audio/pcma"`
	Rate int    `json:"rate,omitempty" rt:"min=1,max=192000"`
}

// NoiseReduction is near_field (headset) or far_field (room).
type NoiseReduction struct {
	Type     string   `json:"type,omitempty" rt:"enum=near_field|far_field"`
	Strength *float64 `json:"strength,omitempty" rt:"min=0,max=1"`
}

// Transcription asks for the text of what the person says. Language is ISO 639-1.
type Transcription struct {
	Model     string   `json:"model,omitempty"`
	Language  string   `json:"language,omitempty"`
	Languages []string `json:"languages,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Keywords  []string `json:"keywords,omitempty"`
	Delay     string   `json:"delay,omitempty" rt:"enum=minimal|low|medium|high|xhigh"`
}

// Turn detection types.
const (
	ServerVAD   = "server_vad"
	SemanticVAD = "semantic_vad"
)

// TurnDetection says how the server finds turns. Nil fields are absent; WithDefaults fills those that fit the type.
type TurnDetection struct {
	Type              string        `json:"type" rt:"req,enum=server_vad|semantic_vad"`
	Threshold         *float64      `json:"threshold,omitempty" rt:"null,min=0,max=1"`          // server_vad, default 0.5
	PrefixPaddingMS   *int          `json:"prefix_padding_ms,omitempty" rt:"null,min=0"`        // server_vad, default 300
	SilenceDurationMS *int          `json:"silence_duration_ms,omitempty" rt:"null,min=0"`      // server_vad, default 500
	IdleTimeoutMS     Nullable[int] `json:"idle_timeout_ms,omitzero" rt:"min=0"`                // server_vad, default null
	Eagerness         string        `json:"eagerness,omitempty" rt:"enum=low|medium|high|auto"` // semantic_vad, default auto
	CreateResponse    *bool         `json:"create_response,omitempty" rt:"null"`                // default true
	InterruptResponse *bool         `json:"interrupt_response,omitempty" rt:"null"`             // default true
}

// Reasoning is how hard the model should think.
type Reasoning struct {
	Effort string `json:"effort,omitempty" rt:"enum=none|minimal|low|medium|high|xhigh"`
}

// Prompt refers to a stored prompt.
type Prompt struct {
	ID        string `json:"id" rt:"req"`
	Version   string `json:"version,omitempty" rt:"null"`
	Variables Raw    `json:"variables,omitempty" rt:"null,object"`
}

// Tool is a function the model may name, or an MCP server that the provider may call.
type Tool struct {
	Type        string `json:"type,omitempty" rt:"enum=function|mcp"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty" rt:"null"`
	Parameters  Raw    `json:"parameters,omitempty" rt:"null,object"` // JSON Schema

	ServerLabel       string            `json:"server_label,omitempty"`
	ServerURL         string            `json:"server_url,omitempty"`
	ConnectorID       string            `json:"connector_id,omitempty"`
	TunnelID          string            `json:"tunnel_id,omitempty"`
	ServerDescription string            `json:"server_description,omitempty"`
	Authorization     Secret            `json:"authorization,omitempty"`
	Headers           map[string]Secret `json:"headers,omitempty" rt:"null"`
	AllowedTools      Raw               `json:"allowed_tools,omitempty" rt:"null"`
	AllowedCallers    Raw               `json:"allowed_callers,omitempty" rt:"null"`
	RequireApproval   Raw               `json:"require_approval,omitempty" rt:"null"`
	DeferLoading      *bool             `json:"defer_loading,omitempty" rt:"null"`
}

// UnmarshalJSON reads a session and turns null in a clearable field that is no Nullable into the field's empty form.
func (s *Session) UnmarshalJSON(b []byte) error {
	type plain Session
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	var nulls struct {
		Instructions     Raw `json:"instructions"`
		OutputModalities Raw `json:"output_modalities"`
		Tools            Raw `json:"tools"`
		Include          Raw `json:"include"`
	}
	if err := json.Unmarshal(b, &nulls); err != nil {
		return err
	}
	if isNull(nulls.Instructions) {
		s.Instructions = new(string)
	}
	if isNull(nulls.OutputModalities) {
		s.OutputModalities = []string{}
	}
	if isNull(nulls.Tools) {
		s.Tools = []Tool{}
	}
	if isNull(nulls.Include) {
		s.Include = []string{}
	}
	return nil
}

func isNull(b Raw) bool { return string(b) == "null" }
