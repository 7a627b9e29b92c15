package conversation

import (
	"slices"
	"strconv"
	"time"

	"hovor/signaling/realtime"
)

// State is where a conversation stands. It is a value: Step never changes the one it was given. Its slices are only ever
// appended to behind their capacity or replaced, so older values stay true.
type State struct {
	cfg   *Config // never changed after Start
	now   time.Duration
	media Media

	minted    uint64        // ids made so far
	channel   bool          // the client's event channel is open
	ready     bool          // the provider is connected
	openAt    time.Duration // when both were there: from then on the ear counts
	warned    bool          // of the longest time
	warnedAt  time.Duration // of silence: for which last word
	renewing  bool          // the provider's connection is being made again
	renewAt   time.Duration // when a quiet moment for a second leg is looked for; 0 = never
	renewOn   bool          // a second leg is being opened
	renewTold bool
	renewWord time.Duration // the last word that it was told of
	ended     bool
	reason    EndReason
	doom      doom // the call cannot be; the client is told as soon as it can hear it
	voiced    bool // the first audio of the call has been counted
	spoke     bool // the assistant's voice was heard once; it cannot change any more

	session realtime.Session // effective; what the client sees but for what is hidden from it
	waiting []realtime.Event // for the provider, until it is ready

	floor   floor    // whether the person has it
	turn    exchange // the turn the person is making; meaningful while floor is not free
	answer  exchange // the turn that is being answered
	early   bool     // the person began to speak before both sides were there
	turns   int
	typed   bool          // a typed message waits for its response.create
	active  time.Duration // the last word of either side, typed or spoken
	commits []pending     // commits whose confirmation is still to come, oldest first
	clears  []pending     // input clears whose confirmation is still to come

	cleared   time.Duration // audio received when the provider's input buffer was last emptied
	clearedAt time.Duration // and when that was
	barrier   barrier

	gen    generation
	queued request   // at most one create waits
	late   []pending // creates that were given up on; what they bring is discarded
	dead   []string  // responses that were given up on; their events are dropped
	epoch  uint64
	play   playback   // what is, or is next, on its way to the person's ear
	later  []playback // behind it
	cut    interruption
	behind []told    // events for a WebSocket that follow the audio they close
	played []playOut // what a WebSocket may still truncate, the latest last

	calls   []toolCall // waiting for their output
	closed  []string   // call ids whose output has gone upstream
	ids     []idPair   // the person's spoken items: the provider's id and ours
	order   []place
	items   []*realtime.Item // as the client knows them, in the order in which they came to be; never changed in place
	asked   []sender
	removed []string // ids of items that were deleted
	said    []said
	rate    float64 // characters per second of this assistant's speech, as measured; 0 = not yet

	phase     string // as last told to the client
	phaseTurn string
}

// floor says whether the person has it.
type floor int

const (
	free     floor = iota
	speaking       // the person speaks
	paused         // the person is silent, maybe only to think
	holding        // the person holds the push-to-talk button
)

// Modes of a turn, as the wire and the metrics name them.
const (
	modeOpen = "open"
	modePTT  = "ptt"
	modeText = "text"
)

// Outcomes of a turn.
const (
	answered    = "answered"
	interrupted = "interrupted"
	unanswered  = "unanswered"
)

// exchange is one turn of the person and its answer.
type exchange struct {
	open      bool
	id        string
	mode      string
	item      string        // our id of the person's item; empty for typed turns
	told      bool          // the client knows that the person speaks
	start     time.Duration // stream time of the onset
	speechEnd time.Duration // call time; 0 = not yet
	committed time.Duration // call time; 0 = not yet
	first     time.Duration // call time of the first audio of the answer; 0 = none yet
	sent      time.Duration // and when it was written to the client
	reported  string        // the outcome the client was told
}

// stage of a generation.
type stage int

const (
	idle      stage = iota
	requested       // response.create is on its way, no response.created yet
	running         // response.created seen, response.done not
)

// generation is the one response that the provider may be making.
type generation struct {
	stage     stage
	id        string // empty until created
	eventID   string // of the response.create
	since     time.Duration
	heardFrom time.Duration // last event of it
	cancelled bool
	cancelAt  time.Duration
	why       cause
	text      bool // it wrote text
	calls     bool // it called a function
}

// request is a response.create that may go upstream.
type request struct {
	waiting bool
	event   *realtime.ResponseCreate
	own     bool // ours, not the client's
	urgent  bool // goes also while the person has the floor
}

// playback is the audio of one response.
type playback struct {
	live     bool
	epoch    uint64
	response string
	item     string
	output   int
	content  int
	begun    bool // the downlink counts for it
	sounding bool // there is, or was, audio: an audio part, started, or a packet
	audible  bool
	finished bool // the provider says that all of its audio has been made
}

// told is an event of the provider that waits for its place behind the audio of a response.
type told struct {
	response string
	what     string // its type
	raw      []byte
}

// playOut is the account of an item that a WebSocket client plays by itself.
type playOut struct {
	playback
	sent  time.Duration // audio that the client was given
	heard time.Duration // what it will have played, as far as we can tell
	open  bool          // it was cut, and the client has not said where
	at    time.Duration // when it was cut
}

// sender is a sideband that sent an event upstream: the error of it is nobody else's.
type sender struct {
	eventID string
	from    Party
}

// cause of an interruption.
type cause int

const (
	byNobody   cause = iota
	byVoice          // our ear heard the person
	byButton         // push-to-talk was pressed
	byText           // the person typed
	byClient         // the client cleared the output buffer
	byProvider       // the provider's own detection; it cancels and truncates by itself
)

// interruption is a cut that was asked for and not yet answered.
type interruption struct {
	under bool
	why   cause
	onset time.Duration                      // call time
	clear string                             // event id of the client's clear
	trunc *realtime.ConversationItemTruncate // the client's own account, which came before the cut
	turn  exchange                           // whose answer is cut
}

// doom is an end that waits for the client's event channel, so that the page can say why.
type doom struct {
	near   bool
	at     time.Duration
	reason EndReason
	class  string
	words  string
}

// pending is something we asked the provider for and that it has not confirmed yet.
type pending struct {
	eventID string
	item    string        // of a commit: our id of the person's item
	own     bool          // of a clear: ours, the client is not told
	at      time.Duration // of a create that was given up on: when
}

// barrier is a push-to-talk commit that waits for what had arrived to be heard.
type barrier struct {
	n       uint64 // 0: none
	at      time.Duration
	eventID string
	turn    exchange      // what it commits
	backlog time.Duration // audio before it that was still to be passed on
	held    []ClientEvent // behind it, in order
}

// toolCall is a function call that waits for its output.
type toolCall struct {
	id   string
	name string
	at   time.Duration
}

type idPair struct{ theirs, ours string }

// place is an item's place in the thread.
type place struct {
	id  string
	seq float64
}

// said is what the assistant says in one item.
type said struct {
	item, response string
	text           string
	final          bool
}

// Start is the beginning: what the client asked for has passed the gate, nothing has happened yet. The effects belong to
// the same moment.
func Start(cfg Config) (State, []Effect) {
	cfg.Limits = cfg.Limits.withDefaults()
	s := State{cfg: &cfg, warnedAt: -1}
	s.session = opening(&cfg)
	first := []Effect{Listen{Detection: s.detection()}}
	if cfg.Socket {
		first = append(first, s.formats())
	}
	return s, first
}

// mint makes an id of this call: unique within it by its number, among calls by the seed.
func (s *State) mint(prefix string) string {
	s.minted++
	return prefix + "_" + s.cfg.Seed + strconv.FormatUint(s.minted, 36)
}

// add appends without touching the memory of older states.
func add[T any](list []T, v T) []T { return append(slices.Clip(list), v) }

// addBounded is add, and forgets the oldest beyond max.
func addBounded[T any](list []T, v T, max int) []T {
	if len(list) >= max {
		list = list[len(list)-max+1:]
	}
	return add(list, v)
}

// Bounds of what a conversation remembers.
const (
	maxWaiting = 128 // events for a provider that is not ready
	maxHeld    = 64  // client events behind a push-to-talk barrier
	maxIDs     = 512 // spoken items whose two ids are known
	maxOrder   = 4096
	maxSaid    = 8
	maxDead    = 16
	maxCalls   = 64
	maxClosed  = 256
	maxItems   = 1024
	maxBehind  = 64
	maxAsked   = 64
	maxPlayed  = 8
)

// ours begins the event ids of what we ask the provider for ourselves; a client may not use it.
const ours = "hovor_"
