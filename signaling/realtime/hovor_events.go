package realtime

// Our own server events. A client that does not know them loses nothing.

// HovorCall comes once, after session.created: who and what this call is.
type HovorCall struct {
	EventID   string      `json:"event_id" rt:"emit"`
	CallID    string      `json:"call_id" rt:"id"`
	ThreadID  string      `json:"thread_id,omitempty"`
	Person    HovorPerson `json:"person"`
	Assistant string      `json:"assistant,omitempty"`
	Language  string      `json:"language,omitempty"`
	AudioPath string      `json:"audio_path,omitempty" rt:"enum=relay|direct"`
}

// HovorState is what the page should show.
type HovorState struct {
	EventID string `json:"event_id" rt:"emit"`
	State   string `json:"state" rt:"req,enum=listening|hearing|thinking|speaking|reconnecting|ended"`
	TurnID  string `json:"turn_id,omitempty"`
}

// HovorTurn is the record of one finished turn.
type HovorTurn struct {
	EventID            string        `json:"event_id" rt:"emit"`
	TurnID             string        `json:"turn_id" rt:"id"`
	Mode               string        `json:"mode" rt:"req,enum=open|ptt|text"`
	Outcome            string        `json:"outcome" rt:"req,enum=answered|interrupted|unanswered"`
	LatencyMS          *HovorLatency `json:"latency_ms,omitempty"`
	InterruptedAfterMS *int          `json:"interrupted_after_ms,omitempty" rt:"min=0"`
}

// HovorHeard is what was really heard of an assistant item: Text is the heard prefix of its words.
type HovorHeard struct {
	EventID  string `json:"event_id" rt:"emit"`
	ItemID   string `json:"item_id" rt:"id"`
	AudioMS  int    `json:"audio_ms" rt:"min=0"`
	Text     string `json:"text"`
	Complete bool   `json:"complete"`
}

// HovorTool is the progress of a tool call, without content.
type HovorTool struct {
	EventID string `json:"event_id" rt:"emit"`
	CallID  string `json:"call_id" rt:"id"`
	Name    string `json:"name" rt:"req"`
	Class   string `json:"class,omitempty"`
	Status  string `json:"status" rt:"req"`
}

// HovorScreenRequest asks the page to do something; it must report the outcome over HTTP before ExpiresInMS.
type HovorScreenRequest struct {
	EventID     string `json:"event_id" rt:"emit"`
	RequestID   string `json:"request_id" rt:"id"`
	CallID      string `json:"call_id" rt:"id"`
	Epoch       uint64 `json:"epoch"`
	Tool        string `json:"tool" rt:"req"`
	Arguments   Raw    `json:"arguments" rt:"req,object"`
	ExpiresInMS int    `json:"expires_in_ms" rt:"min=0"`
}

// HovorProvider says how the connection to the provider is.
type HovorProvider struct {
	EventID string `json:"event_id" rt:"emit"`
	State   string `json:"state" rt:"req,enum=connected|expiring|renewing|lost"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	InMS    int    `json:"in_ms,omitempty" rt:"min=0"` // expiring: until this connection ends; it will be renewed before
}

// HovorEnding warns some time before a call ends by itself: why, and in how many milliseconds.
type HovorEnding struct {
	EventID string `json:"event_id" rt:"emit"`
	Reason  string `json:"reason" rt:"req"`
	Message string `json:"message,omitempty"`
	InMS    int    `json:"in_ms" rt:"min=0"`
}

// HovorEnded is the last event of a call: one reason of a closed set, and a sentence.
type HovorEnded struct {
	EventID string `json:"event_id" rt:"emit"`
	Reason  string `json:"reason" rt:"req"`
	Message string `json:"message,omitempty"`
}

func (*HovorCall) EventType() string          { return "hovor.call" }
func (*HovorState) EventType() string         { return "hovor.state" }
func (*HovorTurn) EventType() string          { return "hovor.turn" }
func (*HovorHeard) EventType() string         { return "hovor.heard" }
func (*HovorTool) EventType() string          { return "hovor.tool" }
func (*HovorScreenRequest) EventType() string { return "hovor.screen.request" }
func (*HovorProvider) EventType() string      { return "hovor.provider" }
func (*HovorEnding) EventType() string        { return "hovor.ending" }
func (*HovorEnded) EventType() string         { return "hovor.ended" }

// HovorPerson is who is speaking, as proved to the gateway.
type HovorPerson struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// HovorLatency is where a turn's time went, in milliseconds; nil where a stage did not happen.
type HovorLatency struct {
	Endpointing        *int `json:"endpointing,omitempty"`          // end of speech to commit
	ProviderFirstAudio *int `json:"provider_first_audio,omitempty"` // commit to the provider's first packet
	Total              *int `json:"total,omitempty"`                // end of speech to the first audible packet
}
