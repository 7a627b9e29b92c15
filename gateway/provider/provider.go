package provider

import (
	"context"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/signaling/realtime"
)

// Provider opens upstream legs. Implementations are safe for concurrent use by many calls.
type Provider interface {
	// Name is a short label of a bounded set, for metrics: "openai", "local".
	Name() string
	// Dial opens one leg and returns when events and audio can flow. It gives up when ctx ends. Every error it returns is,
	// or wraps, an *Error. The history of the setup has been handed over when it returns. The sink may be called before it returns.
	Dial(ctx context.Context, s Setup, sink Sink) (Leg, error)
}

// Setup is what a leg starts with.
type Setup struct {
	Session realtime.Session // the effective session; its turn detection is null when our ear drives
	Model   string           // the provider's own name of the model; "" leaves it to the session
	History []realtime.Item  // earlier words of the thread, oldest first; for the assistant what was heard
	Codec   sfu.Codec        // of the packets both ways, for a leg that makes and takes them itself; zero: Opus
	CallID  string           // our call, for logs and for the provider's abuse tracing; never a person's name
}

// Sink takes what comes from upstream. Its methods do not block and may be called from media goroutines.
type Sink interface {
	// ProviderEvent takes one event: its bytes, which the sink owns from now on, and its decoded form.
	ProviderEvent(raw []byte, ev realtime.Event)
	// ProviderPacket takes one audio packet, valid until return; calls come from one goroutine, at is its arrival.
	ProviderPacket(p *rtp.Packet, at time.Time)
	// ProviderClosed says once that the leg is over; nil when our side ended it.
	ProviderClosed(err error)
}

// Leg is one open connection to a provider.
type Leg interface {
	// Send and SendRaw queue one event and do not block. An error means that the event will not arrive.
	Send(ev realtime.Event) error
	SendRaw(raw []byte) error
	// WriteRTP forwards one packet of the person's audio. One media goroutine calls it.
	WriteRTP(p *rtp.Packet) error
	// Run keeps the leg until ctx ends (then it hangs up) or the provider is gone. It calls Sink.ProviderClosed before it
	// returns and returns the same error.
	Run(ctx context.Context) error
}
