package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// Far is what the far side of a WebSocket leg can be made to do in a synctest bubble. A check whose means are nil is left out.
type Far struct {
	// Cut resets the newest connection; Hang closes it with a frame.
	Cut  func()
	Hang func(code int, text string)
	// Mangle puts f between the far side and its connections: what it gives for the n-th message is sent instead. nil undoes it.
	Mangle func(f func(n int, raw []byte) [][]byte)
	// Connections is how many there were.
	Connections func() int
	// Calls makes the next response a call of this function, and the one after it an answer by voice.
	Calls func(name, id, args string)
	// Told is all that the newest connection was told, as text: items, outputs, history.
	Told func() string
	// Unique says that its events have ids, so that a copy can be told from a second event.
	Unique bool
	// Silent makes it accept connections and say nothing.
	Silent func()
}

// farChecks are the checks that need a Far, and what of it.
var farChecks = []struct {
	name  string
	f     func(*testing.T, Subject)
	needs func(*Far) bool
}{
	{"audio leaves every 20 ms", paced, nothing},
	{"after a clear not one packet leaves", cleared, nothing},
	{"every response has its record", accounted, nothing},
	{"a function call goes round", called, func(f *Far) bool { return f.Calls != nil && f.Told != nil }},
	{"a connection that is cut is made again with what was said", renewed, func(f *Far) bool { return f.Cut != nil && f.Connections != nil }},
	{"an answer that is cut has an end", severed, func(f *Far) bool { return f.Cut != nil }},
	{"a polite close is made good for", closedPolitely, func(f *Far) bool { return f.Hang != nil }},
	{"a refusal by close frame has its class", refusedLate, func(f *Far) bool { return f.Hang != nil }},
	{"copies do no harm", duplicated, mangles},
	{"what is not of the protocol is left out", garbled, mangles},
	{"nothing but noise is no provider", noise, mangles},
	{"swapped and missing messages do not wedge a leg", shuffled, mangles},
	{"a provider that accepts and says nothing is late", mute, func(f *Far) bool { return f.Silent != nil }},
}

func nothing(*Far) bool   { return true }
func mangles(f *Far) bool { return f.Mangle != nil }

// told is what the newest connection knows, as far as anybody can say.
func (f *Far) told() string {
	if f.Told == nil {
		return "hello"
	}
	return f.Told()
}

// stamped is a packet as the sink got it.
type stamped struct {
	at     time.Time
	marker bool
	seq    uint16
	ts     uint32
}

func stamp(p *rtp.Packet, at time.Time) stamped {
	return stamped{at, p.Marker, p.SequenceNumber, p.Timestamp}
}

// index is where the event that accept takes stands among those that came; -1: it did not.
func (s *sink) index(accept func(realtime.Event) bool) int {
	return slices.IndexFunc(s.events, accept)
}

func paced(t *testing.T, s Subject) {
	_, in, id := askedByText(t, s)
	await(t, in, func(e *realtime.OutputAudioBufferStopped) bool { return e.ResponseID == id })
	in.mu.Lock()
	defer in.mu.Unlock()
	if n := len(in.stamps); n < 100 || s.Far.Unique && n > 102 { // two seconds, and what the encoder held back
		t.Errorf("%d packets for two seconds of speech", n)
	}
	for i, p := range in.stamps[1:] {
		before := in.stamps[i]
		if d := p.at.Sub(before.at); d != 20*time.Millisecond || p.marker || p.seq != before.seq+1 || p.ts != before.ts+960 {
			t.Errorf("packet %d: %v after the one before, marker %v, sequence %+d, timestamp %+d", i+1, d, p.marker, p.seq-before.seq, p.ts-before.ts)
		}
	}
	if !in.stamps[0].marker {
		t.Error("the first packet of a spurt has no marker")
	}
	done := in.index(func(e realtime.Event) bool { _, ok := e.(*realtime.ResponseDone); return ok })
	part := in.index(func(e realtime.Event) bool { _, ok := e.(*realtime.ResponseContentPartAdded); return ok })
	started := in.index(func(e realtime.Event) bool { _, ok := e.(*realtime.OutputAudioBufferStarted); return ok })
	stopped := in.index(func(e realtime.Event) bool { _, ok := e.(*realtime.OutputAudioBufferStopped); return ok })
	if part > started || done > stopped || started > stopped {
		t.Errorf("order: part %d, started %d, done %d, stopped %d", part, started, done, stopped)
	}
	for _, ev := range in.events {
		if _, ok := ev.(*realtime.ResponseOutputAudioDelta); ok {
			t.Fatal("audio came as an event too")
		}
	}
}

func cleared(t *testing.T, s Subject) {
	leg, in, id := askedByText(t, s)
	in.wait(t, "audio", func() bool { return len(in.stamps) >= 10 })
	send(t, leg, &realtime.ResponseCancel{EventID: "cancel", ResponseID: id}, &realtime.OutputAudioBufferClear{EventID: "clear"})
	in.mu.Lock()
	before := len(in.stamps)
	in.mu.Unlock()
	await(t, in, func(e *realtime.OutputAudioBufferCleared) bool { return e.ResponseID == id })
	time.Sleep(3 * time.Second)
	in.mu.Lock()
	defer in.mu.Unlock()
	if n := len(in.stamps) - before; n != 0 {
		t.Errorf("%d packets left after the clear", n)
	}
	for _, ev := range in.events {
		if e, ok := ev.(*realtime.OutputAudioBufferStopped); ok && e.ResponseID == id {
			t.Error("a cleared response stopped too")
		}
	}
}

func accounted(t *testing.T, s Subject) {
	leg, in, id := askedByText(t, s)
	await(t, in, func(e *realtime.OutputAudioBufferStopped) bool { return e.ResponseID == id })
	send(t, leg, &realtime.ConversationItemCreate{Item: realtime.UserText("again")}, &realtime.ResponseCreate{EventID: "again"})
	second := await(t, in, func(e *realtime.ResponseCreated) bool { return e.Response.ID != id }).Response.ID
	await(t, in, func(e *realtime.OutputAudioBufferStarted) bool { return e.ResponseID == second })
	send(t, leg, &realtime.ResponseCancel{EventID: "cancel", ResponseID: second}, &realtime.OutputAudioBufferClear{EventID: "clear"})
	in.wait(t, "two records", func() bool { return len(in.usage) >= 2 })
	in.mu.Lock()
	defer in.mu.Unlock()
	a, b := in.usage[0], in.usage[1]
	if a.ID != id || a.Kind != provider.UsageResponse || a.Status != realtime.StatusCompleted || !a.Told || a.Output.Sum() == 0 || a.AudioOut < 2*time.Second {
		t.Errorf("the record of the first is %+v", a)
	}
	if b.ID != second || b.Status != realtime.StatusCancelled || b.AudioOut == 0 {
		t.Errorf("the record of the cancelled one is %+v", b)
	}
}

func called(t *testing.T, s Subject) {
	s.Far.Calls("look_up", "call_of_the_model", `{"word":"hovor"}`)
	leg, in, id := askedByText(t, s)
	item := await(t, in, func(e *realtime.ResponseOutputItemDone) bool {
		return e.ResponseID == id && e.Item.Type == realtime.ItemFunctionCall
	}).Item
	done := await(t, in, func(e *realtime.ResponseDone) bool { return e.Response.ID == id }).Response
	if item.Name != "look_up" || !strings.Contains(item.Arguments, "hovor") || item.Status != realtime.StatusCompleted || len(item.CallID) > realtime.MaxIDLen {
		t.Errorf("the call is %+v", item)
	}
	if len(done.Output) != 1 || done.Output[0].CallID != item.CallID {
		t.Errorf("response.done does not hold the call: %+v", done.Output)
	}
	await(t, in, func(e *realtime.ResponseFunctionCallArgumentsDone) bool { return e.CallID == item.CallID })
	send(t, leg, &realtime.ConversationItemCreate{Item: realtime.FunctionCallOutput(item.CallID, `{"status":"ok","answer":"a call"}`)}, &realtime.ResponseCreate{EventID: "go on"})
	next := await(t, in, func(e *realtime.ResponseCreated) bool { return e.Response.ID != id }).Response.ID
	await(t, in, func(e *realtime.OutputAudioBufferStopped) bool { return e.ResponseID == next })
	if !strings.Contains(s.Far.Told(), "a call") {
		t.Error("the output did not reach the model")
	}
}

func renewed(t *testing.T, s Subject) {
	leg, in, id := askedByText(t, s)
	await(t, in, func(e *realtime.OutputAudioBufferStopped) bool { return e.ResponseID == id })
	time.Sleep(time.Second)
	s.Far.Cut()
	in.wait(t, "word that it goes on", func() bool { return in.told(provider.Renewed) })
	if told := s.Far.told(); !strings.Contains(told, "hello") && !strings.Contains(told, "handle") {
		t.Errorf("the new connection knows nothing of what was said: %s", told)
	}
	send(t, leg, &realtime.ConversationItemCreate{Item: realtime.UserText("still there?")}, &realtime.ResponseCreate{EventID: "after"})
	next := await(t, in, func(e *realtime.ResponseCreated) bool { return e.Response.ID != id }).Response.ID
	await(t, in, func(e *realtime.OutputAudioBufferStopped) bool { return e.ResponseID == next })
	in.mu.Lock()
	defer in.mu.Unlock()
	seen := map[string]bool{}
	for _, ev := range in.events {
		switch e := ev.(type) {
		case *realtime.ConversationItemAdded:
			if seen[e.Item.ID] {
				t.Errorf("item %s was announced twice", e.Item.ID)
			}
			seen[e.Item.ID] = true
		case *realtime.ErrorEvent:
			t.Errorf("error: %v", e.Error)
		}
	}
	if len(in.closed) > 0 || s.Far.Connections() != 2 {
		t.Errorf("closed %v, %d connections", in.closed, s.Far.Connections())
	}
}

func severed(t *testing.T, s Subject) {
	leg, in, id := askedByText(t, s)
	in.wait(t, "audio", func() bool { return len(in.stamps) >= 2 })
	s.Far.Cut()
	if done := await(t, in, func(e *realtime.ResponseDone) bool { return e.Response.ID == id }); done.Response.Status != realtime.StatusFailed || done.Response.StatusDetails == nil {
		t.Errorf("the answer ended as %+v", done.Response)
	}
	await(t, in, func(e *realtime.OutputAudioBufferStopped) bool { return e.ResponseID == id })
	in.wait(t, "word that it goes on", func() bool { return in.told(provider.Renewed) })
	send(t, leg, &realtime.ResponseCreate{EventID: "again"})
	next := await(t, in, func(e *realtime.ResponseCreated) bool { return e.Response.ID != id }).Response.ID
	if done := await(t, in, func(e *realtime.ResponseDone) bool { return e.Response.ID == next }); done.Response.Status != realtime.StatusCompleted {
		t.Errorf("the next answer ended as %+v", done.Response)
	}
	in.wait(t, "the record of the lost one", func() bool {
		return slices.ContainsFunc(in.usage, func(u provider.Usage) bool { return u.ID == id && u.Status == realtime.StatusFailed })
	})
}

func closedPolitely(t *testing.T, s Subject) {
	leg, in, _ := open(t, s)
	s.Far.Hang(1001, "going away: session_expired")
	in.wait(t, "word that it goes on", func() bool { return in.told(provider.Renewed) })
	in.mu.Lock()
	cause := in.notices[0].Cause
	in.mu.Unlock()
	if cause == nil || cause.Class != provider.Expired {
		t.Errorf("the cause is %v", cause)
	}
	send(t, leg, &realtime.ConversationItemCreate{Item: realtime.UserText("hello")}, &realtime.ResponseCreate{EventID: "ask"})
	await(t, in, func(e *realtime.ResponseDone) bool { return e.Response.Status == realtime.StatusCompleted })
}

func refusedLate(t *testing.T, s Subject) {
	for _, c := range []struct {
		code  int
		text  string
		class provider.Class
	}{
		{1008, "API key not valid. Please pass a valid API key.", provider.Unauthorized},
		{1011, "You exceeded your current quota", provider.RateLimited},
		{1007, "Request contains an invalid argument.", provider.Rejected},
	} {
		_, in, stop := open(t, s)
		s.Far.Hang(c.code, c.text)
		in.wait(t, "ProviderClosed", func() bool { return len(in.closed) > 0 })
		stop()
		if e := provider.AsError(in.closed[0]); e == nil || e.Class != c.class || strings.Contains(e.Error(), c.text) {
			t.Errorf("close %d %q: %v", c.code, c.text, e)
		}
	}
}

func duplicated(t *testing.T, s Subject) {
	s.Far.Mangle(func(_ int, raw []byte) [][]byte { return [][]byte{raw, raw} })
	_, in, id := askedByText(t, s)
	await(t, in, func(e *realtime.OutputAudioBufferStopped) bool { return e.ResponseID == id })
	in.mu.Lock()
	defer in.mu.Unlock()
	done := 0
	for _, ev := range in.events {
		if e, ok := ev.(*realtime.ResponseDone); ok && e.Response.ID == id {
			done++
		}
	}
	if done != 1 || s.Far.Unique && len(in.stamps) > 102 {
		t.Errorf("%d times done, %d packets for two seconds", done, len(in.stamps))
	}
}

func garbled(t *testing.T, s Subject) {
	s.Far.Mangle(func(n int, raw []byte) [][]byte {
		if n%3 == 0 {
			return [][]byte{[]byte(`{"type":"response.done","response":[`), raw}
		}
		return [][]byte{raw}
	})
	_, in, id := askedByText(t, s)
	if done := await(t, in, func(e *realtime.ResponseDone) bool { return e.Response.ID == id }); done.Response.Status != realtime.StatusCompleted {
		t.Errorf("ended as %+v", done.Response)
	}
	in.wait(t, "a notice", func() bool { return in.told(provider.Malformed) })
}

func noise(t *testing.T, s Subject) {
	leg, in, _ := open(t, s)
	s.Far.Mangle(func(_ int, _ []byte) [][]byte {
		return [][]byte{[]byte("<p>"), []byte("<p>"), []byte("<p>"), []byte("<p>"), []byte("<p>")}
	})
	send(t, leg, &realtime.ConversationItemCreate{Item: realtime.UserText("hello")}, &realtime.ResponseCreate{EventID: "ask"})
	in.wait(t, "ProviderClosed", func() bool { return len(in.closed) > 0 })
	if e := provider.AsError(in.closed[0]); e.Class != provider.BadAnswer {
		t.Errorf("closed with %v", e)
	}
}

func shuffled(t *testing.T, s Subject) {
	leg, in, _ := open(t, s)
	var kept []byte
	s.Far.Mangle(func(n int, raw []byte) [][]byte {
		switch {
		case n%7 == 0:
			return nil
		case n%3 == 0 && kept == nil:
			kept = raw
			return nil
		case kept != nil:
			out := [][]byte{raw, kept}
			kept = nil
			return out
		}
		return [][]byte{raw}
	})
	for range 3 {
		send(t, leg, &realtime.ConversationItemCreate{Item: realtime.UserText("hello")}, &realtime.ResponseCreate{EventID: "ask"})
		time.Sleep(4 * time.Second)
		send(t, leg, &realtime.ResponseCancel{EventID: "cancel"}, &realtime.OutputAudioBufferClear{EventID: "clear"})
		time.Sleep(time.Second)
	}
	s.Far.Mangle(nil)
	time.Sleep(3 * time.Second)
	in.mu.Lock()
	seen := len(in.events)
	in.mu.Unlock()
	send(t, leg, &realtime.ConversationItemCreate{Item: realtime.UserText("hello")}, &realtime.ResponseCreate{EventID: "clean"})
	in.wait(t, "an answer without faults", func() bool {
		return slices.ContainsFunc(in.events[seen:], func(ev realtime.Event) bool {
			e, ok := ev.(*realtime.ResponseDone)
			return ok && e.Response.Status == realtime.StatusCompleted
		})
	})
}

func mute(t *testing.T, s Subject) {
	s.Far.Silent()
	begin := time.Now()
	_, err := s.Provider.Dial(t.Context(), provider.Setup{Session: s.Session, Model: s.Model, CallID: "rtc_conformance"}, newSink())
	if e := provider.AsError(err); e == nil || e.Class != provider.Timeout || time.Since(begin) > patience {
		t.Errorf("dial gave %v after %v", err, time.Since(begin))
	}
}
