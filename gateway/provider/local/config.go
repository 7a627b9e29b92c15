package local

import (
	"fmt"
	"log/slog"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/sfu"
	"hovor/vad"
)

// Config says what a Server is made of. Only APIKey and Engine are required.
type Config struct {
	APIKey string      // the project key that mints client secrets and opens calls; never logged
	Engine *sfu.Engine // the media plane; the caller closes it after Run has returned

	Voice voice.Voice // nil = espeak-ng
	Ear   ear.Ear     // nil = pocketsphinx
	Brain brain.Brain // nil = dialogue

	// Names the recognizer and the dialogue know. Empty lists leave only the commands without a name.
	Documents []Named
	Processes []Named
	Topics    []string // what can be searched for by voice; nil = the documents' titles
	Phrases   []string // what can be highlighted by voice
	Messages  []string // what can be published by voice; nil = two everyday ones

	// Ids that the dialogue gives to tools and that nobody says aloud; "" = those of the demo app.
	Room    string // of messages
	Project string

	Detector       func() vad.Detector // speech probability for server_vad; nil = an energy detector
	AllowedOrigins []string            // browsers that may call the server directly; "*" = all, empty = none
	MaxSessions    int                 // calls at a time; 0 = 200
	Logger         *slog.Logger        // nil = discard
}

// Named is something that is spoken of by its title and asked for by its id.
type Named struct {
	ID       string
	Title    string // as spoken, for example "welcome" or "pricing 2019"
	Language string // of the content; "" = "en". Only English titles enter the spoken grammar
	Written  string // the title as it is written and read, where Title is only a way to say it; "" = Title is
}

const defaultMaxSessions = 200

var defaultMessages = []string{"lunch is ready", "the meeting starts now"}

func (c *Config) validate() error {
	if c.APIKey == "" {
		return fmt.Errorf("%w: APIKey is empty", ErrConfig)
	}
	if c.Engine == nil {
		return fmt.Errorf("%w: Engine is nil", ErrConfig)
	}
	if c.MaxSessions < 0 {
		return fmt.Errorf("%w: MaxSessions is negative", ErrConfig)
	}
	return nil
}
