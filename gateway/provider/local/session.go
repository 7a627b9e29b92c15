package local

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/language"
	"hovor/signaling/realtime"
)

const (
	inboxBacklog  = 256              // client events that wait; more are refused with one error event
	tasksBacklog  = 64               // results of helpers that wait; they block their own goroutine beyond it
	connectWithin = 20 * time.Second // from the answer to the open channel
	longestCall   = time.Hour        // as the published API (protocol research 1.14)
)

// session is one conversation: an actor. Its run loop is the only goroutine that touches the fields below the line; helpers
// hand it closures through tasks, the line's goroutines put into hearing and inbox.
type session struct {
	server  *Server
	id      string // call id
	model   string
	owner   string // whose credential opened it
	created time.Time
	expires time.Time
	log     *slog.Logger

	line    line
	out     *playout // nil over a WebSocket, where the client plays
	hearing *hearing
	inbox   chan message
	side    chan message // of sidebands
	tasks   chan func()
	opened  chan struct{}      // closed when events can be sent
	hung    chan struct{}      // closed by hangup
	hangup  func()             // ends the session from outside
	end     context.CancelFunc // ends run
	done    chan struct{}      // closed when the session is over
	helpers sync.WaitGroup

	statusMu sync.Mutex // guards status and flooded
	status   string
	flooded  bool

	// ---- owned by run ----
	ctx       context.Context
	config    realtime.Session // effective
	form      form             // of the speech that is sent
	mind      brain.Mind
	plan      brain.Plan // of what goes wrong
	mischief  mischief
	items     *conversation
	language  string // of the conversation just now
	spoke     bool   // audio was sent: the voice is fixed
	sides     []*sideband
	asker     *sideband // whose event is being handled; nil = the client's
	bye       farewell  // why the session ends; the zero value while it lives
	responses map[string]*response
	active    *response   // the one that writes to the conversation
	sounding  []*response // whose audio is in the playout, in order; the first is heard now
	idle      idleWatch

	input    *input
	intake   *intake       // audio that comes in events; nil over WebRTC
	position time.Duration // stream time of the audio heard so far
	detect   *detection    // nil with turn detection null
	guess    *guess        // what the ear makes of the input
	deferred []func()      // wait until the newest transcript has come
	waiting  int           // transcripts under way
	blocked  bool          // a barrier is under way: client events wait
}

// newSession makes a session without a line. It does nothing until run.
func newSession(s *Server, config realtime.Session, owner, prefix string) (*session, error) {
	x := &session{
		server: s, id: realtime.NewID(prefix), model: config.Model, owner: owner, created: time.Now(), log: s.log,
		hearing: newHearing(), inbox: make(chan message, inboxBacklog), side: make(chan message), tasks: make(chan func(), tasksBacklog),
		opened: make(chan struct{}), hung: make(chan struct{}), done: make(chan struct{}), status: "connecting",
		config: effective(config), mind: s.brain.Mind(), plan: s.plan(), items: newConversation(),
		responses: map[string]*response{}, input: newInput(),
	}
	x.hangup = sync.OnceFunc(func() { close(x.hung) })
	x.expires = x.created.Add(longestCall)
	if x.plan.Expires > 0 {
		x.expires = x.created.Add(x.plan.Expires)
	}
	x.config.ID, x.config.ExpiresAt = realtime.NewID("sess"), x.expires.Unix()
	x.language = x.baseLanguage()
	x.setDetection()
	return x, nil
}

// effective is a session with every default filled in. One that only transcribes has a transcription whatever it says.
func effective(s realtime.Session) realtime.Session {
	s = s.WithDefaults()
	if s.Type == realtime.SessionTranscription && s.Audio.Input.Transcription.Value == nil {
		s.Audio.Input.Transcription = realtime.Some(realtime.Transcription{Model: "embedded"})
	}
	return s
}

// transcribes reports a session that listens and writes, and never answers.
func (x *session) transcribes() bool { return x.config.Type == realtime.SessionTranscription }

// flood notes that a client event was not taken.
func (x *session) flood() {
	x.statusMu.Lock()
	defer x.statusMu.Unlock()
	x.flooded = true
}

// run lives until ctx ends, the far side is gone, or the session is hung up. It leaves no goroutine.
func (x *session) run(ctx context.Context) {
	outside := ctx
	ctx, x.end = context.WithCancel(ctx)
	defer x.end()
	x.ctx = ctx
	x.helpers.Go(func() { x.line.run(ctx, x) })
	x.loop(ctx)
	if x.bye == (farewell{}) {
		x.bye = byeClient
		if outside.Err() != nil {
			x.bye = byeDrain
		}
	}
	x.line.leave(x.bye)
	x.setStatus("ended")
	x.end()
	x.helpers.Wait()
	for _, s := range x.sides {
		s.socket.Close(x.bye.code, x.bye.reason)
	}
	close(x.done)
	x.log.Info("session ended", "call_id", x.id, "seconds", int(time.Since(x.created).Seconds()), "reason", x.bye.reason)
}

func (x *session) loop(ctx context.Context) {
	connect := time.NewTimer(connectWithin)
	defer connect.Stop()
	expire := time.NewTimer(time.Until(x.expires))
	defer expire.Stop()
	defer x.idle.start()()
	defer x.mischief.start()()
	var drained <-chan string
	if x.out != nil {
		drained = x.out.drained
	}
	opened, open := x.opened, false
	for x.bye == (farewell{}) {
		var inbox, side chan message
		if !x.blocked && !x.mischief.deaf {
			side = x.side
			if open {
				inbox = x.inbox
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-x.hung:
			x.bye = byeHangup
		case <-connect.C:
			x.log.Info("call was never connected", "call_id", x.id)
			x.bye = byeNever
		case <-expire.C:
			x.expire()
		case <-opened:
			opened, open = nil, true
			connect.Stop()
			x.setStatus("active")
			x.misbehaveBeside(ctx)
			x.emit(&realtime.SessionCreated{Session: x.config})
		case m := <-inbox:
			x.client(m)
		case m := <-side:
			x.client(m)
		case <-x.hearing.notify:
			x.listen()
		case response := <-drained:
			x.audioDrained(response)
		case <-x.idle.timer.C:
			x.idleTooLong()
		case <-x.mischief.late.C:
			x.sendLate()
		case <-x.mischief.stalled.C:
			x.mischief.deaf = x.mischief.hung
		case fn := <-x.tasks:
			fn()
		}
	}
}

// expire ends the session at its longest duration.
func (x *session) expire() {
	x.fail(nil, &realtime.Error{Type: realtime.TypeInvalidRequest, Code: codeSessionExpired, Message: "Your session hit the maximum duration: open a new one."})
	x.bye = byeExpired
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

// emit sends one event to everybody.
func (x *session) emit(e realtime.Event) {
	if raw := x.encode(e); raw != nil {
		x.bend(raw, e.EventType())
	}
}

func (x *session) encode(e realtime.Event) []byte {
	raw, err := realtime.Encode(e)
	if err != nil {
		x.log.Error("event could not be encoded", "call_id", x.id, "type", e.EventType(), "error", err)
		return nil
	}
	return raw
}

// deliver sends one frame to everybody. A client that does not read loses the session, because an order with holes is
// worse.
func (x *session) deliver(raw []byte) {
	if err := x.line.send(raw); err != nil && x.ctx.Err() == nil {
		x.log.Warn("session ends: the client takes no events", "call_id", x.id, "error", err)
		x.bye = byeDeaf
	}
	for _, s := range x.sides {
		_ = s.socket.Write(raw) // one that does not read loses its socket, which its reader notices
	}
}

// fail sends an error event that answers a client event. What is wrong with a sideband's event only it is told.
func (x *session) fail(from realtime.Event, e *realtime.Error) {
	out := *e
	if from != nil && out.EventID == "" {
		out.EventID = eventID(from)
	}
	if x.asker == nil {
		x.emit(out.Event())
	} else if raw := x.encode(out.Event()); raw != nil {
		_ = x.asker.socket.Write(raw)
	}
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
