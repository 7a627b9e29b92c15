package socket

import "time"

// Config is the limits of one socket. The zero value of a field is its default.
type Config struct {
	// MaxMessage is the largest message that is read, in bytes; a larger one ends the socket with CodeTooLarge.
	// 0 = DefaultMaxMessage.
	MaxMessage int64
	// MaxQueue is how many bytes may wait to be written. One message may always wait. 0 = DefaultMaxQueue.
	MaxQueue int
	// PingEvery is how often the peer is asked whether it is there. 0 = 20 s, which also keeps NAT bindings and proxies
	// awake; most forget an idle connection after 60 s.
	PingEvery time.Duration
	// DeadAfter is how long nothing may come, not even a pong. 0 = 45 s: two pings and a little.
	DeadAfter time.Duration
	// WriteWait is how long one message may take to be handed to the network. 0 = 20 s.
	WriteWait time.Duration
	// CloseWait is how long the peer may take to answer a close frame. 0 = 2 s.
	CloseWait time.Duration
}

const (
	// DefaultMaxMessage is 15 MiB of audio in base64 (openai: InputAudioBufferAppendEvent) and room for the rest of the event.
	DefaultMaxMessage = 21 << 20
	// DefaultMaxQueue is some four minutes of PCM at 24 kHz in base64: providers send faster than one can listen.
	DefaultMaxQueue = 16 << 20
)

func (c Config) withDefaults() Config {
	or := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	or(&c.PingEvery, 20*time.Second)
	or(&c.DeadAfter, 45*time.Second)
	or(&c.WriteWait, 20*time.Second)
	or(&c.CloseWait, 2*time.Second)
	if c.MaxMessage <= 0 {
		c.MaxMessage = DefaultMaxMessage
	}
	if c.MaxQueue <= 0 {
		c.MaxQueue = DefaultMaxQueue
	}
	return c
}

// Close codes (RFC 6455 section 7.4.1 and the registry that it opens).
const (
	CodeNormal       = 1000 // the conversation is over
	CodeGoingAway    = 1001 // the server stops, or the session has reached its longest time
	CodeNone         = 1006 // never sent: the connection broke without a farewell
	CodePolicy       = 1008 // the peer did what it may not, or does not read
	CodeTooLarge     = 1009
	CodeInternal     = 1011
	CodeTryLater     = 1013 // too many calls, or the provider is not there
	CodeUnauthorized = 3000
	CodeForbidden    = 3003
	CodeTimeout      = 3008
)

// maxReason is what a close frame holds beside the code.
const maxReason = 123
