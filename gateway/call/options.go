package call

import (
	"log/slog"
	"time"

	"hovor/gateway/call/conversation"
	"hovor/gateway/provider"
	"hovor/gateway/thread"
	"hovor/gateway/usage"
	"hovor/sfu"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/tools"
	"hovor/vad"
	"hovor/vad/turn"
)

// Assistant is who answers, as configuration and catalogue describe it.
type Assistant = conversation.Assistant

// Policy is how much of an assistant a client may change.
type Policy = conversation.Policy

// The policies.
const (
	Locked = conversation.Locked
	Merge  = conversation.Merge
	Open   = conversation.Open
)

// Limits bound a call in time; zero fields take the defaults.
type Limits = conversation.Limits

// Snapshot is where a call stands.
type Snapshot = conversation.Snapshot

// RecordedOutputs knows the exact output that the tool path recorded for a call. It must answer from memory.
type RecordedOutputs interface {
	RecordedOutput(session, callID string) (output string, ok bool)
}

// MediaSample is what one direction of audio was like since the call began.
type MediaSample struct {
	Packets uint64
	Lost    int64
	Jitter  time.Duration
	RTT     time.Duration
	Stale   uint64 // downlink only: packets of a cut answer that were held back
	Dropped uint64 // packets that could not be passed on: no provider yet (up), a failed write (down)
	// Concealed counts the 20 ms frames that the ear made up because theirs were lost; uplink only.
	Concealed uint64
}

// Books keep what calls cost. Their methods do not block; implemented by usage.Store.
type Books interface {
	PutCall(usage.Call) error
	PutResponse(usage.Response) error
}

// Observer counts. Its methods do not block. The directions are "from_client", "to_client", "from_provider", "to_provider".
type Observer interface {
	CallStarted(provider string)
	CallEnded(provider string, r EndReason, d time.Duration)
	SetupPhase(phase string, d time.Duration)             // signaling, ice, dtls, first_rtp, provider_connect, channel, first_audio
	TurnStage(stage string, mode string, d time.Duration) // endpointing, provider_first_audio, first_frame_sent, total
	Turn(mode, outcome string)
	Yield(d time.Duration) // from the back-dated onset of the person's speech until the gate was shut
	StaleFrames(n int)     // audio frames of a cut answer that were about to leave and did not
	Media(direction string, s MediaSample)
	ProviderError(class string)
	ProviderNotice(provider, kind string)    // what a leg says of its own connection while it goes on
	Usage(provider string, u provider.Usage) // once for each response and transcription, as it ends
	Audio(direction string, d time.Duration) // of one call, at its end: how much was received, given to the client, heard
	EventRefused(code string)
	OutputReplaced()
}

// Options is everything a call is made of.
type Options struct {
	ID        string // the Realtime call's id, "rtc_…"; empty mints one
	Person    tools.Person
	Assistant Assistant
	Session   *realtime.Session // what the client asked for with its offer or secret; passes the same gate as session.update
	Thread    *thread.Handle    // nil: nothing is kept
	Provider  provider.Provider
	Engine    *sfu.Engine
	Socket    signaling.Socket    // the client's WebSocket; nil: the client comes with an offer
	Dialect   realtime.Dialect    // what the client speaks at first
	Detector  func() vad.Detector // nil: the ear is off and the provider finds the turns
	Ear       turn.Config         // defaults of the ear; the session's turn detection overrides them
	Recorded  RecordedOutputs     // nil: no tool output is believed
	Limits    Limits
	Books     Books        // nil: nobody keeps what it costs
	AudioPath string       // told to the page; empty means "relay"
	Observer  Observer     // nil: nobody counts
	Logger    *slog.Logger // nil: silent

	// Ended is called once when the call is over, on the call's goroutine; nil means nobody cares.
	Ended func(*Call)
}

// nobody is the Observer of a call that nobody observes.
type nobody struct{}

func (nobody) CallStarted(string)                         {}
func (nobody) CallEnded(string, EndReason, time.Duration) {}
func (nobody) SetupPhase(string, time.Duration)           {}
func (nobody) TurnStage(string, string, time.Duration)    {}
func (nobody) Turn(string, string)                        {}
func (nobody) Yield(time.Duration)                        {}
func (nobody) StaleFrames(int)                            {}
func (nobody) Media(string, MediaSample)                  {}
func (nobody) ProviderError(string)                       {}
func (nobody) ProviderNotice(string, string)              {}
func (nobody) Usage(string, provider.Usage)               {}
func (nobody) Audio(string, time.Duration)                {}
func (nobody) EventRefused(string)                        {}
func (nobody) OutputReplaced()                            {}
