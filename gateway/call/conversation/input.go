package conversation

import (
	"time"

	"hovor/signaling/realtime"
	"hovor/vad/turn"
)

// Input is one thing that happened. At is the time since the call began and never goes back.
type Input struct {
	At    time.Duration
	Media Media
	What  Happening
}

// Media is what the media goroutines knew when the input was taken from the mailbox.
type Media struct {
	Received       time.Duration // audio received from the person so far
	PossibleSpeech time.Duration // when the detector last suspected speech, even faintly; 0 = never
	ProviderPacket time.Duration // when the last audio packet came from the provider; 0 = never
	Heard          Heard
	Backlog        time.Duration // audio received and not passed on yet: a WebSocket may send faster than time passes
}

// Heard is the downlink's account of one item (see sfu.Heard).
type Heard struct {
	ItemID string
	Epoch  uint64
	Sent   time.Duration
	Heard  time.Duration
}

// Happening is the closed set of things that can happen to a call.
type Happening interface{ happening() }

type (
	// ChannelOpened: the client's event channel is open.
	ChannelOpened struct{}

	// ClientEvent is a decoded event of the client. Recorded holds, by call_id, what the tool path recorded for the
	// function_call_outputs in it.
	ClientEvent struct {
		Event    realtime.Event
		Recorded map[string]string
		From     Party
	}

	// ClientRefused: what the client, or a sideband, sent could not be decoded.
	ClientRefused struct {
		Err  *realtime.Error
		From Party
	}

	// ClientFlooded: the client sent faster than the call takes; Dropped events were not read.
	ClientFlooded struct{ Dropped int }

	// ClientLeft: the client's connection is over. Failed: it broke, rather than being closed.
	ClientLeft struct{ Failed bool }

	// ProviderReady: events and audio can flow upstream.
	ProviderReady struct{}

	// ProviderEvent is an event from upstream, with its bytes.
	ProviderEvent struct {
		Event realtime.Event
		Raw   []byte
	}

	// ProviderGone: the provider could not be had, or is lost. Sentence is for the person.
	ProviderGone struct{ Class, Sentence string }

	// ProviderNoticed: the provider's connection is about to end, is being renewed, or was. Sentence is for the person, empty when
	// it is nothing to them.
	ProviderNoticed struct {
		Kind     string // see provider.NoticeKind
		Class    string
		In       time.Duration
		Sentence string
	}

	// RenewReady: the second leg that Renew asked for stands, and waits.
	RenewReady struct{}
	// RenewFailed: it could not be had.
	RenewFailed struct{}

	// EarEvent is what the ear noticed. SpeechEnd and Onset are the back-dated edges in call time.
	EarEvent struct {
		Event     turn.Event
		Onset     time.Duration
		SpeechEnd time.Duration
	}

	// FirstAudio: the first packet of the epoch's audio came at Came and was written to the client at Sent.
	FirstAudio struct {
		Epoch      uint64
		Came, Sent time.Duration
	}

	// Flushed: everything that had arrived when the barrier was set has been heard.
	Flushed struct{ Barrier uint64 }

	// WasCut answers the effect Cut: what had been heard, and when the gate was shut.
	WasCut struct{ Heard Heard }

	// ScreenAsked: the tool path wants the page to show something.
	ScreenAsked struct{ Request realtime.HovorScreenRequest }

	// ToolMoved: the tool path reports progress of a call.
	ToolMoved struct{ Progress realtime.HovorTool }

	// EndAsked: somebody outside ends the call.
	EndAsked struct {
		Reason  EndReason
		Message string // empty: the reason's own sentence
	}

	// Tick: the time that Deadline named has come.
	Tick struct{}
)

func (ChannelOpened) happening()   {}
func (ClientEvent) happening()     {}
func (ClientRefused) happening()   {}
func (ClientFlooded) happening()   {}
func (ClientLeft) happening()      {}
func (ProviderReady) happening()   {}
func (ProviderEvent) happening()   {}
func (ProviderGone) happening()    {}
func (ProviderNoticed) happening() {}
func (RenewReady) happening()      {}
func (RenewFailed) happening()     {}
func (EarEvent) happening()        {}
func (FirstAudio) happening()      {}
func (Flushed) happening()         {}
func (WasCut) happening()          {}
func (ScreenAsked) happening()     {}
func (ToolMoved) happening()       {}
func (EndAsked) happening()        {}
func (Tick) happening()            {}
