package realtime

// The server events of the GA union. EventID is filled in by Encode when it is empty. In fields that refer to another item,
// nil means that there is none.

// SessionCreated is the first event of a call.
type SessionCreated struct {
	EventID string  `json:"event_id" rt:"emit"`
	Session Session `json:"session" rt:"req"`
}

// SessionUpdated carries the whole effective session, every default filled in.
type SessionUpdated struct {
	EventID string  `json:"event_id" rt:"emit"`
	Session Session `json:"session" rt:"req"`
}

// ErrorEvent reports that something failed; the session stays. Error.EventID names the client event at fault.
type ErrorEvent struct {
	EventID string `json:"event_id" rt:"emit"`
	Error   *Error `json:"error" rt:"req"`
}

// ConversationCreated announces the conversation; not every model sends it.
type ConversationCreated struct {
	EventID      string       `json:"event_id" rt:"emit"`
	Conversation Conversation `json:"conversation" rt:"req"`
}

// ConversationItemAdded says that an item exists; it may be empty and in progress.
type ConversationItemAdded struct {
	EventID        string  `json:"event_id" rt:"emit"`
	PreviousItemID *string `json:"previous_item_id" rt:"null,emit"`
	Item           Item    `json:"item" rt:"req"`
}

// ConversationItemDone says that an item is final.
type ConversationItemDone struct {
	EventID        string  `json:"event_id" rt:"emit"`
	PreviousItemID *string `json:"previous_item_id" rt:"null,emit"`
	Item           Item    `json:"item" rt:"req"`
}

// ConversationItemCreated is the beta name, still in the GA union.
type ConversationItemCreated struct {
	EventID        string  `json:"event_id" rt:"emit"`
	PreviousItemID *string `json:"previous_item_id" rt:"null,emit"`
	Item           Item    `json:"item" rt:"req"`
}

// ConversationItemRetrieved answers ConversationItemRetrieve.
type ConversationItemRetrieved struct {
	EventID string `json:"event_id" rt:"emit"`
	Item    Item   `json:"item" rt:"req"`
}

// ConversationItemDeleted confirms ConversationItemDelete.
type ConversationItemDeleted struct {
	EventID string `json:"event_id" rt:"emit"`
	ItemID  string `json:"item_id" rt:"id"`
}

// ConversationItemTruncated says that the item's audio ends at AudioEndMS.
type ConversationItemTruncated struct {
	EventID      string `json:"event_id" rt:"emit"`
	ItemID       string `json:"item_id" rt:"id"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
	AudioEndMS   int    `json:"audio_end_ms" rt:"req,min=0"`
}

// ConversationItemInputAudioTranscriptionDelta is a piece of what the person said; independent of the response.
type ConversationItemInputAudioTranscriptionDelta struct {
	EventID      string    `json:"event_id" rt:"emit"`
	ItemID       string    `json:"item_id" rt:"id"`
	ContentIndex int       `json:"content_index" rt:"min=0"`
	Delta        string    `json:"delta"`
	LogProbs     []LogProb `json:"logprobs,omitempty" rt:"null"`
}

// ConversationItemInputAudioTranscriptionCompleted is the final text of what the person said.
type ConversationItemInputAudioTranscriptionCompleted struct {
	EventID      string              `json:"event_id" rt:"emit"`
	ItemID       string              `json:"item_id" rt:"id"`
	ContentIndex int                 `json:"content_index" rt:"min=0"`
	Transcript   string              `json:"transcript" rt:"req"`
	Languages    Raw                 `json:"languages,omitempty" rt:"null"`
	LogProbs     []LogProb           `json:"logprobs,omitempty" rt:"null"`
	Usage        *TranscriptionUsage `json:"usage,omitempty" rt:"null"`
}

// ConversationItemInputAudioTranscriptionSegment is one speaker's stretch of a diarised transcript; Start and End in seconds.
type ConversationItemInputAudioTranscriptionSegment struct {
	EventID      string  `json:"event_id" rt:"emit"`
	ItemID       string  `json:"item_id" rt:"id"`
	ContentIndex int     `json:"content_index" rt:"min=0"`
	ID           string  `json:"id"`
	Text         string  `json:"text"`
	Speaker      string  `json:"speaker"`
	Start        float64 `json:"start"`
	End          float64 `json:"end"`
}

// ConversationItemInputAudioTranscriptionFailed says that an item could not be transcribed.
type ConversationItemInputAudioTranscriptionFailed struct {
	EventID      string             `json:"event_id" rt:"emit"`
	ItemID       string             `json:"item_id" rt:"id"`
	ContentIndex int                `json:"content_index" rt:"min=0"`
	Error        TranscriptionError `json:"error" rt:"req"`
}

// InputAudioBufferCommitted names the user item that will hold the committed audio.
type InputAudioBufferCommitted struct {
	EventID        string  `json:"event_id" rt:"emit"`
	PreviousItemID *string `json:"previous_item_id" rt:"null,emit"`
	ItemID         string  `json:"item_id" rt:"id"`
}

// InputAudioBufferCleared confirms InputAudioBufferClear.
type InputAudioBufferCleared struct {
	EventID string `json:"event_id" rt:"emit"`
}

// InputAudioBufferSpeechStarted says that the person began to speak, at AudioStartMS since the start of the session's audio.
type InputAudioBufferSpeechStarted struct {
	EventID      string `json:"event_id" rt:"emit"`
	AudioStartMS int    `json:"audio_start_ms" rt:"req"`
	ItemID       string `json:"item_id" rt:"id"`
}

// InputAudioBufferSpeechStopped says that the person fell silent, at AudioEndMS since the start of the session's audio.
type InputAudioBufferSpeechStopped struct {
	EventID    string `json:"event_id" rt:"emit"`
	AudioEndMS int    `json:"audio_end_ms" rt:"req"`
	ItemID     string `json:"item_id" rt:"id"`
}

// InputAudioBufferTimeoutTriggered says that nobody spoke for idle_timeout_ms; a commit and a response follow.
type InputAudioBufferTimeoutTriggered struct {
	EventID      string `json:"event_id" rt:"emit"`
	AudioStartMS int    `json:"audio_start_ms"`
	AudioEndMS   int    `json:"audio_end_ms"`
	ItemID       string `json:"item_id" rt:"id"`
}

// InputAudioBufferDtmfEventReceived is a telephone key; ReceivedAt in unix seconds. It has no event_id in the published types.
type InputAudioBufferDtmfEventReceived struct {
	EventID    string `json:"event_id,omitempty"`
	Event      string `json:"event" rt:"req"`
	ReceivedAt int64  `json:"received_at"`
}

// OutputAudioBufferStarted says that the assistant's audio starts to flow. WebRTC only.
type OutputAudioBufferStarted struct {
	EventID    string `json:"event_id" rt:"emit"`
	ResponseID string `json:"response_id"`
}

// OutputAudioBufferStopped says that the assistant's audio has drained; it follows ResponseDone. WebRTC only.
type OutputAudioBufferStopped struct {
	EventID    string `json:"event_id" rt:"emit"`
	ResponseID string `json:"response_id"`
}

// OutputAudioBufferCleared says that the assistant's audio was cut. WebRTC only.
type OutputAudioBufferCleared struct {
	EventID    string `json:"event_id" rt:"emit"`
	ResponseID string `json:"response_id"`
}

// ResponseCreated opens a response.
type ResponseCreated struct {
	EventID  string   `json:"event_id" rt:"emit"`
	Response Response `json:"response" rt:"req"`
}

// ResponseDone ends a response, whatever its status; its audio may still be playing.
type ResponseDone struct {
	EventID  string   `json:"event_id" rt:"emit"`
	Response Response `json:"response" rt:"req"`
}

// ResponseOutputItemAdded opens an item of a response.
type ResponseOutputItemAdded struct {
	EventID     string `json:"event_id" rt:"emit"`
	ResponseID  string `json:"response_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
	Item        Item   `json:"item" rt:"req"`
}

// ResponseOutputItemDone closes an item of a response; a completed function_call is run by clients on this event.
type ResponseOutputItemDone struct {
	EventID     string `json:"event_id" rt:"emit"`
	ResponseID  string `json:"response_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
	Item        Item   `json:"item" rt:"req"`
}

// ResponseContentPartAdded opens a part of an item.
type ResponseContentPartAdded struct {
	EventID      string `json:"event_id" rt:"emit"`
	ResponseID   string `json:"response_id" rt:"id"`
	ItemID       string `json:"item_id" rt:"id"`
	OutputIndex  int    `json:"output_index" rt:"min=0"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
	Part         Part   `json:"part" rt:"req"`
}

// ResponseContentPartDone closes a part of an item.
type ResponseContentPartDone struct {
	EventID      string `json:"event_id" rt:"emit"`
	ResponseID   string `json:"response_id" rt:"id"`
	ItemID       string `json:"item_id" rt:"id"`
	OutputIndex  int    `json:"output_index" rt:"min=0"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
	Part         Part   `json:"part" rt:"req"`
}

// ResponseOutputTextDelta is a piece of written answer.
type ResponseOutputTextDelta struct {
	EventID      string `json:"event_id" rt:"emit"`
	ResponseID   string `json:"response_id" rt:"id"`
	ItemID       string `json:"item_id" rt:"id"`
	OutputIndex  int    `json:"output_index" rt:"min=0"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
	Delta        string `json:"delta" rt:"req"`
}

// ResponseOutputTextDone is the whole written answer.
type ResponseOutputTextDone struct {
	EventID      string `json:"event_id" rt:"emit"`
	ResponseID   string `json:"response_id" rt:"id"`
	ItemID       string `json:"item_id" rt:"id"`
	OutputIndex  int    `json:"output_index" rt:"min=0"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
	Text         string `json:"text" rt:"req"`
}

// ResponseOutputAudioDelta is a piece of base64 audio; over WebRTC audio is on the track instead.
type ResponseOutputAudioDelta struct {
	EventID      string `json:"event_id" rt:"emit"`
	ResponseID   string `json:"response_id" rt:"id"`
	ItemID       string `json:"item_id" rt:"id"`
	OutputIndex  int    `json:"output_index" rt:"min=0"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
	Delta        string `json:"delta" rt:"req"`
}

// ResponseOutputAudioDone says that the item's audio is complete; sent on both transports.
type ResponseOutputAudioDone struct {
	EventID      string `json:"event_id" rt:"emit"`
	ResponseID   string `json:"response_id" rt:"id"`
	ItemID       string `json:"item_id" rt:"id"`
	OutputIndex  int    `json:"output_index" rt:"min=0"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
}

// ResponseOutputAudioTranscriptDelta is a piece of what the assistant says; it runs ahead of what is heard.
type ResponseOutputAudioTranscriptDelta struct {
	EventID      string `json:"event_id" rt:"emit"`
	ResponseID   string `json:"response_id" rt:"id"`
	ItemID       string `json:"item_id" rt:"id"`
	OutputIndex  int    `json:"output_index" rt:"min=0"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
	Delta        string `json:"delta" rt:"req"`
}

// ResponseOutputAudioTranscriptDone is all that the assistant says in this part.
type ResponseOutputAudioTranscriptDone struct {
	EventID      string `json:"event_id" rt:"emit"`
	ResponseID   string `json:"response_id" rt:"id"`
	ItemID       string `json:"item_id" rt:"id"`
	OutputIndex  int    `json:"output_index" rt:"min=0"`
	ContentIndex int    `json:"content_index" rt:"min=0"`
	Transcript   string `json:"transcript" rt:"req"`
}

// ResponseFunctionCallArgumentsDelta is a piece of a tool call's arguments.
type ResponseFunctionCallArgumentsDelta struct {
	EventID     string `json:"event_id" rt:"emit"`
	ResponseID  string `json:"response_id" rt:"id"`
	ItemID      string `json:"item_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
	CallID      string `json:"call_id" rt:"id"`
	Delta       string `json:"delta" rt:"req"`
}

// ResponseFunctionCallArgumentsDone is a tool call's whole arguments, a JSON text.
type ResponseFunctionCallArgumentsDone struct {
	EventID     string `json:"event_id" rt:"emit"`
	ResponseID  string `json:"response_id" rt:"id"`
	ItemID      string `json:"item_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
	CallID      string `json:"call_id" rt:"id"`
	Name        string `json:"name,omitempty"`
	Arguments   string `json:"arguments" rt:"req"`
}

// ResponseMcpCallArgumentsDelta is a piece of an MCP call's arguments. Obfuscation is always sent because clients insist on the key.
type ResponseMcpCallArgumentsDelta struct {
	EventID     string `json:"event_id" rt:"emit"`
	ResponseID  string `json:"response_id" rt:"id"`
	ItemID      string `json:"item_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
	Delta       string `json:"delta" rt:"req"`
	Obfuscation string `json:"obfuscation" rt:"emit"`
}

// ResponseMcpCallArgumentsDone is an MCP call's whole arguments, a JSON text.
type ResponseMcpCallArgumentsDone struct {
	EventID     string `json:"event_id" rt:"emit"`
	ResponseID  string `json:"response_id" rt:"id"`
	ItemID      string `json:"item_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
	Arguments   string `json:"arguments" rt:"req"`
}

// ResponseMcpCallInProgress says that the provider runs an MCP call.
type ResponseMcpCallInProgress struct {
	EventID     string `json:"event_id" rt:"emit"`
	ItemID      string `json:"item_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
}

// ResponseMcpCallCompleted says that an MCP call succeeded.
type ResponseMcpCallCompleted struct {
	EventID     string `json:"event_id" rt:"emit"`
	ItemID      string `json:"item_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
}

// ResponseMcpCallFailed says that an MCP call failed.
type ResponseMcpCallFailed struct {
	EventID     string `json:"event_id" rt:"emit"`
	ItemID      string `json:"item_id" rt:"id"`
	OutputIndex int    `json:"output_index" rt:"min=0"`
}

// McpListToolsInProgress says that an MCP server is being asked for its tools.
type McpListToolsInProgress struct {
	EventID string `json:"event_id" rt:"emit"`
	ItemID  string `json:"item_id" rt:"id"`
}

// McpListToolsCompleted says that the list has arrived.
type McpListToolsCompleted struct {
	EventID string `json:"event_id" rt:"emit"`
	ItemID  string `json:"item_id" rt:"id"`
}

// McpListToolsFailed says that the list could not be had.
type McpListToolsFailed struct {
	EventID string `json:"event_id" rt:"emit"`
	ItemID  string `json:"item_id" rt:"id"`
}

// RateLimitsUpdated comes at the start of a response and includes its reservation.
type RateLimitsUpdated struct {
	EventID    string      `json:"event_id" rt:"emit"`
	RateLimits []RateLimit `json:"rate_limits" rt:"req"`
}

func (*SessionCreated) EventType() string            { return "session.created" }
func (*SessionUpdated) EventType() string            { return "session.updated" }
func (*ErrorEvent) EventType() string                { return "error" }
func (*ConversationCreated) EventType() string       { return "conversation.created" }
func (*ConversationItemAdded) EventType() string     { return "conversation.item.added" }
func (*ConversationItemDone) EventType() string      { return "conversation.item.done" }
func (*ConversationItemCreated) EventType() string   { return "conversation.item.created" }
func (*ConversationItemRetrieved) EventType() string { return "conversation.item.retrieved" }
func (*ConversationItemDeleted) EventType() string   { return "conversation.item.deleted" }
func (*ConversationItemTruncated) EventType() string { return "conversation.item.truncated" }
func (*ConversationItemInputAudioTranscriptionDelta) EventType() string {
	return "conversation.item.input_audio_transcription.delta"
}
func (*ConversationItemInputAudioTranscriptionCompleted) EventType() string {
	return "conversation.item.input_audio_transcription.completed"
}
func (*ConversationItemInputAudioTranscriptionSegment) EventType() string {
	return "conversation.item.input_audio_transcription.segment"
}
func (*ConversationItemInputAudioTranscriptionFailed) EventType() string {
	return "conversation.item.input_audio_transcription.failed"
}
func (*InputAudioBufferCommitted) EventType() string     { return "input_audio_buffer.committed" }
func (*InputAudioBufferCleared) EventType() string       { return "input_audio_buffer.cleared" }
func (*InputAudioBufferSpeechStarted) EventType() string { return "input_audio_buffer.speech_started" }
func (*InputAudioBufferSpeechStopped) EventType() string { return "input_audio_buffer.speech_stopped" }
func (*InputAudioBufferTimeoutTriggered) EventType() string {
	return "input_audio_buffer.timeout_triggered"
}
func (*InputAudioBufferDtmfEventReceived) EventType() string {
	return "input_audio_buffer.dtmf_event_received"
}
func (*OutputAudioBufferStarted) EventType() string { return "output_audio_buffer.started" }
func (*OutputAudioBufferStopped) EventType() string { return "output_audio_buffer.stopped" }
func (*OutputAudioBufferCleared) EventType() string { return "output_audio_buffer.cleared" }
func (*ResponseCreated) EventType() string          { return "response.created" }
func (*ResponseDone) EventType() string             { return "response.done" }
func (*ResponseOutputItemAdded) EventType() string  { return "response.output_item.added" }
func (*ResponseOutputItemDone) EventType() string   { return "response.output_item.done" }
func (*ResponseContentPartAdded) EventType() string { return "response.content_part.added" }
func (*ResponseContentPartDone) EventType() string  { return "response.content_part.done" }
func (*ResponseOutputTextDelta) EventType() string  { return "response.output_text.delta" }
func (*ResponseOutputTextDone) EventType() string   { return "response.output_text.done" }
func (*ResponseOutputAudioDelta) EventType() string { return "response.output_audio.delta" }
func (*ResponseOutputAudioDone) EventType() string  { return "response.output_audio.done" }
func (*ResponseOutputAudioTranscriptDelta) EventType() string {
	return "response.output_audio_transcript.delta"
}
func (*ResponseOutputAudioTranscriptDone) EventType() string {
	return "response.output_audio_transcript.done"
}
func (*ResponseFunctionCallArgumentsDelta) EventType() string {
	return "response.function_call_arguments.delta"
}
func (*ResponseFunctionCallArgumentsDone) EventType() string {
	return "response.function_call_arguments.done"
}
func (*ResponseMcpCallArgumentsDelta) EventType() string { return "response.mcp_call_arguments.delta" }
func (*ResponseMcpCallArgumentsDone) EventType() string  { return "response.mcp_call_arguments.done" }
func (*ResponseMcpCallInProgress) EventType() string     { return "response.mcp_call.in_progress" }
func (*ResponseMcpCallCompleted) EventType() string      { return "response.mcp_call.completed" }
func (*ResponseMcpCallFailed) EventType() string         { return "response.mcp_call.failed" }
func (*McpListToolsInProgress) EventType() string        { return "mcp_list_tools.in_progress" }
func (*McpListToolsCompleted) EventType() string         { return "mcp_list_tools.completed" }
func (*McpListToolsFailed) EventType() string            { return "mcp_list_tools.failed" }
func (*RateLimitsUpdated) EventType() string             { return "rate_limits.updated" }

// Conversation is the body of ConversationCreated.
type Conversation struct {
	ID     string `json:"id,omitempty"`
	Object string `json:"object,omitempty" rt:"enum=realtime.conversation"`
}

// TranscriptionError is the body of ConversationItemInputAudioTranscriptionFailed.
type TranscriptionError struct {
	Type    string `json:"type,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Param   string `json:"param,omitempty"`
}

// RateLimit is one budget; Name is "requests" or "tokens".
type RateLimit struct {
	Name         string  `json:"name,omitempty" rt:"enum=requests|tokens"`
	Limit        int64   `json:"limit"`
	Remaining    int64   `json:"remaining"`
	ResetSeconds float64 `json:"reset_seconds"`
}
