package gemini

import (
	"context"
	"encoding/base64"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/gateway/provider/playback"
	"hovor/gateway/provider/recall"
	"hovor/gateway/provider/socket"
	"hovor/sfu/bridge"
	"hovor/signaling/realtime"
)

const (
	micRate = 16000
	// buffered bounds the input buffer: 60 s, more than a turn may last.
	buffered = 60 * 50
	// preroll is how much silence before the first loud frame belongs to a turn: 400 ms.
	preroll = 20
	// loud is the level above which a frame counts as speech for that: mean magnitude of a sample, some -44 dBFS.
	loud = 200
	// minCommit is the least audio that may be committed (Realtime protocol: input_audio_buffer_commit_empty).
	minCommit = 100 * time.Millisecond
	// hush is how long the person must have been quiet for a change of the connection when Live finds the turns.
	hush = time.Second
	// historyID begins the ids of the items that come from an earlier call.
	historyID = "hist_"
)

// leg is one open call. One lock guards its state; events are emitted with it held, so that they come in order.
type leg struct {
	cfg   Config
	model string
	sink  provider.Sink
	log   *slog.Logger
	line  *socket.Line
	out   *playback.Output
	mic   *playback.Input
	past  *recall.Store

	mu      sync.Mutex // guards what follows
	session realtime.Session
	auto    bool // Live finds the turns

	// The connection.
	ticket     string // with which a session is resumed
	configured string // the setup of the present connection, as JSON
	fresh      bool   // the present connection was told the past in words
	version    uint64 // of past, then
	connection int    // counts them
	bad        int    // messages in a row that were not of the protocol

	// The person.
	input    [][]byte // frames since the last commit or clear
	speech   bool     // one of them was loud
	live     bool     // an activity is open upstream: frames go there at once
	spoke    time.Time
	turn     [][]byte        // frames that were committed and wait for the question
	spoken   bool            // the activity that is open was committed
	pending  []realtime.Item // messages that wait for the question
	said     string          // the item whose transcript comes
	words    string          // what came of it
	audioIn  time.Duration   // sent since the last usage record
	noticed  string          // the item of a turn that Live found and that is not committed yet
	received time.Duration   // of the person's audio, in all

	// The model.
	active  *answer
	zombie  bool // what comes until turnComplete belongs to an answer that was cancelled
	unended bool // the answer before is done, its turnComplete did not come yet
	asked   []socket.Pending
	calls   map[string]*call
	answers []answered // outputs that wait for the question
	counted *realtime.Usage
	last    provider.Usage // of the answer that is done, until its turn is complete
	owed    bool           // last was not reported yet
	grace   *time.Timer
	over    bool
}

func newLeg(cfg Config, s provider.Setup, sink provider.Sink) (*leg, error) {
	l := &leg{cfg: cfg, model: s.Model, sink: sink, log: cfg.Logger.With("call", s.CallID), past: &recall.Store{}, calls: map[string]*call{}}
	if l.model == "" {
		l.model = cfg.Model
	}
	l.configure(s.Session)
	var err error
	if l.out, err = playback.NewOutput(s.Codec, l.emit, sink.ProviderPacket); err != nil {
		return nil, err
	}
	if l.mic, err = playback.NewInput(s.Codec, micRate, l.hear, l.do, l.undone); err != nil {
		l.out.Close()
		return nil, err
	}
	for i, it := range s.History {
		it.ID = historyID + s.CallID[max(0, len(s.CallID)-12):] + "_" + strconv.Itoa(i)
		l.past.Put(it, nil)
	}
	l.line = socket.NewLine(socket.LineConfig{Open: l.open, Handle: l.handleRaw, Quiet: l.quiet, Same: l.same, Lost: l.lost, Resume: l.resume,
		Notice: func(n provider.Notice) { provider.ReportNotice(sink, n) }, Limit: cfg.Limit, Connect: cfg.Connect, Fixed: cfg.Fixed, Logger: l.log})
	return l, nil
}

func (l *leg) configure(s realtime.Session) {
	l.session = s.WithDefaults()
	l.session.Model = l.model
	in := l.session.Audio.Input
	l.auto = in.TurnDetection.Value != nil
}

// created tells what a client waits for.
func (l *leg) created() {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session
	s.ID, s.Object = realtime.NewID("sess"), "realtime.session"
	l.session = s
	l.say(&realtime.SessionCreated{Session: s})
	l.say(&realtime.SessionUpdated{Session: s})
}

// Run keeps the leg until ctx ends or Live is gone.
func (l *leg) Run(ctx context.Context) error {
	err := l.line.Run(ctx)
	l.mu.Lock()
	if err != nil && l.active != nil {
		l.fail(provider.AsError(err))
	}
	l.settleUsage()
	l.over = true
	for _, c := range l.calls {
		c.timer.Stop()
	}
	if l.grace != nil {
		l.grace.Stop()
	}
	l.mu.Unlock()
	l.close()
	if late, lost := l.out.Late(), l.line.Lost(); late > 0 || lost > 0 || l.mic.Concealed() > 0 {
		l.log.Info("provider audio", "late_ms", late.Milliseconds(), "dropped_up", lost, "concealed", l.mic.Concealed())
	}
	l.sink.ProviderClosed(err)
	return err
}

// SetPlayout tells how much audio waits in the client.
func (l *leg) SetPlayout(d time.Duration) { l.out.SetPlayout(d) }

// WriteRTP takes one packet of the person's audio.
func (l *leg) WriteRTP(p *rtp.Packet) error {
	l.mic.Push(p)
	return nil
}

// close ends both ways of the sound.
func (l *leg) close() {
	l.mic.Close()
	l.out.Close()
}

// undone: an event that was taken cannot be done.
func (l *leg) undone(ev realtime.Event, err error) {
	l.log.Warn("an event did not reach the provider", "type", ev.EventType(), "error", err)
}

// hear takes audio from the microphone: to Live at once when it finds the turns or one is open, else into the input buffer.
func (l *leg) hear(c bridge.Chunk) {
	if len(c.PCM) == 0 {
		return
	}
	var sum int64
	for _, v := range c.PCM {
		sum += int64(max(v, -v))
	}
	raw := audio(c.Data)
	l.mu.Lock()
	defer l.mu.Unlock()
	d := time.Duration(len(c.PCM)) * time.Second / micRate
	l.received += d
	if sum/int64(len(c.PCM)) > loud {
		l.speech, l.spoke = true, time.Now()
	}
	if l.auto {
		l.audioIn += d
		l.line.Audio(raw)
		return
	}
	l.input = append(l.input, raw)
	switch {
	case l.live:
		l.audioIn += d
		l.line.Audio(raw)
	case !l.speech && len(l.input) > preroll:
		l.input = l.input[1:]
	}
	if len(l.input) > buffered {
		l.input = l.input[1:]
	}
}

// audio is a frame as a message.
func audio(pcm []byte) []byte {
	return encode(clientMessage{RealtimeInput: &realtimeInput{Audio: &blob{MimeType: "audio/pcm;rate=16000", Data: base64.StdEncoding.EncodeToString(pcm)}}})
}

// activityStart and activityEnd are new messages each time: what waits for a connection is told apart by its bytes.
func activityStart() []byte {
	return encode(clientMessage{RealtimeInput: &realtimeInput{ActivityStart: &struct{}{}}})
}
func activityEnd() []byte {
	return encode(clientMessage{RealtimeInput: &realtimeInput{ActivityEnd: &struct{}{}}})
}

// Hears tells what our own ear hears: from here on the turn goes to Live while it is spoken, rather than when it is over. It
// is worth some of Live's time to think; without it a turn is sent at its end.
func (l *leg) Hears(speaking bool) {
	if speaking {
		l.mic.Flush(l.listen)
	}
}

func (l *leg) listen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.auto || l.live || l.over {
		return
	}
	l.live = true
	l.abandon()
	_ = l.line.Write(activityStart()) // a full queue is told by the next event that matters
	for _, raw := range l.input {
		l.line.Audio(raw)
		l.audioIn += 20 * time.Millisecond
	}
}

// SendRaw queues one event as it is; there is nothing that Live would take so.
func (l *leg) SendRaw(raw []byte) error {
	ev, err := realtime.Decode(realtime.FromClient, raw)
	if err != nil {
		return err
	}
	return l.Send(ev)
}

// Send does what the event asks for.
func (l *leg) Send(ev realtime.Event) error {
	if _, ok := ev.(*realtime.OutputAudioBufferClear); ok {
		l.out.Clear(false) // waits for nothing
		return nil
	}
	return l.mic.Send(ev)
}

// do does what the event asks for, in its order.
func (l *leg) do(ev realtime.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return provider.ErrNotConnected
	}
	switch ev := ev.(type) {
	case *realtime.SessionUpdate:
		l.update(ev)
	case *realtime.InputAudioBufferClear:
		l.clearInput()
	case *realtime.InputAudioBufferCommit:
		l.commit(ev)
	case *realtime.ConversationItemCreate:
		l.create(ev)
	case *realtime.ConversationItemDelete:
		l.delete(ev)
	case *realtime.ConversationItemRetrieve:
		l.retrieve(ev)
	case *realtime.ConversationItemTruncate:
		l.truncate(ev)
	case *realtime.ResponseCreate:
		return l.ask(ev)
	case *realtime.ResponseCancel:
		l.cancel(ev)
	default:
		l.refuse(realtime.CodeUnknownEvent, "type", "This provider has no use for a "+ev.EventType()+" event.", "")
	}
	return nil
}

// update keeps the session. Live takes it only when a connection is set up, so that a change waits for the next quiet moment.
func (l *leg) update(ev *realtime.SessionUpdate) {
	before := l.auto
	id := l.session.ID
	l.configure(l.session.Merge(ev.Session))
	l.session.ID = id
	l.say(&realtime.SessionUpdated{Session: l.session})
	if before != l.auto {
		l.input, l.speech = nil, false
	}
	s := l.setup(l.session)
	if string(encode(clientMessage{Setup: &s})) != l.configured {
		l.line.Renew()
	}
}

func (l *leg) clearInput() {
	l.input, l.speech, l.turn, l.spoken = nil, false, nil, false
	if l.live { // Live was told that somebody speaks; what it makes of it is not wanted
		l.live = false
		_ = l.line.Write(activityEnd())
		l.zombie = true
	}
	l.say(&realtime.InputAudioBufferCleared{})
}

// commit makes an item of what was said. It goes to Live with the question, because Live answers at once.
func (l *leg) commit(ev *realtime.InputAudioBufferCommit) {
	if time.Duration(len(l.input))*20*time.Millisecond < minCommit {
		l.refuse("input_audio_buffer_commit_empty", "", "There is too little audio to commit: at least 100 ms are needed.", ev.EventID)
		return
	}
	if l.live {
		l.spoken = true // Live has it already
	} else {
		l.turn = append(l.turn, l.input...)
	}
	l.input, l.speech = nil, false
	l.heard()
	id := realtime.NewID("item")
	l.say(&realtime.InputAudioBufferCommitted{ItemID: id, PreviousItemID: l.past.Last()})
	l.person(id)
}

// person adds the item of what was said.
func (l *leg) person(id string) {
	previous := l.past.Last()
	it := realtime.Item{ID: id, Type: realtime.ItemMessage, Role: realtime.RoleUser, Status: realtime.StatusCompleted,
		Content: []realtime.Content{{Type: realtime.ContentInputAudio}}}
	l.past.Put(it, nil)
	l.said = id
	l.say(&realtime.ConversationItemAdded{PreviousItemID: previous, Item: it})
	l.say(&realtime.ConversationItemDone{PreviousItemID: previous, Item: it})
}

// create adds an item of the client.
func (l *leg) create(ev *realtime.ConversationItemCreate) {
	it := ev.Item
	if it.ID == "" {
		it.ID = realtime.NewID("item")
	}
	it.Status = realtime.StatusCompleted
	previous := l.past.Last()
	switch it.Type {
	case realtime.ItemMessage:
		if it.TextOf() == "" {
			l.refuse("unsupported_content_type", "item.content", "This provider takes messages with text only.", ev.EventID)
			return
		}
		l.pending = append(l.pending, it)
	case realtime.ItemFunctionCallOutput:
		if !l.answered(it, ev.EventID) {
			return
		}
	case realtime.ItemFunctionCall:
	default:
		l.refuse(realtime.CodeInvalidValue, "item.type", "This provider takes no items of type "+it.Type+".", ev.EventID)
		return
	}
	l.past.Put(it, ev.PreviousItemID)
	l.say(&realtime.ConversationItemAdded{PreviousItemID: previous, Item: it})
	l.say(&realtime.ConversationItemDone{PreviousItemID: previous, Item: it})
}

func (l *leg) delete(ev *realtime.ConversationItemDelete) {
	if _, ok := l.past.Get(ev.ItemID); !ok {
		l.refuse("item_not_found", "item_id", "There is no such item.", ev.EventID)
		return
	}
	l.past.Delete(ev.ItemID)
	l.say(&realtime.ConversationItemDeleted{ItemID: ev.ItemID})
}

func (l *leg) retrieve(ev *realtime.ConversationItemRetrieve) {
	it, ok := l.past.Get(ev.ItemID)
	if !ok {
		l.refuse("item_not_found", "item_id", "There is no such item.", ev.EventID)
		return
	}
	l.say(&realtime.ConversationItemRetrieved{Item: it})
}

// truncate keeps what was heard. Live has no truncation: it knows only that it was interrupted.
func (l *leg) truncate(ev *realtime.ConversationItemTruncate) {
	if _, ok := l.past.Get(ev.ItemID); !ok {
		l.refuse("item_not_found", "item_id", "There is no such item.", ev.EventID)
		return
	}
	cut, _ := l.out.Lookup(ev.ItemID)
	end := min(time.Duration(ev.AudioEndMS)*time.Millisecond, cut.Played)
	l.past.Cut(ev.ItemID, end, cut.Received)
	l.say(&realtime.ConversationItemTruncated{ItemID: ev.ItemID, ContentIndex: ev.ContentIndex, AudioEndMS: int(end / time.Millisecond)})
}

// refuse answers a client's event with an error.
func (l *leg) refuse(code, param, message, eventID string) {
	l.say((&realtime.Error{Type: realtime.TypeInvalidRequest, Code: code, Param: param, Message: message, EventID: eventID}).Event())
}

// say emits an event in order with those of the output.
func (l *leg) say(ev realtime.Event) { l.out.Do(func() { l.emit(ev) }) }

// emit hands an event to the sink.
func (l *leg) emit(ev realtime.Event) {
	raw, err := realtime.Encode(ev)
	if err != nil {
		l.log.Error("an event of ours is not of the protocol", "type", ev.EventType(), "error", err)
		return
	}
	if decoded, err := realtime.Decode(realtime.FromServer, raw); err == nil {
		ev = decoded // with its event_id
	}
	l.sink.ProviderEvent(raw, ev)
}
