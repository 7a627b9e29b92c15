package realtime

// itemWire is an item as it is written: a pointer for what only some types have.
type itemWire struct {
	ID                string     `json:"id,omitempty"`
	Object            string     `json:"object,omitempty"`
	Type              string     `json:"type"`
	Status            string     `json:"status,omitempty"`
	Role              string     `json:"role,omitempty"`
	Content           *[]Content `json:"content,omitempty"`
	CallID            string     `json:"call_id,omitempty"`
	ServerLabel       string     `json:"server_label,omitempty"`
	Name              *string    `json:"name,omitempty"`
	Arguments         *string    `json:"arguments,omitempty"`
	Output            Raw        `json:"output,omitempty"`
	Tools             *[]McpTool `json:"tools,omitempty"`
	ApprovalRequestID string     `json:"approval_request_id,omitempty"`
	Approve           *bool      `json:"approve,omitempty"`
	Reason            string     `json:"reason,omitempty"`
	Error             Raw        `json:"error,omitempty"`
}

// MarshalJSON writes the fields of the item's type, also when they are empty, and no others.
func (i Item) MarshalJSON() ([]byte, error) {
	w := itemWire{ID: i.ID, Object: i.Object, Type: i.Type, Status: i.Status}
	switch i.Type {
	case ItemMessage:
		content := i.Content
		if content == nil {
			content = []Content{}
		}
		w.Role, w.Content = i.Role, &content
	case ItemFunctionCall:
		w.CallID, w.Name, w.Arguments = i.CallID, &i.Name, &i.Arguments
	case ItemFunctionCallOutput:
		w.CallID = i.CallID
		out, err := marshal(deref(i.Output))
		if err != nil {
			return nil, err
		}
		w.Output = out
	case ItemMcpListTools:
		tools := i.Tools
		if tools == nil {
			tools = []McpTool{}
		}
		w.ServerLabel, w.Tools = i.ServerLabel, &tools
	case ItemMcpCall, "mcp_tool_call":
		out, err := marshal(i.Output) // null until there is one
		if err != nil {
			return nil, err
		}
		w.ServerLabel, w.Name, w.Arguments, w.Output = i.ServerLabel, &i.Name, &i.Arguments, out
		w.ApprovalRequestID, w.Error = i.ApprovalRequestID, i.Error
	case ItemMcpApprovalRequest:
		w.ServerLabel, w.Name, w.Arguments = i.ServerLabel, &i.Name, &i.Arguments
	case ItemMcpApprovalResponse:
		w.ApprovalRequestID, w.Approve, w.Reason = i.ApprovalRequestID, &i.Approve, i.Reason
	}
	return marshal(w)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// contentWire is a content part as it is written.
type contentWire struct {
	Type       string  `json:"type"`
	ID         string  `json:"id,omitempty"`
	Text       *string `json:"text,omitempty"`
	Audio      string  `json:"audio,omitempty"`
	Transcript Raw     `json:"transcript,omitempty"`
	ImageURL   string  `json:"image_url,omitempty"`
	Detail     string  `json:"detail,omitempty"`
}

// MarshalJSON writes the text of a text part also when it is empty.
func (c Content) MarshalJSON() ([]byte, error) {
	w := contentWire{Type: c.Type, ID: c.ID, Audio: c.Audio, ImageURL: c.ImageURL, Detail: c.Detail}
	switch c.Type {
	case ContentInputText, ContentOutputText, PartText:
		w.Text = &c.Text
	default:
		if c.Transcript != nil || c.nullTranscript {
			t, err := marshal(c.Transcript)
			if err != nil {
				return nil, err
			}
			w.Transcript = t
		}
	}
	return marshal(w)
}

// MarshalJSON writes the text of a text part, or the transcript of an audio part, also when it is empty; never null.
func (p Part) MarshalJSON() ([]byte, error) {
	w := struct {
		Type       string  `json:"type"`
		Text       *string `json:"text,omitempty"`
		Audio      string  `json:"audio,omitempty"`
		Transcript *string `json:"transcript,omitempty"`
	}{Type: p.Type, Audio: p.Audio}
	if p.Type == PartText {
		w.Text = &p.Text
	} else {
		w.Transcript = &p.Transcript
	}
	return marshal(w)
}

// MarshalJSON writes all the token fields of a token count: clients drop the transcript without them.
func (u TranscriptionUsage) MarshalJSON() ([]byte, error) {
	if u.Type == "duration" {
		return marshal(struct {
			Type    string  `json:"type"`
			Seconds float64 `json:"seconds"`
		}{u.Type, u.Seconds})
	}
	details := TranscriptionInputUsage{}
	if u.InputTokenDetails != nil {
		details = *u.InputTokenDetails
	}
	return marshal(struct {
		Type              string                  `json:"type"`
		TotalTokens       int64                   `json:"total_tokens"`
		InputTokens       int64                   `json:"input_tokens"`
		OutputTokens      int64                   `json:"output_tokens"`
		InputTokenDetails TranscriptionInputUsage `json:"input_token_details"`
	}{u.Type, u.TotalTokens, u.InputTokens, u.OutputTokens, details})
}
