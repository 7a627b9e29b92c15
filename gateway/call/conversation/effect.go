package conversation

import (
	"time"

	"hovor/gateway/thread"
	"hovor/signaling/realtime"
)

// Party is who sends an event, or who gets it: a sideband by its number, or one of the two below.
type Party int

const (
	// Everybody are the client and all sidebands. As a sender it is the client.
	Everybody Party = 0
	// ClientAlone gets what a sideband shall not see: how its own connection began.
	ClientAlone Party = -1
)

// Effect is one thing to do, in the order given. None of them may block.
type Effect interface{ effect() }

type (
	// ToClient sends an event of ours.
	ToClient struct {
		Event realtime.Event
		To    Party
	}

	// ToClientRaw passes the provider's bytes on. Type is the event's type, for counting.
	ToClientRaw struct {
		Type string
		Raw  []byte
		To   Party
	}

	// ToProvider sends an event upstream.
	ToProvider struct{ Event realtime.Event }

	// Cut silences the assistant at once. Its answer, WasCut, is stepped before anything else.
	Cut struct{}

	// Begin says that the audio that comes now is of this epoch and item; ItemID may be empty until it is known.
	Begin struct {
		Epoch    uint64
		ItemID   string
		Response string
		Output   int // place of the item in the response
		Content  int
	}

	// AudioDone says that the provider has sent all of the item's audio.
	AudioDone struct{ ItemID string }

	// WatchFirstAudio asks for a FirstAudio of the epoch, once.
	WatchFirstAudio struct{ Epoch uint64 }

	// Listen tells the ear who finds the turns, and how.
	Listen struct {
		Detection realtime.Nullable[realtime.TurnDetection]
	}

	// AssistantAudible tells the ear whether the person hears the assistant.
	AssistantAudible struct{ On bool }

	// Playout tells the downlink how much audio waits in the client.
	Playout struct{ Buffered time.Duration }

	// Flush asks for Flushed{Barrier} after everything that has arrived by now was heard.
	Flush struct{ Barrier uint64 }

	// Renew asks for a second leg of the provider with this session and history. Its answer is RenewReady or RenewFailed.
	Renew struct {
		Session realtime.Session
		History []realtime.Item
	}
	// Swap lets the second leg take the first one's place, or go.
	Swap struct{ Take bool }

	// Formats says in which form a WebSocket carries audio; nil is the default.
	Formats struct{ Input, Output *realtime.AudioFormat }

	// Keep puts an item into the thread; Forget takes one out.
	Keep struct{ Item thread.Item }
	// Forget takes an item out of the thread.
	Forget struct{ ItemID string }

	// Count is one observation for the metrics.
	Count struct{ Observation Observation }

	// Close ends the call: last events are sent, both legs are closed.
	Close struct{ Reason EndReason }
)

func (ToClient) effect()         {}
func (ToClientRaw) effect()      {}
func (ToProvider) effect()       {}
func (Cut) effect()              {}
func (Begin) effect()            {}
func (AudioDone) effect()        {}
func (WatchFirstAudio) effect()  {}
func (Listen) effect()           {}
func (AssistantAudible) effect() {}
func (Playout) effect()          {}
func (Flush) effect()            {}
func (Renew) effect()            {}
func (Swap) effect()             {}
func (Formats) effect()          {}
func (Keep) effect()             {}
func (Forget) effect()           {}
func (Count) effect()            {}
func (Close) effect()            {}

// Observation is a closed set of things worth counting.
type Observation interface{ observation() }

type (
	// TurnStage is the time one stage of a turn took.
	TurnStage struct {
		Stage, Mode string
		Took        time.Duration
	}
	// TurnOutcome is how a turn ended.
	TurnOutcome struct{ Mode, Outcome string }
	// Yielded is the time from the person's onset to the shut gate.
	Yielded struct{ Took time.Duration }
	// Spoke is how much of a response's item was given to the client, and what of that was heard.
	Spoke struct {
		Response    string
		Sent, Heard time.Duration
	}
	// EventRefused is a client event that did not pass.
	EventRefused struct{ Code string }
	// OutputReplaced is a tool output that the tool path does not vouch for.
	OutputReplaced struct{}
	// ProviderFault is a failure of the provider, by class or code.
	ProviderFault struct{ Class string }
	// SetupDone is a step of the set-up that ended now, counted from the call's begin.
	SetupDone struct {
		Phase string
		Took  time.Duration
	}
)

func (TurnStage) observation()      {}
func (TurnOutcome) observation()    {}
func (Yielded) observation()        {}
func (Spoke) observation()          {}
func (EventRefused) observation()   {}
func (OutputReplaced) observation() {}
func (ProviderFault) observation()  {}
func (SetupDone) observation()      {}
