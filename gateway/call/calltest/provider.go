package calltest

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/signaling"
	"hovor/signaling/realtime"
)

// Script is what the provider does when it is asked for a response.
type Script struct {
	Think    time.Duration // from response.create to the first audio
	Text     string        // what it says
	Audio    time.Duration // how long that takes; 0 = no audio
	CallName string        // a function to call instead of speaking
	CallArgs string
	CallID   string
	Usage    *realtime.Usage // of the response, and as much as it says of a transcription
}

// Provider is a small Realtime server that does as it is told. It finds no turns of its own.
type Provider struct {
	tb     testing.TB
	engine *sfu.Engine

	mu      sync.Mutex
	refuse  error
	scripts []Script
	heard   []string // transcripts it will give, one per commit
	legs    []*Upstream
}

// Upstream is one call as the provider sees it.
type Upstream struct {
	p    *Provider
	peer *sfu.Peer
	stop context.CancelFunc
	work chan func() // run one after the other on the leg's own goroutine

	mu       sync.Mutex
	events   []realtime.Event
	arrivals []time.Time
	ended    bool

	// What follows belongs to the leg's goroutine.
	n        int // ids
	previous string
	active   *response
	playing  *response
	seq      uint16
	ts       uint32
}

type response struct {
	id, item string
	number   uint32
	script   Script
	frame    uint32
	frames   uint32
	begin    time.Time
	started  bool
}

func newProvider(tb testing.TB, e *sfu.Engine) *Provider { return &Provider{tb: tb, engine: e} }

// Will adds what is said to the next responses, one each; the last is repeated.
func (p *Provider) Will(s ...Script) { p.mu.Lock(); p.scripts = append(p.scripts, s...); p.mu.Unlock() }

// Hears adds the transcripts of the next commits, one each.
func (p *Provider) Hears(texts ...string) {
	p.mu.Lock()
	p.heard = append(p.heard, texts...)
	p.mu.Unlock()
}

// Refuse answers every new call with err; nil lets them in again.
func (p *Provider) Refuse(err error) { p.mu.Lock(); p.refuse = err; p.mu.Unlock() }

// Legs are all legs so far, the oldest first.
func (p *Provider) Legs() []*Upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.legs[:len(p.legs):len(p.legs)]
}

// Last is the newest leg; nil before there is one.
func (p *Provider) Last() *Upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.legs) == 0 {
		return nil
	}
	return p.legs[len(p.legs)-1]
}

// Mint gives a secret.
func (p *Provider) Mint(context.Context, signaling.Caller, realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	return &realtime.ClientSecret{Value: "ek_provider"}, nil
}

// Open answers a call.
func (p *Provider) Open(ctx context.Context, _ signaling.Caller, o signaling.Offer) (*signaling.Answer, error) {
	p.mu.Lock()
	refuse := p.refuse
	p.mu.Unlock()
	if refuse != nil {
		return nil, refuse
	}
	u := &Upstream{p: p, work: make(chan func(), 1024)}
	var err error
	u.peer, err = p.engine.Accept(ctx, o.SDP, sfu.Handlers{
		Open: func() {
			u.post(func() { u.say(&realtime.SessionCreated{Session: realtime.Session{Type: "realtime"}}) })
		},
		Message: func(b []byte) { u.post(func() { u.message(b) }) },
		Packet: func(_ *rtp.Packet, at time.Time) {
			u.mu.Lock()
			u.arrivals = append(u.arrivals, at)
			u.mu.Unlock()
		},
	})
	if err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	u.stop = stop
	var wg sync.WaitGroup
	wg.Go(func() { _ = u.peer.Run(life); stop() })
	wg.Go(func() { u.run(life) })
	p.mu.Lock()
	p.legs = append(p.legs, u)
	n := len(p.legs)
	p.mu.Unlock()
	p.tb.Cleanup(func() { stop(); wg.Wait() })
	return &signaling.Answer{SDP: u.peer.LocalSDP(), CallID: fmt.Sprintf("rtc_p%d", n)}, nil
}

// Hangup ends a call.
func (p *Provider) Hangup(_ context.Context, _ signaling.Caller, id string) error {
	var n int
	if _, err := fmt.Sscanf(id, "rtc_p%d", &n); err != nil || n < 1 || n > len(p.legs) {
		return signaling.ErrCallNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.legs[n-1].stop()
	return nil
}

// State knows nothing.
func (p *Provider) State(context.Context, signaling.Caller, string) (*signaling.CallState, error) {
	return nil, signaling.ErrCallNotFound
}

func (u *Upstream) post(f func()) {
	select {
	case u.work <- f:
	default:
		u.p.tb.Error("the scripted provider cannot keep up")
	}
}

func (u *Upstream) run(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case f := <-u.work:
			f()
		case now := <-tick.C:
			u.play(now)
		case <-ctx.Done():
			u.mu.Lock()
			u.ended = true
			u.mu.Unlock()
			return
		}
	}
}

// Expire ends the leg as a provider does whose session has reached its limit.
func (u *Upstream) Expire() {
	u.post(func() {
		u.say((&realtime.Error{Type: "invalid_request_error", Code: "session_expired", Message: "Your session hit the maximum duration."}).Event())
		time.AfterFunc(100*time.Millisecond, u.stop)
	})
}

// Close ends the leg as a provider does that shuts down in good order.
func (u *Upstream) Close() { u.stop() }

// Ended reports whether the leg is over.
func (u *Upstream) Ended() bool { u.mu.Lock(); defer u.mu.Unlock(); return u.ended }

// Events are those that came so far.
func (u *Upstream) Events() []realtime.Event {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.events[:len(u.events):len(u.events)]
}

// Arrivals is when the person's packets came.
func (u *Upstream) Arrivals() []time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.arrivals[:len(u.arrivals):len(u.arrivals)]
}

// Types are the types of the events that came so far.
func (u *Upstream) Types() []string {
	var out []string
	for _, ev := range u.Events() {
		out = append(out, ev.EventType())
	}
	return out
}

func (u *Upstream) say(ev realtime.Event) {
	b, err := realtime.Encode(ev)
	if err != nil {
		u.p.tb.Errorf("provider: encode %s: %v", ev.EventType(), err)
		return
	}
	_ = u.peer.Send(b) // the gateway may be gone
}

func (u *Upstream) id(prefix string) string { u.n++; return fmt.Sprintf("%s_p%d", prefix, u.n) }

func (u *Upstream) message(b []byte) {
	ev, err := realtime.Decode(realtime.FromClient, b)
	if err != nil {
		u.p.tb.Errorf("provider: the gateway sent something wrong: %v: %s", err, b)
		return
	}
	u.mu.Lock()
	u.events = append(u.events, ev)
	u.mu.Unlock()
	switch ev := ev.(type) {
	case *realtime.SessionUpdate:
		u.say(&realtime.SessionUpdated{Session: ev.Session.WithDefaults()})
	case *realtime.InputAudioBufferClear:
		u.say(&realtime.InputAudioBufferCleared{})
	case *realtime.InputAudioBufferCommit:
		u.commit()
	case *realtime.ConversationItemCreate:
		it := ev.Item
		if it.ID == "" {
			it.ID = u.id("item")
		}
		it.Status = "completed"
		u.add(it)
	case *realtime.ConversationItemTruncate:
		u.say(&realtime.ConversationItemTruncated{ItemID: ev.ItemID, ContentIndex: ev.ContentIndex, AudioEndMS: ev.AudioEndMS})
	case *realtime.ConversationItemDelete:
		u.say(&realtime.ConversationItemDeleted{ItemID: ev.ItemID})
	case *realtime.ResponseCreate:
		u.respond(ev)
	case *realtime.ResponseCancel:
		u.cancel(ev.EventID)
	case *realtime.OutputAudioBufferClear:
		if r := u.playing; r != nil {
			u.playing = nil
			u.say(&realtime.OutputAudioBufferCleared{ResponseID: r.id})
		}
	}
}

func (u *Upstream) add(it realtime.Item) {
	var prev *string
	if u.previous != "" {
		p := u.previous
		prev = &p
	}
	u.previous = it.ID
	u.say(&realtime.ConversationItemAdded{PreviousItemID: prev, Item: it})
	u.say(&realtime.ConversationItemDone{PreviousItemID: prev, Item: it})
}

func (u *Upstream) commit() {
	id := u.id("item")
	var prev *string
	if u.previous != "" {
		p := u.previous
		prev = &p
	}
	u.say(&realtime.InputAudioBufferCommitted{ItemID: id, PreviousItemID: prev})
	u.add(realtime.Item{ID: id, Type: "message", Role: "user", Status: "completed", Content: []realtime.Content{{Type: "input_audio"}}})
	u.p.mu.Lock()
	text := "something"
	if len(u.p.heard) > 0 {
		text, u.p.heard = u.p.heard[0], u.p.heard[1:]
	}
	u.p.mu.Unlock()
	time.AfterFunc(700*time.Millisecond, func() { // late, as providers are
		u.post(func() {
			u.say(&realtime.ConversationItemInputAudioTranscriptionCompleted{ItemID: id, Transcript: text, Usage: u.p.transcriptionUsage()})
		})
	})
}

// transcriptionUsage is what writing down what the person said costs, in a world where anything costs.
func (p *Provider) transcriptionUsage() *realtime.TranscriptionUsage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.scripts) == 0 || p.scripts[0].Usage == nil {
		return nil
	}
	return &realtime.TranscriptionUsage{Type: "tokens", TotalTokens: 7, InputTokens: 5, OutputTokens: 2, InputTokenDetails: &realtime.TranscriptionInputUsage{AudioTokens: 5}}
}

func (u *Upstream) respond(ev *realtime.ResponseCreate) {
	if u.active != nil {
		u.say((&realtime.Error{Type: "invalid_request_error", Code: "conversation_already_has_active_response", Message: "one at a time", EventID: ev.EventID}).Event())
		return
	}
	u.p.mu.Lock()
	s := Script{Think: 200 * time.Millisecond, Text: "I have nothing to say.", Audio: time.Second}
	if len(u.p.scripts) > 0 {
		s = u.p.scripts[0]
		if len(u.p.scripts) > 1 {
			u.p.scripts = u.p.scripts[1:]
		}
	}
	u.p.mu.Unlock()
	r := &response{id: u.id("resp"), item: u.id("item"), script: s}
	r.number = uint32(u.n)
	u.active = r
	u.say(&realtime.ResponseCreated{Response: realtime.Response{ID: r.id, Object: "realtime.response", Status: "in_progress", Output: []realtime.Item{}}})
	time.AfterFunc(s.Think, func() { u.post(func() { u.speak(r) }) })
}

// speak writes everything at once, as fast models do, and lets the audio follow in real time.
func (u *Upstream) speak(r *response) {
	if u.active != r {
		return
	}
	if r.script.CallName != "" {
		u.callFunction(r)
		return
	}
	item := realtime.Item{ID: r.item, Type: "message", Role: "assistant", Status: "in_progress", Content: []realtime.Content{}}
	u.previous = r.item
	u.say(&realtime.ResponseOutputItemAdded{ResponseID: r.id, Item: item})
	u.say(&realtime.ConversationItemAdded{Item: item})
	u.say(&realtime.ResponseContentPartAdded{ResponseID: r.id, ItemID: r.item, Part: realtime.Part{Type: "audio"}})
	u.say(&realtime.OutputAudioBufferStarted{ResponseID: r.id})
	for _, word := range strings.SplitAfter(r.script.Text, " ") {
		u.say(&realtime.ResponseOutputAudioTranscriptDelta{ResponseID: r.id, ItemID: r.item, Delta: word})
	}
	r.frames = uint32(r.script.Audio / (20 * time.Millisecond))
	u.playing = r
	u.frame(r)
	time.AfterFunc(r.script.Audio/2, func() { u.post(func() { u.finish(r) }) }) // done before it is heard
}

// finish ends the writing; the audio goes on.
func (u *Upstream) finish(r *response) {
	if u.active != r {
		return
	}
	u.active = nil
	u.say(&realtime.ResponseOutputAudioDone{ResponseID: r.id, ItemID: r.item})
	u.say(&realtime.ResponseOutputAudioTranscriptDone{ResponseID: r.id, ItemID: r.item, Transcript: r.script.Text})
	u.say(&realtime.ResponseDone{Response: realtime.Response{ID: r.id, Object: "realtime.response", Status: "completed", Output: []realtime.Item{}, Usage: r.script.Usage}})
}

func (u *Upstream) callFunction(r *response) {
	it := realtime.Item{ID: r.item, Type: "function_call", Status: "in_progress", Name: r.script.CallName, CallID: r.script.CallID, Arguments: ""}
	u.say(&realtime.ResponseOutputItemAdded{ResponseID: r.id, Item: it})
	it.Status, it.Arguments = "completed", r.script.CallArgs
	u.say(&realtime.ResponseFunctionCallArgumentsDone{ResponseID: r.id, ItemID: r.item, CallID: it.CallID, Name: it.Name, Arguments: it.Arguments})
	u.say(&realtime.ResponseOutputItemDone{ResponseID: r.id, Item: it})
	u.active = nil
	u.say(&realtime.ResponseDone{Response: realtime.Response{ID: r.id, Object: "realtime.response", Status: "completed", Output: []realtime.Item{it}}})
}

func (u *Upstream) cancel(eventID string) {
	r := u.active
	if r == nil {
		u.say((&realtime.Error{Type: "invalid_request_error", Code: "response_cancel_not_active", Message: "nothing to cancel", EventID: eventID}).Event())
		return
	}
	u.active = nil
	u.say(&realtime.ResponseDone{Response: realtime.Response{ID: r.id, Object: "realtime.response", Status: "cancelled", Output: []realtime.Item{},
		Usage: r.script.Usage, StatusDetails: &realtime.StatusDetails{Type: "cancelled", Reason: "client_cancelled"}}})
}

// play sends the frame that is due.
func (u *Upstream) play(time.Time) {
	u.ts += 960
	if r := u.playing; r != nil {
		u.frame(r)
	}
}

func (u *Upstream) frame(r *response) {
	if r.frame >= r.frames {
		u.playing = nil
		u.say(&realtime.OutputAudioBufferStopped{ResponseID: r.id})
		return
	}
	r.frame++
	u.seq++
	p := &rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: u.seq, Timestamp: u.ts, Marker: r.frame == 1}, Payload: stamp(r.number, r.frame)}
	_ = u.peer.WriteRTP(p)
}

// stamp is a payload that looks like 20 ms of Opus and says whose it is and when it left.
func stamp(response, frame uint32) []byte {
	b := make([]byte, 32)
	b[0] = 0x78 // hybrid fullband, 20 ms, one frame, mono (RFC 6716 section 3.1)
	binary.BigEndian.PutUint32(b[1:], response)
	binary.BigEndian.PutUint32(b[5:], frame)
	binary.BigEndian.PutUint64(b[9:], uint64(time.Now().UnixNano()))
	return b
}

func readStamp(b []byte) (response, frame uint32, sent time.Time) {
	if len(b) < 17 {
		return 0, 0, time.Time{}
	}
	return binary.BigEndian.Uint32(b[1:]), binary.BigEndian.Uint32(b[5:]), time.Unix(0, int64(binary.BigEndian.Uint64(b[9:])))
}
