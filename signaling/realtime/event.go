package realtime

import "fmt"

// Event is one protocol event. All events are pointers to structs of this package, named by the CamelCase of their type
// string: "input_audio_buffer.speech_started" is *InputAudioBufferSpeechStarted. The one exception is "error", which is
// *ErrorEvent because Error is the error itself.
type Event interface {
	// EventType is the wire name, for example "response.done".
	EventType() string
}

// Direction says who sent an event; clients are held to the letter, providers are met with tolerance.
type Direction int

const (
	// FromClient is what a browser or another client sends: strict.
	FromClient Direction = iota
	// FromServer is what a provider, or this gateway, sends to a client: unknown fields and unknown enum values pass.
	FromServer
)

func (d Direction) String() string {
	switch d {
	case FromClient:
		return "client"
	case FromServer:
		return "server"
	}
	return fmt.Sprintf("Direction(%d)", int(d))
}

// LogProb is one token of a transcript with its log probability (openai: LogProbProperties).
type LogProb struct {
	Token   string  `json:"token"`
	LogProb float64 `json:"logprob"`
	Bytes   []int   `json:"bytes,omitempty"`
}
