package realtime

// Item types.
const (
	ItemMessage             = "message"
	ItemFunctionCall        = "function_call"
	ItemFunctionCallOutput  = "function_call_output"
	ItemMcpListTools        = "mcp_list_tools"
	ItemMcpCall             = "mcp_call"
	ItemMcpApprovalRequest  = "mcp_approval_request"
	ItemMcpApprovalResponse = "mcp_approval_response"
	ItemReference           = "item_reference"
)

// Roles of a message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Statuses of an item; a response has two more.
const (
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusIncomplete = "incomplete"
)

// Content types. Parts of a response use the two unprefixed ones.
const (
	ContentInputText   = "input_text"
	ContentInputAudio  = "input_audio"
	ContentInputImage  = "input_image"
	ContentOutputText  = "output_text"
	ContentOutputAudio = "output_audio"
	PartText           = "text"
	PartAudio          = "audio"
)

// Item is one entry of a conversation. Which fields count depends on Type; Encode writes the fields of that type, also
// when they are empty, and no others.
type Item struct {
	ID     string `json:"id,omitempty" rt:"maxlen=64"`
	Object string `json:"object,omitempty"`
	Type   string `json:"type" rt:"req,enum=message|function_call|function_call_output|mcp_list_tools|mcp_call|mcp_tool_call|mcp_approval_request|mcp_approval_response|item_reference"`
	Status string `json:"status,omitempty" rt:"enum=completed|incomplete|in_progress"`

	Role    string    `json:"role,omitempty" rt:"enum=user|assistant|system"` // message
	Content []Content `json:"content,omitempty" rt:"null"`                    // message

	CallID    string  `json:"call_id,omitempty" rt:"maxlen=64"` // function_call, function_call_output
	Name      string  `json:"name,omitempty"`                   // function_call, mcp_call, mcp_approval_request
	Arguments string  `json:"arguments,omitempty"`              // JSON text; function_call, mcp_call, mcp_approval_request
	Output    *string `json:"output,omitempty" rt:"null"`       // function_call_output; mcp_call, where null is "not yet"

	ServerLabel       string    `json:"server_label,omitempty"`                  // mcp_*
	Tools             []McpTool `json:"tools,omitempty" rt:"null"`               // mcp_list_tools
	ApprovalRequestID string    `json:"approval_request_id,omitempty" rt:"null"` // mcp_call, mcp_approval_response
	Approve           bool      `json:"approve,omitempty"`                       // mcp_approval_response
	Reason            string    `json:"reason,omitempty" rt:"null"`              // mcp_approval_response
	Error             Raw       `json:"error,omitempty" rt:"null"`               // mcp_call
}

// Content is one piece of a message.
type Content struct {
	Type       string  `json:"type" rt:"req,enum=input_text|input_audio|input_image|output_text|output_audio|text|audio|item_reference"`
	ID         string  `json:"id,omitempty"`
	Text       string  `json:"text,omitempty" rt:"null"`
	Audio      string  `json:"audio,omitempty" rt:"null"` // base64
	Transcript *string `json:"transcript,omitempty" rt:"null"`
	ImageURL   string  `json:"image_url,omitempty"`
	Detail     string  `json:"detail,omitempty" rt:"enum=auto|low|high"`

	nullTranscript bool // write "transcript": null when there is none; set by Encode for clients
}

// Part is one piece of a response's item; Type is "text" or "audio", and these names are the same in beta and GA.
type Part struct {
	Type       string `json:"type" rt:"req,enum=text|audio"`
	Text       string `json:"text,omitempty" rt:"null"`
	Audio      string `json:"audio,omitempty" rt:"null"`
	Transcript string `json:"transcript,omitempty" rt:"null"`
}

// McpTool is one tool of an MCP server, as the provider lists it.
type McpTool struct {
	Name        string `json:"name" rt:"req"`
	Description string `json:"description" rt:"null,emit"`
	InputSchema Raw    `json:"input_schema,omitempty" rt:"object"`
	Annotations Raw    `json:"annotations,omitempty" rt:"null"`
}

// TextOf is all the words of the item in order: texts and transcripts.
func (i *Item) TextOf() string {
	var s string
	for _, c := range i.Content {
		t := c.Text
		if t == "" && c.Transcript != nil {
			t = *c.Transcript
		}
		if s != "" && t != "" {
			s += " "
		}
		s += t
	}
	return s
}

// UserText is a typed message of the person.
func UserText(text string) Item {
	return Item{Type: ItemMessage, Role: RoleUser, Content: []Content{{Type: ContentInputText, Text: text}}}
}

// SystemText is a system message.
func SystemText(text string) Item {
	return Item{Type: ItemMessage, Role: RoleSystem, Content: []Content{{Type: ContentInputText, Text: text}}}
}

// AssistantText is a written message of the assistant.
func AssistantText(text string) Item {
	return Item{Type: ItemMessage, Role: RoleAssistant, Content: []Content{{Type: ContentOutputText, Text: text}}}
}

// FunctionCallOutput is the result of the tool call callID.
func FunctionCallOutput(callID, output string) Item {
	return Item{Type: ItemFunctionCallOutput, CallID: callID, Output: &output}
}
