package realtime

// The eleven client events of the GA protocol, the beta one that still has a type, and ours. EventID is the client's own
// and optional; it comes back in Error.EventID when that event fails.

// SessionUpdate merges Session into the effective session; see Session.Merge.
type SessionUpdate struct {
	EventID string  `json:"event_id,omitempty" rt:"maxlen=512"`
	Session Session `json:"session" rt:"req"`
}

// InputAudioBufferAppend carries base64 audio; only meaningful over WebSocket.
type InputAudioBufferAppend struct {
	EventID string `json:"event_id,omitempty" rt:"maxlen=512"`
	Audio   string `json:"audio" rt:"req"`
}

// InputAudioBufferCommit ends the person's turn. It does not start a response.
type InputAudioBufferCommit struct {
	EventID string `json:"event_id,omitempty" rt:"maxlen=512"`
}

// InputAudioBufferClear drops what was said since the last commit.
type InputAudioBufferClear struct {
	EventID string `json:"event_id,omitempty" rt:"maxlen=512"`
}

// OutputAudioBufferClear silences the assistant at once; harmless when nothing plays. WebRTC only.
type OutputAudioBufferClear struct {
	EventID string `json:"event_id,omitempty" rt:"maxlen=512"`
}

// ConversationItemCreate adds an item. PreviousItemID: absent appends, "root" puts it first.
type ConversationItemCreate struct {
	EventID        string  `json:"event_id,omitempty" rt:"maxlen=512"`
	PreviousItemID *string `json:"previous_item_id,omitempty" rt:"null"`
	Item           Item    `json:"item" rt:"req"`
}

// ConversationItemDelete removes an item.
type ConversationItemDelete struct {
	EventID string `json:"event_id,omitempty" rt:"maxlen=512"`
	ItemID  string `json:"item_id" rt:"id"`
}

// ConversationItemRetrieve asks for an item; answered by ConversationItemRetrieved.
type ConversationItemRetrieve struct {
	EventID string `json:"event_id,omitempty" rt:"maxlen=512"`
	ItemID  string `json:"item_id" rt:"id"`
}

// ConversationItemTruncate cuts an assistant item to what was heard.
type ConversationItemTruncate struct {
	EventID      string `json:"event_id,omitempty" rt:"maxlen=512"`
	ItemID       string `json:"item_id" rt:"id"`
	ContentIndex int    `json:"content_index" rt:"req,min=0"`
	AudioEndMS   int    `json:"audio_end_ms" rt:"req,min=0"` // milliseconds of the item's audio that stay
}

// ResponseCreate starts a response. Response nil uses the session as it is.
type ResponseCreate struct {
	EventID  string          `json:"event_id,omitempty" rt:"maxlen=512"`
	Response *ResponseParams `json:"response,omitempty" rt:"null"`
}

// ResponseCancel stops a response; without ResponseID the running one.
type ResponseCancel struct {
	EventID    string `json:"event_id,omitempty" rt:"maxlen=512"`
	ResponseID string `json:"response_id,omitempty"`
}

// TranscriptionSessionUpdate is the beta form of an update of a transcription session; the session is kept unread.
type TranscriptionSessionUpdate struct {
	EventID string `json:"event_id,omitempty" rt:"maxlen=512"`
	Session Raw    `json:"session" rt:"req"`
}

// HovorPlayout is the client's own account of how much audio waits in its playout buffer.
type HovorPlayout struct {
	EventID    string `json:"event_id,omitempty" rt:"maxlen=512"`
	ItemID     string `json:"item_id,omitempty"`
	BufferedMS int    `json:"buffered_ms" rt:"req,min=0,max=60000"`
}

func (*SessionUpdate) EventType() string              { return "session.update" }
func (*InputAudioBufferAppend) EventType() string     { return "input_audio_buffer.append" }
func (*InputAudioBufferCommit) EventType() string     { return "input_audio_buffer.commit" }
func (*InputAudioBufferClear) EventType() string      { return "input_audio_buffer.clear" }
func (*OutputAudioBufferClear) EventType() string     { return "output_audio_buffer.clear" }
func (*ConversationItemCreate) EventType() string     { return "conversation.item.create" }
func (*ConversationItemDelete) EventType() string     { return "conversation.item.delete" }
func (*ConversationItemRetrieve) EventType() string   { return "conversation.item.retrieve" }
func (*ConversationItemTruncate) EventType() string   { return "conversation.item.truncate" }
func (*ResponseCreate) EventType() string             { return "response.create" }
func (*ResponseCancel) EventType() string             { return "response.cancel" }
func (*TranscriptionSessionUpdate) EventType() string { return "transcription_session.update" }
func (*HovorPlayout) EventType() string               { return "hovor.playout" }
