package gemini

import (
	"encoding/json"
	"strings"
	"time"

	"hovor/signaling/realtime"
)

// What we send: BidiGenerateContentClientMessage. One field of it is set.
type clientMessage struct {
	Setup         *setup         `json:"setup,omitempty"`
	ClientContent *clientContent `json:"clientContent,omitempty"`
	RealtimeInput *realtimeInput `json:"realtimeInput,omitempty"`
	ToolResponse  *toolResponse  `json:"toolResponse,omitempty"`
}

type setup struct {
	Model                    string              `json:"model"`
	GenerationConfig         generationConfig    `json:"generationConfig"`
	SystemInstruction        *content            `json:"systemInstruction,omitempty"`
	Tools                    []tool              `json:"tools,omitempty"`
	RealtimeInputConfig      realtimeInputConfig `json:"realtimeInputConfig"`
	InputAudioTranscription  *transcribe         `json:"inputAudioTranscription,omitempty"`
	OutputAudioTranscription *transcribe         `json:"outputAudioTranscription,omitempty"`
	SessionResumption        *resumption         `json:"sessionResumption,omitempty"`
	ContextWindowCompression *compression        `json:"contextWindowCompression,omitempty"`
}

type generationConfig struct {
	ResponseModalities []string      `json:"responseModalities"`
	MaxOutputTokens    int           `json:"maxOutputTokens,omitempty"`
	SpeechConfig       *speechConfig `json:"speechConfig,omitempty"`
}

type speechConfig struct {
	VoiceConfig struct {
		Prebuilt struct {
			VoiceName string `json:"voiceName"`
		} `json:"prebuiltVoiceConfig"`
	} `json:"voiceConfig"`
}

type tool struct {
	FunctionDeclarations []declaration `json:"functionDeclarations"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type realtimeInputConfig struct {
	Detection  detection `json:"automaticActivityDetection"`
	Handling   string    `json:"activityHandling,omitempty"`
	TurnCovers string    `json:"turnCoverage,omitempty"`
}

type detection struct {
	Disabled          bool `json:"disabled,omitempty"`
	PrefixPaddingMS   *int `json:"prefixPaddingMs,omitempty"`
	SilenceDurationMS *int `json:"silenceDurationMs,omitempty"`
}

type transcribe struct {
	LanguageCodes []string `json:"languageCodes,omitempty"`
}

type resumption struct {
	Handle string `json:"handle,omitempty"`
}

type compression struct {
	SlidingWindow struct{} `json:"slidingWindow"`
}

type clientContent struct {
	Turns        []content `json:"turns,omitempty"`
	TurnComplete bool      `json:"turnComplete"`
}

type realtimeInput struct {
	Audio          *blob     `json:"audio,omitempty"`
	AudioStreamEnd bool      `json:"audioStreamEnd,omitempty"`
	ActivityStart  *struct{} `json:"activityStart,omitempty"`
	ActivityEnd    *struct{} `json:"activityEnd,omitempty"`
}

type toolResponse struct {
	FunctionResponses []functionResponse `json:"functionResponses"`
}

// What both sides use.
type content struct {
	Role  string `json:"role,omitempty"` // user, model
	Parts []part `json:"parts"`
}

type part struct {
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
}

type blob struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"` // base64
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResponse struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// What comes: BidiGenerateContentServerMessage. Usage may stand beside any other field.
type serverMessage struct {
	SetupComplete *struct {
		SessionID string `json:"sessionId"`
	} `json:"setupComplete"`
	ServerContent *serverContent `json:"serverContent"`
	ToolCall      *struct {
		FunctionCalls []functionCall `json:"functionCalls"`
	} `json:"toolCall"`
	ToolCallCancellation *struct {
		IDs []string `json:"ids"`
	} `json:"toolCallCancellation"`
	UsageMetadata *usageMetadata `json:"usageMetadata"`
	GoAway        *struct {
		TimeLeft string `json:"timeLeft"` // a protobuf Duration: "9.5s"
	} `json:"goAway"`
	SessionResumptionUpdate *struct {
		NewHandle string `json:"newHandle"`
		Resumable bool   `json:"resumable"`
	} `json:"sessionResumptionUpdate"`
	Error *struct { // not in the published types; proxies send it
		Code   int    `json:"code"`
		Status string `json:"status"`
	} `json:"error"`
}

// known tells whether the message holds anything that we know.
func (m *serverMessage) known() bool {
	return m.SetupComplete != nil || m.ServerContent != nil || m.ToolCall != nil || m.ToolCallCancellation != nil || m.UsageMetadata != nil ||
		m.GoAway != nil || m.SessionResumptionUpdate != nil || m.Error != nil
}

type serverContent struct {
	ModelTurn           *content       `json:"modelTurn"`
	TurnComplete        bool           `json:"turnComplete"`
	Interrupted         bool           `json:"interrupted"`
	GenerationComplete  bool           `json:"generationComplete"`
	InputTranscription  *transcription `json:"inputTranscription"`
	OutputTranscription *transcription `json:"outputTranscription"`
	TurnCompleteReason  string         `json:"turnCompleteReason"`
}

type transcription struct {
	Text     string `json:"text"`
	Finished bool   `json:"finished"`
}

type usageMetadata struct {
	PromptTokenCount        int64           `json:"promptTokenCount"`
	CachedContentTokenCount int64           `json:"cachedContentTokenCount"`
	ResponseTokenCount      int64           `json:"responseTokenCount"`
	ThoughtsTokenCount      int64           `json:"thoughtsTokenCount"`
	ToolUsePromptTokenCount int64           `json:"toolUsePromptTokenCount"`
	TotalTokenCount         int64           `json:"totalTokenCount"`
	PromptTokensDetails     []modalityCount `json:"promptTokensDetails"`
	CacheTokensDetails      []modalityCount `json:"cacheTokensDetails"`
	ResponseTokensDetails   []modalityCount `json:"responseTokensDetails"`
}

type modalityCount struct {
	Modality   string `json:"modality"` // TEXT, AUDIO, IMAGE, VIDEO, DOCUMENT
	TokenCount int64  `json:"tokenCount"`
}

// usage is the count in the form of the Realtime protocol. Thoughts are output that nobody hears, and are written tokens.
func (u *usageMetadata) usage() *realtime.Usage {
	in, cached, out := kinds(u.PromptTokensDetails), kinds(u.CacheTokensDetails), kinds(u.ResponseTokensDetails)
	prompt, response := u.PromptTokenCount+u.ToolUsePromptTokenCount, u.ResponseTokenCount+u.ThoughtsTokenCount
	total := u.TotalTokenCount
	if total == 0 {
		total = prompt + response
	}
	return &realtime.Usage{
		TotalTokens: total, InputTokens: prompt, OutputTokens: response,
		InputTokenDetails: realtime.InputTokenDetails{
			TextTokens: max(prompt-in.audio-in.image, 0), AudioTokens: in.audio, ImageTokens: in.image, CachedTokens: u.CachedContentTokenCount,
			CachedTokensDetails: realtime.CachedDetails{TextTokens: max(u.CachedContentTokenCount-cached.audio-cached.image, 0), AudioTokens: cached.audio, ImageTokens: cached.image},
		},
		OutputTokenDetails: realtime.OutputTokenDetails{TextTokens: max(response-out.audio, 0), AudioTokens: out.audio},
	}
}

type byKind struct{ audio, image int64 }

func kinds(list []modalityCount) (k byKind) {
	for _, m := range list {
		switch m.Modality {
		case "AUDIO":
			k.audio += m.TokenCount
		case "IMAGE", "VIDEO", "DOCUMENT":
			k.image += m.TokenCount
		}
	}
	return k
}

// timeLeft reads a protobuf Duration in its JSON form.
func timeLeft(s string) time.Duration {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil || d < 0 {
		return 0
	}
	return d
}
