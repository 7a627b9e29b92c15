package realtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
)

// Raw is JSON that this package checks for form but does not read. The zero value is absent.
type Raw = json.RawMessage

// Nullable is a field where absent, null and a value are three different things: absent keeps what is, null clears it.
// The zero value is absent and is left out by Encode.
type Nullable[T any] struct {
	Set   bool // present on the wire
	Value *T   // nil with Set: null
}

// Some is a Nullable that holds v.
func Some[T any](v T) Nullable[T] { return Nullable[T]{Set: true, Value: &v} }

// Null is a Nullable that is null on the wire.
func Null[T any]() Nullable[T] { return Nullable[T]{Set: true} }

// IsZero reports whether the field is absent.
func (n Nullable[T]) IsZero() bool { return !n.Set }

// MarshalJSON writes null or the value.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.Value == nil {
		return []byte("null"), nil
	}
	return marshal(n.Value)
}

// UnmarshalJSON reads null or the value.
func (n *Nullable[T]) UnmarshalJSON(b []byte) error {
	n.Set, n.Value = true, nil
	if string(b) == "null" {
		return nil
	}
	n.Value = new(T)
	return json.Unmarshal(b, n.Value)
}

// Secret is a credential that a protocol message has to carry, such as an MCP server's authorization. It marshals as it
// is, because the far side needs it, and prints as its length everywhere else.
type Secret string

func (s Secret) String() string { return fmt.Sprintf("[%d bytes]", len(s)) }

// GoString keeps %#v from printing the value.
func (s Secret) GoString() string { return s.String() }

// LogValue keeps slog from printing the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MaxTokens is a count of tokens, or InfTokens. Zero is absent.
type MaxTokens int

// InfTokens is "inf" on the wire.
const InfTokens MaxTokens = -1

// MarshalJSON writes a number or "inf".
func (m MaxTokens) MarshalJSON() ([]byte, error) {
	if m < 0 {
		return []byte(`"inf"`), nil
	}
	return strconv.AppendInt(nil, int64(m), 10), nil
}

// UnmarshalJSON reads a number or "inf"; null clears, which is "inf".
func (m *MaxTokens) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"inf"`, "null":
		*m = InfTokens
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 32)
	if err != nil || n < 1 {
		return &Error{Status: 400, Type: TypeInvalidRequest, Code: CodeInvalidValue, Message: `expected a positive integer or "inf"`}
	}
	*m = MaxTokens(n)
	return nil
}

// Voice names a voice. An id of a custom voice ("voice_…") travels as {"id": …} in a session, everything else as a string.
type Voice string

const customVoicePrefix = "voice_"

// MarshalJSON writes a string, or {"id":…} for a custom voice.
func (v Voice) MarshalJSON() ([]byte, error) {
	if len(v) > len(customVoicePrefix) && v[:len(customVoicePrefix)] == customVoicePrefix {
		return json.Marshal(map[string]string{"id": string(v)})
	}
	return marshal(string(v))
}

// UnmarshalJSON reads a string or {"id":…}; null is the empty voice.
func (v *Voice) UnmarshalJSON(b []byte) error {
	s, err := stringOrID(b)
	*v = Voice(s)
	return err
}

// VoiceName is a voice where clients accept nothing but a string: in a response.
type VoiceName string

// UnmarshalJSON reads a string or {"id":…}.
func (v *VoiceName) UnmarshalJSON(b []byte) error {
	s, err := stringOrID(b)
	*v = VoiceName(s)
	return err
}

func stringOrID(b []byte) (string, error) {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '{' {
		var o struct {
			ID string `json:"id"`
		}
		err := json.Unmarshal(b, &o)
		return o.ID, err
	}
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return "", err
	}
	return *s, nil
}

// ToolChoice is a mode (auto, none, required) or one named tool: Type "function" with Name, or "mcp" with ServerLabel.
type ToolChoice struct {
	Mode        string // "auto", "none", "required"; empty when a tool is named
	Type        string
	Name        string
	ServerLabel string
}

type toolChoiceObject struct {
	Type        string `json:"type"`
	Name        string `json:"name,omitempty"`
	ServerLabel string `json:"server_label,omitempty"`
}

// MarshalJSON writes the mode as a string, or the named tool as an object.
func (c ToolChoice) MarshalJSON() ([]byte, error) {
	if c.Type == "" {
		mode := c.Mode
		if mode == "" {
			mode = "auto"
		}
		return json.Marshal(mode)
	}
	return json.Marshal(toolChoiceObject{c.Type, c.Name, c.ServerLabel})
}

// UnmarshalJSON reads either form.
func (c *ToolChoice) UnmarshalJSON(b []byte) error {
	*c = ToolChoice{}
	if len(b) > 0 && b[0] == '{' {
		var o toolChoiceObject
		err := json.Unmarshal(b, &o)
		c.Type, c.Name, c.ServerLabel = o.Type, o.Name, o.ServerLabel
		return err
	}
	return json.Unmarshal(b, &c.Mode)
}

// Tracing is "auto" or a named workflow.
type Tracing struct {
	Auto         bool
	WorkflowName string
	GroupID      string
	Metadata     Raw
}

type tracingObject struct {
	WorkflowName string `json:"workflow_name,omitempty"`
	GroupID      string `json:"group_id,omitempty"`
	Metadata     Raw    `json:"metadata,omitempty"`
}

// MarshalJSON writes "auto" or an object.
func (t Tracing) MarshalJSON() ([]byte, error) {
	if t.Auto {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(tracingObject{t.WorkflowName, t.GroupID, t.Metadata})
}

// UnmarshalJSON reads either form.
func (t *Tracing) UnmarshalJSON(b []byte) error {
	*t = Tracing{}
	if len(b) > 0 && b[0] == '"' {
		t.Auto = true
		return nil
	}
	var o tracingObject
	err := json.Unmarshal(b, &o)
	t.WorkflowName, t.GroupID, t.Metadata = o.WorkflowName, o.GroupID, o.Metadata
	return err
}

// Truncation is how a provider shortens a conversation that grows too long: "auto", "disabled" or a ratio.
type Truncation struct {
	Mode             string  // "auto", "disabled"; empty with a ratio
	RetentionRatio   float64 // 0..1
	PostInstructions int     // token limit after the instructions; 0 = none
}

type truncationObject struct {
	Type           string  `json:"type"`
	RetentionRatio float64 `json:"retention_ratio"`
	TokenLimits    *struct {
		PostInstructions int `json:"post_instructions,omitempty"`
	} `json:"token_limits,omitempty"`
}

// MarshalJSON writes the mode as a string, or the ratio as an object.
func (t Truncation) MarshalJSON() ([]byte, error) {
	if t.Mode != "" {
		return json.Marshal(t.Mode)
	}
	o := truncationObject{Type: "retention_ratio", RetentionRatio: t.RetentionRatio}
	if t.PostInstructions > 0 {
		o.TokenLimits = &struct {
			PostInstructions int `json:"post_instructions,omitempty"`
		}{t.PostInstructions}
	}
	return json.Marshal(o)
}

// UnmarshalJSON reads either form; null is "auto".
func (t *Truncation) UnmarshalJSON(b []byte) error {
	*t = Truncation{}
	if len(b) > 0 && b[0] == '{' {
		var o truncationObject
		err := json.Unmarshal(b, &o)
		t.RetentionRatio = o.RetentionRatio
		if o.TokenLimits != nil {
			t.PostInstructions = o.TokenLimits.PostInstructions
		}
		return err
	}
	if string(b) == "null" {
		t.Mode = "auto"
		return nil
	}
	return json.Unmarshal(b, &t.Mode)
}
