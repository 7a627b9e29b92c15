package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// Subject is what is put to the test.
type Subject struct {
	// Provider answers a typed message with at least two seconds of speech.
	Provider provider.Provider
	// Session and Model are what a leg is opened with.
	Session realtime.Session
	Model   string
	// Voice is a packet of the person's audio, the i-th; nil leaves the commit out.
	Voice func(i int) *rtp.Packet
	// Kill makes the far side of the newest leg vanish without a word; nil leaves the check out.
	Kill func()
	// Left waits until the far side of the newest leg has noticed that we left; nil leaves the check out.
	Left func(t *testing.T)
	// Far is the far side of a leg over a WebSocket, in a synctest bubble; nil leaves its checks out.
	Far *Far
	// Broken are providers that cannot be dialled, by the class of failure that each must give.
	Broken map[provider.Class]provider.Provider
}

// patience bounds every wait of the suite.
const patience = 15 * time.Second

// Run goes through every check. For each it calls check, which makes a subject of its own and hands it to f, in whatever
// surroundings it needs: a subtest, a synctest bubble.
func Run(t *testing.T, check func(t *testing.T, name string, f func(t *testing.T, s Subject))) {
	t.Helper()
	checks := []struct {
		name string
		f    func(*testing.T, Subject)
	}{
		{"a typed message is answered by voice", typed},
		{"a cancel ends the response and a clear its sound", interrupted},
		{"one response at a time", single},
		{"spoken audio becomes an item", spoken},
		{"history is there and stays quiet", history},
		{"a leg that we leave is left", left},
		{"a leg that dies is reported once", killed},
		{"failures have their class", broken},
	}
	for _, c := range checks {
		check(t, c.name, c.f)
	}
	for _, c := range farChecks {
		check(t, c.name, func(t *testing.T, s Subject) {
			if s.Far == nil || !c.needs(s.Far) {
				t.Skip("the far side does as it likes")
			}
			c.f(t, s)
		})
	}
}

// sink notes what comes.
type sink struct {
	mu      sync.Mutex
	events  []realtime.Event
	packets int
	stamps  []stamped
	closed  []error
	notices []provider.Notice
	usage   []provider.Usage
	more    chan struct{}
}

func newSink() *sink { return &sink{more: make(chan struct{}, 1)} }

func (s *sink) note(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *sink) ProviderEvent(raw []byte, ev realtime.Event) {
	s.note(func() {
		if ev != nil {
			s.events = append(s.events, ev)
		}
	})
}
func (s *sink) ProviderPacket(p *rtp.Packet, at time.Time) {
	s.note(func() { s.packets++; s.stamps = append(s.stamps, stamp(p, at)) })
}
func (s *sink) ProviderClosed(err error)         { s.note(func() { s.closed = append(s.closed, err) }) }
func (s *sink) ProviderNotice(n provider.Notice) { s.note(func() { s.notices = append(s.notices, n) }) }
func (s *sink) ProviderUsage(u provider.Usage)   { s.note(func() { s.usage = append(s.usage, u) }) }

// told says whether a notice of the kind came.
func (s *sink) told(k provider.NoticeKind) bool {
	return slices.ContainsFunc(s.notices, func(n provider.Notice) bool { return n.Kind == k })
}

// wait blocks until cond holds; cond runs under the sink's lock.
func (s *sink) wait(t *testing.T, what string, cond func() bool) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		s.mu.Lock()
		ok := cond()
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-s.more:
		case <-timer.C:
			s.mu.Lock()
			defer s.mu.Unlock()
			var got []string
			for _, ev := range s.events {
				got = append(got, ev.EventType())
			}
			t.Fatalf("%s: not within %v; %d packets and these events came:\n%s", what, patience, s.packets, strings.Join(got, "\n"))
		}
	}
}

// await waits for an event of type T that accept takes, and gives it.
func await[T realtime.Event](t *testing.T, s *sink, accept func(T) bool) T {
	t.Helper()
	var found T
	s.wait(t, found.EventType(), func() bool {
		for _, ev := range s.events {
			if ev, ok := ev.(T); ok && (accept == nil || accept(ev)) {
				found = ev
				return true
			}
		}
		return false
	})
	return found
}

// open dials a leg and keeps it until the test ends, or until the returned function is called.
func open(t *testing.T, s Subject, past ...realtime.Item) (provider.Leg, *sink, func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	in := newSink()
	leg, err := s.Provider.Dial(ctx, provider.Setup{Session: s.Session, Model: s.Model, History: past, CallID: "rtc_conformance"}, in)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	life, leave := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = leg.Run(life) })
	stop := sync.OnceFunc(func() { leave(); wg.Wait() })
	t.Cleanup(stop)
	return leg, in, stop
}

func send(t *testing.T, leg provider.Leg, events ...realtime.Event) {
	t.Helper()
	for _, ev := range events {
		if err := leg.Send(ev); err != nil {
			t.Fatalf("send %s: %v", ev.EventType(), err)
		}
	}
}

func askedByText(t *testing.T, s Subject) (provider.Leg, *sink, string) {
	t.Helper()
	leg, in, _ := open(t, s)
	send(t, leg, &realtime.ConversationItemCreate{Item: realtime.UserText("hello")}, &realtime.ResponseCreate{EventID: "ask"})
	id := await[*realtime.ResponseCreated](t, in, nil).Response.ID
	return leg, in, id
}

func typed(t *testing.T, s Subject) {
	_, in, id := askedByText(t, s)
	part := await(t, in, func(e *realtime.ResponseContentPartAdded) bool {
		return e.ResponseID == id && e.Part.Type == realtime.PartAudio
	})
	await(t, in, func(e *realtime.OutputAudioBufferStarted) bool { return e.ResponseID == id })
	await(t, in, func(e *realtime.ResponseOutputAudioTranscriptDelta) bool { return e.ItemID == part.ItemID })
	in.wait(t, "fifty packets of audio", func() bool { return in.packets >= 50 })
	if done := await(t, in, func(e *realtime.ResponseDone) bool { return e.Response.ID == id }); done.Response.Status != realtime.StatusCompleted {
		t.Errorf("response.done with status %q", done.Response.Status)
	}
	await(t, in, func(e *realtime.OutputAudioBufferStopped) bool { return e.ResponseID == id })
}

func interrupted(t *testing.T, s Subject) {
	leg, in, id := askedByText(t, s)
	part := await(t, in, func(e *realtime.ResponseContentPartAdded) bool { return e.ResponseID == id })
	in.wait(t, "audio", func() bool { return in.packets >= 10 })
	send(t, leg, &realtime.ResponseCancel{EventID: "cancel", ResponseID: id}, &realtime.OutputAudioBufferClear{EventID: "clear"},
		&realtime.ConversationItemTruncate{EventID: "cut", ItemID: part.ItemID, AudioEndMS: 100})
	await(t, in, func(e *realtime.ResponseDone) bool { return e.Response.ID == id })
	await(t, in, func(e *realtime.OutputAudioBufferCleared) bool { return e.ResponseID == id })
	if cut := await(t, in, func(e *realtime.ConversationItemTruncated) bool { return e.ItemID == part.ItemID }); cut.AudioEndMS != 100 {
		t.Errorf("truncated at %d ms, asked for 100", cut.AudioEndMS)
	}
	in.mu.Lock()
	before := in.packets
	in.mu.Unlock()
	send(t, leg, &realtime.ResponseCreate{EventID: "again"})
	next := await(t, in, func(e *realtime.ResponseCreated) bool { return e.Response.ID != id })
	await(t, in, func(e *realtime.OutputAudioBufferStarted) bool { return e.ResponseID == next.Response.ID })
	in.wait(t, "audio of the next response", func() bool { return in.packets > before+10 })
}

func single(t *testing.T, s Subject) {
	leg, in, _ := open(t, s)
	send(t, leg, &realtime.ConversationItemCreate{Item: realtime.UserText("hello")}, &realtime.ResponseCreate{EventID: "ask"},
		&realtime.ResponseCreate{EventID: "second"}) // at once: a fast model is done before a slow test asks again
	e := await(t, in, func(e *realtime.ErrorEvent) bool { return e.Error.EventID == "second" })
	if e.Error.Code != "conversation_already_has_active_response" {
		t.Errorf("code %q", e.Error.Code)
	}
}

func spoken(t *testing.T, s Subject) {
	if s.Voice == nil {
		t.Skip("no voice given")
	}
	leg, in, _ := open(t, s)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := range 50 {
		if err := leg.WriteRTP(s.Voice(i)); err != nil {
			t.Fatalf("audio: %v", err)
		}
		<-tick.C
	}
	send(t, leg, &realtime.InputAudioBufferCommit{EventID: "commit"})
	c := await[*realtime.InputAudioBufferCommitted](t, in, nil)
	await(t, in, func(e *realtime.ConversationItemAdded) bool {
		return e.Item.ID == c.ItemID && e.Item.Role == realtime.RoleUser
	})
}

func history(t *testing.T, s Subject) {
	leg, in, _ := open(t, s, realtime.UserText("earlier question"), realtime.AssistantText("earlier answer"))
	send(t, leg, &realtime.ConversationItemCreate{EventID: "now", Item: realtime.UserText("a question of today")})
	await(t, in, func(e *realtime.ConversationItemAdded) bool { return strings.Contains(e.Item.TextOf(), "today") })
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, ev := range in.events {
		if ev, ok := ev.(*realtime.ConversationItemAdded); ok && strings.Contains(ev.Item.TextOf(), "earlier") {
			t.Error("the history was announced as if it were new")
		}
		if ev, ok := ev.(*realtime.ErrorEvent); ok {
			t.Errorf("error: %v", ev.Error)
		}
	}
}

func left(t *testing.T, s Subject) {
	if s.Left == nil {
		t.Skip("the far side cannot be asked")
	}
	_, in, stop := open(t, s)
	stop()
	s.Left(t)
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, err := range in.closed {
		if err != nil {
			t.Errorf("a leg that we ended was reported as %v", err)
		}
	}
}

func killed(t *testing.T, s Subject) {
	if s.Kill == nil {
		t.Skip("the far side cannot be killed")
	}
	_, in, stop := open(t, s)
	begin := time.Now()
	s.Kill()
	in.wait(t, "ProviderClosed or word that the connection is being made again", func() bool { return len(in.closed) > 0 || in.told(provider.Renewing) })
	if d := time.Since(begin); d > 3*time.Second {
		t.Errorf("noticed after %v, the page is promised 3 s", d)
	}
	in.wait(t, "ProviderClosed", func() bool { return len(in.closed) > 0 })
	stop()
	if e := provider.AsError(in.closed[0]); len(in.closed) != 1 || e == nil || e.Class != provider.Lost || e.Sentence() == "" {
		t.Errorf("reported as %v", in.closed)
	}
}

func broken(t *testing.T, s Subject) {
	for class, p := range s.Broken {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, err := p.Dial(ctx, provider.Setup{Session: s.Session, Model: s.Model, CallID: "rtc_conformance"}, newSink())
		cancel()
		var e *provider.Error
		if !errors.As(err, &e) || e.Class != class || e.Sentence() == "" {
			t.Errorf("%s: dial gave %v", class, err)
		}
	}
}
