package local

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/language"
	"hovor/sfu"
	"hovor/signaling/realtime"
)

const (
	inboxBacklog  = 256              // client events that wait; more are refused with one error event
	tasksBacklog  = 64               // results of helpers that wait; they block their own goroutine beyond it
	connectWithin = 20 * time.Second // from the answer to the open channel
	longestCall   = time.Hour        // as the published API (protocol research 1.14)
)

// session is one call: an actor. Its run loop is the only goroutine that touches the fields below the line; helpers hand
// it closures through tasks, media goroutines put into hearing and inbox.
type session struct {
	server  *Server
	id      string // call id
	model   string
	owner   string // whose credential opened it
	created time.Time
	log     *slog.Logger

	peer    *sfu.Peer
	tap     *sfu.Tap
	out     *playout
	hearing *hearing
	inbox   chan message
	tasks   chan func()
	opened  chan struct{}
	gone    chan struct{}      // the far side is gone
	hung    chan struct{}      // closed by hangup
	hangup  func()             // ends the call from outside
	end     context.CancelFunc // ends run
	helpers sync.WaitGroup

	statusMu sync.Mutex // guards status and flooded
	status   string
	flooded  bool

	// ---- owned by run ----
	ctx       context.Context
	config    realtime.Session // effective
	mind      brain.Mind
	items     *conversation
	language  string // of the conversation just now
	spoke     bool   // audio was sent: the voice is fixed
	drop      map[string]int
	responses map[string]*response
	active    *response   // the one that writes to the conversation
	sounding  []*response // whose audio is in the playout, in order; the first is heard now

	input    *input
	detect   *detection // nil with turn detection null
	guess    *guess     // what the ear makes of the input
	deferred []func()   // wait until the newest transcript has come
	waiting  int        // transcripts under way
	blocked  bool       // a barrier is under way: client events wait
}

// message is one client event as it arrived.
type message struct {
	raw []byte
	at  time.Time
}

// newSession answers the offer. The session does nothing until run.
func newSession(ctx context.Context, s *Server, offer string, config realtime.Session, owner string) (*session, error) {
	x := &session{
		server: s, id: realtime.NewID("rtc"), model: config.Model, owner: owner, created: time.Now(), log: s.log,
		hearing: newHearing(), inbox: make(chan message, inboxBacklog), tasks: make(chan func(), tasksBacklog),
		opened: make(chan struct{}), gone: make(chan struct{}), hung: make(chan struct{}), status: "connecting",
		config: config.WithDefaults(), mind: s.brain.Mind(), items: newConversation(),
		drop: map[string]int{}, responses: map[string]*response{}, input: newInput(),
	}
	x.hangup = sync.OnceFunc(func() { close(x.hung) })
	x.config.ID, x.config.Object = realtime.NewID("sess"), "realtime.session"
	x.config.ExpiresAt = x.created.Add(longestCall).Unix()
	x.language = x.baseLanguage()
	x.setDetection()

	tap, err := s.cfg.Engine.NewTap(x.hearing.frame)
	if err != nil {
		return nil, err
	}
	x.tap = tap
	var once sync.Once
	peer, err := s.cfg.Engine.Accept(ctx, offer, sfu.Handlers{
		State: func(st sfu.State) {
			if st == sfu.StateFailed || st == sfu.StateClosed {
				once.Do(func() { close(x.gone) })
			}
		},
		Open:    sync.OnceFunc(func() { close(x.opened) }),
		Message: x.receive,
		Packet:  tap.Push,
	})
	if err != nil {
		tap.Close()
		return nil, err
	}
	x.peer = peer
	x.out = newPlayout(peer)
	return x, nil
}

// discard ends a session that was never run.
func (x *session) discard() {
	x.tap.Close()
	_ = x.peer.Close()
}

// receive is the data channel's callback.
func (x *session) receive(raw []byte) {
	select {
	case x.inbox <- message{raw, time.Now()}:
	default:
		x.statusMu.Lock()
		x.flooded = true
		x.statusMu.Unlock()
	}
}

// run lives until ctx ends, the far side is gone, or the call is hung up. It leaves no goroutine.
func (x *session) run(ctx context.Context) {
	ctx, x.end = context.WithCancel(ctx)
	defer x.end()
	x.ctx = ctx
	x.setStatus("connecting")
	x.helpers.Go(func() { x.out.run(ctx) })
	x.helpers.Go(func() {
		defer x.end()
		if err := x.peer.Run(ctx); err != nil {
			x.log.Info("call failed", "call_id", x.id, "error", err)
		}
	})
	x.loop(ctx)
	x.end()
	x.setStatus("ended")
	x.tap.Close()
	x.helpers.Wait()
	x.log.Info("call ended", "call_id", x.id, "seconds", int(time.Since(x.created).Seconds()))
}

func (x *session) loop(ctx context.Context) {
	connect := time.NewTimer(connectWithin)
	defer connect.Stop()
	expire := time.NewTimer(time.Until(x.created.Add(longestCall)))
	defer expire.Stop()
	opened, inbox := x.opened, (chan message)(nil)
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.gone:
			return
		case <-x.hung:
			return
		case <-connect.C:
			x.log.Info("call was never connected", "call_id", x.id)
			return
		case <-expire.C:
			x.fail(nil, &realtime.Error{Type: realtime.TypeInvalidRequest, Code: codeSessionExpired, Message: "the session has reached its longest duration"})
			return
		case <-opened:
			opened = nil
			connect.Stop()
			x.setStatus("active")
			x.emit(&realtime.SessionCreated{Session: x.config})
			inbox = x.inbox
		case m := <-inbox:
			x.client(m)
		case <-x.hearing.notify:
			x.listen()
		case response := <-x.out.drained:
			x.audioDrained(response)
		case fn := <-x.tasks:
			fn()
		}
		if opened == nil {
			if inbox = x.inbox; x.blocked {
				inbox = nil
			}
		}
	}
}

// post hands a closure to the run loop; for helpers. It reports false when the session is over.
func (x *session) post(ctx context.Context, fn func()) bool {
	select {
	case x.tasks <- fn:
		return true
	case <-ctx.Done():
		return false
	}
}

// emit sends one event. A client that does not read its channel loses the call, because an order with holes is worse.
func (x *session) emit(e realtime.Event) {
	if n := x.drop[e.EventType()]; n > 0 {
		x.drop[e.EventType()] = n - 1
		return
	}
	raw, err := realtime.Encode(e)
	if err != nil {
		x.log.Error("event could not be encoded", "call_id", x.id, "type", e.EventType(), "error", err)
		return
	}
	x.sendRaw(raw, e.EventType())
}

func (x *session) sendRaw(raw []byte, what string) {
	err := x.peer.Send(raw)
	switch {
	case err == nil:
	case errors.Is(err, sfu.ErrNotOpen), errors.Is(err, sfu.ErrClosed):
	default:
		x.log.Warn("call ends: the client takes no events", "call_id", x.id, "type", what, "error", err)
		x.end()
	}
}

// fail sends an error event that answers a client event.
func (x *session) fail(from realtime.Event, e *realtime.Error) {
	out := *e
	if from != nil && out.EventID == "" {
		out.EventID = eventID(from)
	}
	x.emit(out.Event())
}

func (x *session) setStatus(s string) {
	x.statusMu.Lock()
	defer x.statusMu.Unlock()
	x.status = s
}

func (x *session) currentStatus() string {
	x.statusMu.Lock()
	defer x.statusMu.Unlock()
	return x.status
}

// baseLanguage is the session's own: of its voice, else of its instructions, else English.
func (x *session) baseLanguage() string {
	if code := language.OfVoice(string(x.config.Voice())); code != "" {
		return code
	}
	if x.config.Instructions != nil {
		if code := language.Detect(*x.config.Instructions); code != "" {
			return code
		}
	}
	return language.English
}
