package config

import (
	_ "embed"
	"time"
)

// Config is the whole configuration. The YAML keys are the names in the tags; a zero value means what its comment says.
type Config struct {
	// Listen is the public address: page, Realtime API, tools. Default 127.0.0.1:8080.
	Listen string `yaml:"listen"`
	// AdminListen serves /metrics, /healthz and /readyz and nothing else. Default 127.0.0.1:9090.
	AdminListen string `yaml:"admin_listen"`
	// NodeID names this node in call ids and ICE ufrags: 1 to 8 letters or digits. Default n1.
	NodeID string `yaml:"node_id"`

	Media  Media  `yaml:"media"`
	Store  Store  `yaml:"store"`
	CORS   CORS   `yaml:"cors"`
	Limits Limits `yaml:"limits"`
	Ear    Ear    `yaml:"ear"`
	Log    Log    `yaml:"log"`
	Demo   Demo   `yaml:"demo"`

	// Catalogue is the path of the tool catalogue. Empty: the demo catalogue, when the demo is on, else no tools.
	Catalogue string `yaml:"catalogue"`
	// Services say where the catalogue's HTTP services are. The demo app needs no entry.
	Services []Service `yaml:"services"`

	People     []Person    `yaml:"people"`
	Providers  []Provider  `yaml:"providers"`
	Assistants []Assistant `yaml:"assistants"`

	// file and lines let Validate name where a value stands.
	file  string
	lines map[string]int
}

// Media says where audio arrives.
type Media struct {
	// Address is the IP address to bind, empty for all.
	Address string `yaml:"address"`
	// Port is the one UDP port, and the TCP port when TCP is true; 0 picks a free one. Default 50000.
	Port int `yaml:"port"`
	// TCP offers ICE-TCP (RFC 6544) on the same port for networks that block UDP. Default true.
	TCP bool `yaml:"tcp"`
	// PublicIPs replace the interface addresses in candidates, for hosts behind one-to-one NAT.
	PublicIPs []string `yaml:"public_ips"`
	// ICEServers are STUN and TURN URLs for clients that ask for them by Link headers (RFC 9725); none are needed when this
	// server's own addresses can be reached.
	ICEServers []string `yaml:"ice_servers"`
	// TURNSecretEnv names the environment variable with the secret that is shared with the TURN server (coturn:
	// static-auth-secret), from which credentials are made that end by themselves.
	TURNSecretEnv string `yaml:"turn_secret_env"`
	// Loopback offers 127.0.0.1 as a candidate: right for a quickstart, wrong on the internet. Default false.
	Loopback bool `yaml:"loopback"`
}

// Store says where threads are kept.
type Store struct {
	// Path is the SQLite file; its folder is made when missing. Default var/hovor.db.
	Path string `yaml:"path"`
}

// CORS says which pages of other origins may call the API.
type CORS struct {
	// Origins are exact origins such as https://app.example, or "*" for any (quickstart only).
	Origins []string `yaml:"origins"`
}

// Limits bound what one node takes on.
type Limits struct {
	// Sessions is the most calls at once; one more is answered 503. Default 200.
	Sessions int `yaml:"sessions"`
	// SetupTimeout ends a call whose media did not connect. Default 15s.
	SetupTimeout Duration `yaml:"setup_timeout"`
	// MaxDuration ends a call after this long. Default 60m.
	MaxDuration Duration `yaml:"max_duration"`
	// Idle ends a call in which nobody spoke or typed for this long. Default 10m.
	Idle Duration `yaml:"idle"`
	// Drain is how long running calls may go on after the first signal. Default 10s.
	Drain Duration `yaml:"drain"`
}

// Ear is voice activity and end of turn.
type Ear struct {
	// Off switches the ear off: the provider's own turn detection is used.
	Off bool `yaml:"off"`
	// Model is the Silero weights file that `make models` puts in place.
	Model string `yaml:"model"`
}

// Log is where and how much is logged.
type Log struct {
	// Level is debug, info, warn or error. Default info.
	Level string `yaml:"level"`
}

// Demo is the small demo app: documents, processes, a message room, on loopback behind real HTTP.
type Demo struct {
	// On starts it and serves it under /demo/.
	On bool `yaml:"on"`
}

// Service is one backend that tools call with the person's own credentials.
type Service struct {
	Name string `yaml:"name"` // as the catalogue names it
	URL  string `yaml:"url"`  // base URL
}

// Person is one row of the demo identity table.
type Person struct {
	ID       string `yaml:"id"`
	Name     string `yaml:"name"`
	Language string `yaml:"language"`
	// Token is the bearer token that proves this person. A secret.
	Token Secret `yaml:"token"`
}

// Provider is one speech-to-speech upstream.
type Provider struct {
	Name string `yaml:"name"`
	// Kind is local (the embedded provider), openai (any server of the Realtime API, over WebRTC), openai-ws (the same over
	// WebSocket), azure (Azure OpenAI) or gemini (Gemini Live).
	Kind string `yaml:"kind"`
	// URL is the API base, such as https://api.openai.com/v1; for azure the resource, such as https://name.openai.azure.com.
	// Empty for gemini: Google's own. Not for local.
	URL string `yaml:"url"`
	// Transport is webrtc or websocket, for kinds that have both: local (default webrtc) and azure (default websocket).
	Transport string `yaml:"transport"`
	// KeyEnv names the environment variable that holds the API key. Not for local.
	KeyEnv string `yaml:"key_env"`
	// Model is the name the provider knows. Empty: the name the client asked for.
	Model string `yaml:"model"`
	// SessionLimit is how long the provider keeps a session; it is renewed in a quiet moment before, with what was said. 0: the
	// kind's own (60m for openai, openai-ws and azure, 10m for gemini, none for local).
	SessionLimit Duration `yaml:"session_limit"`
	// Brain is dialogue or a path of a script file. Only for local; default dialogue.
	Brain string `yaml:"brain"`
}

// Assistant is what a model alias stands for.
type Assistant struct {
	Name string `yaml:"name"`
	// Aliases are the model names that clients may ask for; "*" takes every other name, with a warning.
	Aliases []string `yaml:"aliases"`
	// Provider is the name of one of the providers.
	Provider string `yaml:"provider"`
	// Mode is relay (the default: the gateway carries and hears the audio) or direct: audio and events go between the browser
	// and the provider, the gateway opens the call and keeps the credential. Only for providers over WebRTC.
	Mode string `yaml:"mode"`
	// Voice is the provider's voice; empty for its default.
	Voice string `yaml:"voice"`
	// Language is the language the assistant speaks, BCP 47; empty: the person's.
	Language string `yaml:"language"`
	// Instructions are given to the model. Empty: the built-in ones in the language of the call.
	Instructions string `yaml:"instructions"`
	// Locked is short for policy: locked.
	Locked bool `yaml:"locked"`
	// Policy is how much a browser may change by session.update: locked (neither change nor see what makes the assistant:
	// instructions, prompt, tools, voice, budget), merge (all of it, but tools only from the catalogue) or open (also tools of
	// its own). Default merge.
	Policy string `yaml:"policy"`
	// ClientFields are the parts of the session that a browser may change, in place of the policy's own list.
	ClientFields []string `yaml:"client_fields"`
	// ClientEvents are the events that a browser may send. Empty: all of the protocol.
	ClientEvents []string `yaml:"client_events"`
	// MaxDuration ends a call with this assistant; 0: limits.max_duration.
	MaxDuration Duration `yaml:"max_duration"`
	// NoTools gives the assistant no tools at all.
	NoTools bool `yaml:"no_tools"`
}

// Direct is the mode in which audio and events go between the browser and the provider.
const Direct = "direct"

// Duration is a time.Duration written as 15s or 10m.
type Duration time.Duration

// UnmarshalText reads a Go duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes a Go duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Secret is text that never prints: not by fmt, not in a log, not in YAML or JSON.
type Secret string

const hidden = "(hidden)"

func (Secret) String() string               { return hidden }
func (Secret) GoString() string             { return hidden }
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Reveal is the one way to the text.
func (s Secret) Reveal() string { return string(s) }

//go:embed quickstart.yaml
var quickstart []byte

// Default is every default in one place.
func Default() *Config {
	return &Config{
		Listen:      "127.0.0.1:8080",
		AdminListen: "127.0.0.1:9090",
		NodeID:      "n1",
		Media:       Media{Port: 50000, TCP: true},
		Store:       Store{Path: "var/hovor.db"},
		Limits: Limits{
			Sessions:     200,
			SetupTimeout: Duration(15 * time.Second),
			MaxDuration:  Duration(60 * time.Minute),
			Idle:         Duration(10 * time.Minute),
			Drain:        Duration(10 * time.Second),
		},
		Ear: Ear{Model: ".models/silero/silero_vad_16k_op15.onnx"},
		Log: Log{Level: "info"},
	}
}

// Quickstart is the configuration of `make run`: embedded provider, demo app, two demo people, no key, no account.
func Quickstart() (*Config, error) { return Parse("quickstart.yaml (built in)", quickstart) }

// QuickstartFile is the quickstart's own text, to copy and change.
func QuickstartFile() []byte { return quickstart }
