package calltest_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/call/calltest"
	"hovor/gateway/thread"
	"hovor/sfu/vnettest"
	"hovor/signaling/realtime"
	"hovor/tools"
)

// live runs a whole call in its own bubble. That the bubble can end proves that nothing of the call is left.
func live(t *testing.T, o calltest.Options, f func(t *testing.T, w *calltest.World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if o.Assistant.Name == "" {
			o.Assistant = assistant()
		}
		f(t, calltest.New(t, o))
	})
}

func assistant() call.Assistant {
	return call.Assistant{Name: "demo", Model: "script", Instructions: "be kind",
		Tools: []realtime.Tool{{Type: "function", Name: "open_document", Description: "opens", Parameters: realtime.Raw(`{"type":"object"}`)}},
		Session: realtime.Session{Audio: &realtime.Audio{Input: &realtime.AudioInput{
			TurnDetection: realtime.Some(realtime.TurnDetection{Type: realtime.ServerVAD})}}}}
}

// threads is a store in a file, written to for as long as the bubble lives.
func threads(t *testing.T, path string) *thread.Store {
	t.Helper()
	s, err := thread.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait(); _ = s.Close() })
	return s
}

var near = vnettest.Link{Delay: 20 * time.Millisecond}

func TestAPersonSpeaksAndIsAnswered(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 300 * time.Millisecond, Text: "Good morning to you.", Audio: 2 * time.Second})
		w.Provider.Hears("good morning")
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(1200 * time.Millisecond)
		turn := calltest.Await[*realtime.HovorTurn](b, 5*time.Second, nil)
		if turn.Mode != "open" || turn.Outcome != "answered" {
			t.Errorf("turn %+v", turn)
		}
		l := turn.LatencyMS
		// 500 ms of silence make a turn, seen at the end of a 32 ms window; then two ways of 20 ms and 300 ms of thought.
		if e := *l.Endpointing; e < 490 || e > 620 {
			t.Errorf("endpointing %d ms", e)
		}
		if f := *l.ProviderFirstAudio; f != 340 {
			t.Errorf("provider's first audio after %d ms, want exactly 340", f)
		}
		if *l.Total != *l.Endpointing+*l.ProviderFirstAudio {
			t.Errorf("total %d ms: the gateway added %d", *l.Total, *l.Total-*l.Endpointing-*l.ProviderFirstAudio)
		}
		heard := calltest.Await[*realtime.HovorHeard](b, 5*time.Second, nil)
		if !heard.Complete || heard.Text != "Good morning to you." || heard.AudioMS != 2000 {
			t.Errorf("heard %+v", heard)
		}
		if n := len(b.Heard()); n != 100 {
			t.Errorf("%d packets arrived, want 100", n)
		}
		started, committed := calltest.Of[*realtime.InputAudioBufferSpeechStarted](b)[0], calltest.Of[*realtime.InputAudioBufferCommitted](b)[0]
		said := calltest.Of[*realtime.ConversationItemInputAudioTranscriptionCompleted](b)[0]
		if started.ItemID != committed.ItemID || said.ItemID != started.ItemID || said.Transcript != "good morning" {
			t.Errorf("one item, three names: %s %s %s", started.ItemID, committed.ItemID, said.ItemID)
		}
		inOrder(t, b, "session.created", "hovor.call", "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
			"response.created", "response.content_part.added", "output_audio_buffer.started", "response.done", "output_audio_buffer.stopped")
	})
}

// inOrder checks that events of these types came in this order.
func inOrder(t *testing.T, b *calltest.Browser, types ...string) {
	t.Helper()
	var got []string
	for _, ev := range b.Events() {
		got = append(got, ev.EventType())
	}
	rest := got
	for _, want := range types {
		i := slices.Index(rest, want)
		if i < 0 {
			t.Fatalf("no %s in its place in\n%s", want, strings.Join(got, "\n"))
		}
		rest = rest[i+1:]
	}
}

func TestTalkingOverTheAssistant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := threads(t, filepath.Join(t.TempDir(), "threads.db"))
		w := calltest.New(t, calltest.Options{Link: near, Upstream: near, Assistant: assistant(), Threads: store})
		w.Provider.Will(calltest.Script{Think: 200 * time.Millisecond, Text: strings.Repeat("and another word ", 20), Audio: 20 * time.Second},
			calltest.Script{Think: 100 * time.Millisecond, Text: "Fine, I am quiet.", Audio: time.Second})
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(time.Second)
		calltest.Await[*realtime.OutputAudioBufferStarted](b, 5*time.Second, nil)
		time.Sleep(4 * time.Second)
		onset := time.Now()
		b.Begin(1500 * time.Millisecond)
		calltest.Await[*realtime.OutputAudioBufferCleared](b, 2*time.Second, nil)
		time.Sleep(300 * time.Millisecond)
		var last time.Time
		for _, p := range b.Heard() {
			last = p.At
		}
		if silent := last.Sub(onset); silent > 300*time.Millisecond {
			t.Errorf("the assistant spoke on for %v", silent)
		}
		heard := calltest.Await[*realtime.HovorHeard](b, time.Second, nil)
		if heard.Complete || heard.AudioMS < 3800 || heard.AudioMS > 4300 {
			t.Errorf("heard %+v", heard)
		}
		words := len(strings.Fields(heard.Text))
		if words == 0 || words > 13 { // 60 words in 20 s: four seconds hold twelve
			t.Errorf("%d words heard: %q", words, heard.Text)
		}
		calltest.Await[*realtime.OutputAudioBufferStarted](b, 6*time.Second, func(e *realtime.OutputAudioBufferStarted) bool {
			return len(calltest.Of[*realtime.OutputAudioBufferStarted](b)) == 2
		})
		time.Sleep(3 * time.Second)
		first := b.Heard()[0].Response
		second := false
		for _, p := range b.Heard() {
			second = second || p.Response != first
			if second && p.Response == first {
				t.Error("a stale frame left")
			}
		}
		if n := len(b.Heard()); !second || b.Heard()[n-1].Frame != 50 {
			t.Error("the second answer was not heard to its end")
		}
		done := calltest.Of[*realtime.ResponseDone](b)[0].Response
		if done.Status != "cancelled" || done.StatusDetails.Reason != "turn_detected" {
			t.Errorf("response.done %+v", done.StatusDetails)
		}
		if cut := calltest.Of[*realtime.ConversationItemTruncated](b); len(cut) != 1 || cut[0].AudioEndMS != heard.AudioMS {
			t.Errorf("truncated %+v, heard %d", cut, heard.AudioMS)
		}
		inOrder(t, b, "output_audio_buffer.started", "input_audio_buffer.speech_started", "response.done", "output_audio_buffer.cleared", "conversation.item.truncated", "input_audio_buffer.committed")
		id := calltest.Of[*realtime.HovorCall](b)[0].ThreadID
		th, err := store.Get(context.Background(), "alice", id)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, it := range th.Items {
			kept = append(kept, string(it.Role)+": "+string(it.Text))
		}
		want := []string{"user: something", "assistant: " + heard.Text, "user: something", "assistant: Fine, I am quiet."}
		if !slices.Equal(kept, want) {
			t.Errorf("the thread holds %q, want %q", kept, want)
		}
	})
}

func TestRelayAddsNoTime(t *testing.T) {
	const toBrowser, toProvider = 30 * time.Millisecond, 17 * time.Millisecond
	live(t, calltest.Options{Link: vnettest.Link{Delay: toBrowser}, Upstream: vnettest.Link{Delay: toProvider}}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Text: "A long answer.", Audio: 10 * time.Second})
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(time.Second)
		calltest.Await[*realtime.OutputAudioBufferStopped](b, 20*time.Second, nil)
		for _, p := range b.Heard() {
			if p.Age != toBrowser+toProvider {
				t.Fatalf("frame %d took %v, the wires take %v", p.Frame, p.Age, toBrowser+toProvider)
			}
		}
		b.Mute(true)
		time.Sleep(time.Second)
		sent, came := b.Sent(), w.Provider.Last().Arrivals()
		if len(came) < 400 || len(b.Heard()) != 500 {
			t.Fatalf("%d packets up, %d down", len(came), len(b.Heard()))
		}
		for i := 1; i <= len(came)-1; i++ {
			if d := came[len(came)-i].Sub(sent[len(sent)-i]); d != toBrowser+toProvider {
				t.Fatalf("packet %d from the end took %v up, the wires take %v", i, d, toBrowser+toProvider)
			}
		}
	})
}

func TestAMinuteOverABadNetworkEndsClean(t *testing.T) {
	bad := vnettest.Link{Delay: 25 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02}
	live(t, calltest.Options{Link: bad, Upstream: bad, Seed: 4}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 200 * time.Millisecond, Text: "Here is an answer of some length.", Audio: 2 * time.Second})
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 10*time.Second, nil)
		for begin := time.Now(); time.Since(begin) < time.Minute; {
			b.Speak(900 * time.Millisecond)
			time.Sleep(5 * time.Second)
		}
		turns := calltest.Of[*realtime.HovorTurn](b)
		if len(turns) < 10 {
			t.Errorf("%d turns in a minute", len(turns))
		}
		for _, turn := range turns {
			if turn.Outcome != "answered" {
				t.Errorf("turn %+v", turn)
			}
		}
		if e := calltest.Of[*realtime.ErrorEvent](b); len(e) > 0 {
			t.Errorf("error %+v", e[0].Error)
		}
		if err := b.Hangup(context.Background()); err != nil {
			t.Error(err)
		}
		if end := calltest.Await[*realtime.HovorEnded](b, 4*time.Second, nil); end.Reason != "hangup" {
			t.Errorf("ended %+v", end)
		}
		w.Within(3*time.Second, "the provider is left", w.Provider.Last().Ended)
	})
}

func TestPushToTalkOverTheWire(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 200 * time.Millisecond, Text: "A rather long story about nothing.", Audio: 8 * time.Second})
		b := w.Dial()
		b.Tell(&realtime.SessionUpdate{Session: realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}}})
		calltest.Await[*realtime.SessionUpdated](b, time.Second, nil)
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(2 * time.Second)
		time.Sleep(2 * time.Second)
		if n := len(calltest.Of[*realtime.InputAudioBufferSpeechStarted](b)); n != 0 {
			t.Errorf("speech without the button was reported %d times", n)
		}
		press := func(d time.Duration) {
			b.Tell(&realtime.InputAudioBufferClear{})
			b.Speak(d)
			b.Tell(&realtime.InputAudioBufferCommit{EventID: "release"})
			b.Tell(&realtime.ResponseCreate{})
		}
		press(time.Second)
		turn := calltest.Await[*realtime.HovorTurn](b, 5*time.Second, nil)
		if turn.Mode != "ptt" || *turn.LatencyMS.Endpointing > 100 {
			t.Errorf("turn %+v after %d ms", turn, *turn.LatencyMS.Endpointing)
		}
		time.Sleep(3 * time.Second)
		before := len(b.Heard())
		b.Tell(&realtime.InputAudioBufferClear{}) // press: the assistant is silent one way later
		time.Sleep(40 * time.Millisecond)
		b.Speak(500 * time.Millisecond)
		if n := len(b.Heard()) - before; n > 3 {
			t.Errorf("%d frames after the press", n)
		}
		b.Tell(&realtime.InputAudioBufferCommit{})
		b.Tell(&realtime.ResponseCreate{})
		calltest.Await[*realtime.HovorTurn](b, 5*time.Second, func(x *realtime.HovorTurn) bool { return x.Outcome == "answered" && x.TurnID != turn.TurnID })
		if e := calltest.Of[*realtime.ErrorEvent](b); len(e) > 0 {
			t.Errorf("error %+v", e[0].Error)
		}
		b.Tell(&realtime.InputAudioBufferClear{})
		b.Tell(&realtime.InputAudioBufferCommit{EventID: "tap"})
		if e := calltest.Await[*realtime.ErrorEvent](b, time.Second, nil).Error; e.Code != "input_audio_buffer_commit_empty" || e.EventID != "tap" {
			t.Errorf("error %+v", e)
		}
	})
}

func TestTypedWordsAreOfTheSameThread(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 200 * time.Millisecond, Text: "First answer.", Audio: 10 * time.Second},
			calltest.Script{Think: 200 * time.Millisecond, Text: "Second answer.", Audio: time.Second})
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(time.Second)
		calltest.Await[*realtime.HovorTurn](b, 5*time.Second, nil)
		time.Sleep(time.Second)
		b.Tell(&realtime.ConversationItemCreate{Item: realtime.UserText("Otevři ceník.")})
		b.Tell(&realtime.ResponseCreate{EventID: "typed"})
		typed := calltest.Await[*realtime.HovorTurn](b, 5*time.Second, func(x *realtime.HovorTurn) bool { return x.Mode == "text" })
		if typed.Outcome != "answered" || typed.LatencyMS.Endpointing != nil {
			t.Errorf("turn %+v", typed)
		}
		time.Sleep(3 * time.Second)
		outcomes := map[string]string{}
		for _, x := range calltest.Of[*realtime.HovorTurn](b) {
			outcomes[x.Mode] = x.Outcome
		}
		if outcomes["open"] != "interrupted" || outcomes["text"] != "answered" {
			t.Errorf("outcomes %v", outcomes)
		}
	})
}

// outputs is a tool path that has recorded one call.
type outputs map[string]string

func (o outputs) RecordedOutput(_, callID string) (string, bool) { s, ok := o[callID]; return s, ok }

func TestATamperedToolOutputDoesNotReachTheModel(t *testing.T) {
	const truth = `{"status":"not_found"}`
	for name, c := range map[string]struct{ sent, want string }{
		"honest":   {truth, truth},
		"tampered": {`{"status":"ok"}`, `"status":"invalid"`},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, calltest.Options{Link: near, Upstream: near, Recorded: outputs{"call_1": truth}}, func(t *testing.T, w *calltest.World) {
				w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, CallName: "open_document", CallID: "call_1", CallArgs: `{"id":"welcome"}`},
					calltest.Script{Think: 100 * time.Millisecond, Text: "There is none.", Audio: time.Second})
				b := w.Dial()
				calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
				b.Speak(time.Second)
				fc := calltest.Await[*realtime.ResponseOutputItemDone](b, 5*time.Second, nil).Item
				b.Tell(&realtime.ConversationItemCreate{Item: realtime.FunctionCallOutput(fc.CallID, c.sent)})
				b.Tell(&realtime.ResponseCreate{}) // before response.done is seen: it waits its turn
				turn := calltest.Await[*realtime.HovorTurn](b, 5*time.Second, nil)
				if turn.Outcome != "answered" {
					t.Errorf("turn %+v", turn)
				}
				var got string
				for _, ev := range w.Provider.Last().Events() {
					if ev, ok := ev.(*realtime.ConversationItemCreate); ok && ev.Item.Output != nil {
						got = *ev.Item.Output
					}
				}
				if !strings.Contains(got, c.want) {
					t.Errorf("the model was given %s", got)
				}
			})
		})
	}
}

func TestAVanishedProviderIsNoticedAndTheThreadGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := threads(t, filepath.Join(t.TempDir(), "threads.db"))
		w := calltest.New(t, calltest.Options{Link: near, Upstream: near, Assistant: assistant(), Threads: store})
		w.Provider.Will(calltest.Script{Think: 200 * time.Millisecond, Text: strings.Repeat("word after word ", 30), Audio: 30 * time.Second})
		w.Provider.Hears("tell me a story")
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(time.Second)
		calltest.Await[*realtime.HovorTurn](b, 5*time.Second, nil)
		time.Sleep(5 * time.Second)
		w.Net.SetBoth(w.Hosts[1], w.Hosts[2], vnettest.Link{Down: true}) // as kill -9 does
		gone := time.Now()
		end := calltest.Await[*realtime.HovorEnded](b, 3*time.Second, nil)
		t.Logf("noticed after %v", time.Since(gone))
		if end.Reason != "provider_lost" || end.Message == "" {
			t.Errorf("ended %+v", end)
		}
		if p := calltest.Await[*realtime.HovorProvider](b, time.Second, func(p *realtime.HovorProvider) bool { return p.State == "lost" }); p.Reason != "lost" {
			t.Errorf("provider %+v", p)
		}
		b.Leave()
		w.Net.SetBoth(w.Hosts[1], w.Hosts[2], near)
		time.Sleep(20 * time.Second)

		w.Options.ThreadID = calltest.Of[*realtime.HovorCall](b)[0].ThreadID
		b = w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		var history []string
		for _, ev := range w.Provider.Last().Events() {
			if ev, ok := ev.(*realtime.ConversationItemCreate); ok {
				history = append(history, ev.Item.Role+": "+ev.Item.TextOf())
			}
		}
		if len(history) != 2 || history[0] != "user: tell me a story" || !strings.HasPrefix(history[1], "assistant: word after word") || len(history[1]) > 120 {
			t.Errorf("the new call was told %q", history)
		}
		if id := calltest.Of[*realtime.HovorCall](b)[0].ThreadID; id != w.Options.ThreadID {
			t.Errorf("the thread is %q now", id)
		}
	})
}

func TestALiveProviderIsNotTakenForDead(t *testing.T) {
	bad := vnettest.Link{Delay: 60 * time.Millisecond, Jitter: 50 * time.Millisecond, Loss: 0.05}
	live(t, calltest.Options{Link: near, Upstream: bad, Seed: 11}, func(t *testing.T, w *calltest.World) {
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 10*time.Second, nil)
		time.Sleep(5 * time.Minute) // nobody speaks, the provider sends no audio
		if end := calltest.Of[*realtime.HovorEnded](b); len(end) > 0 {
			t.Errorf("ended %+v", end[0])
		}
	})
}

func TestALeftPageEndsTheProvidersCall(t *testing.T) {
	for name, leave := range map[string]func(w *calltest.World, b *calltest.Browser){
		"closed": func(_ *calltest.World, b *calltest.Browser) { b.Leave() },
		"cable pulled": func(w *calltest.World, b *calltest.Browser) {
			w.Net.SetBoth(w.Hosts[0], w.Hosts[1], vnettest.Link{Down: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
				b := w.Dial()
				calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
				leave(w, b)
				d := w.Within(20*time.Second, "the provider is left", w.Provider.Last().Ended)
				t.Logf("the provider's call ended after %v", d)
				if w.Manager.Len() != 0 {
					w.Within(5*time.Second, "the call is gone", func() bool { return w.Manager.Len() == 0 })
				}
			})
		})
	}
}

func TestAProviderThatRefusesIsNamed(t *testing.T) {
	for _, c := range []struct {
		status int
		class  string
	}{{401, "unauthorized"}, {429, "rate_limited"}, {500, "overloaded"}, {400, "rejected"}} {
		live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
			w.Provider.Refuse(&realtime.Error{Status: c.status, Type: "x", Code: "y", Message: http.StatusText(c.status)})
			b, err := w.TryDial()
			if err != nil {
				t.Fatal(err)
			}
			end := calltest.Await[*realtime.HovorEnded](b, 3*time.Second, nil)
			if end.Reason != "provider_unavailable" || end.Message == "" {
				t.Errorf("%d: ended %+v", c.status, end)
			}
		})
	}
}

func TestAFullOrDrainingNodeSaysSo(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near, MaxCalls: 1}, func(t *testing.T, w *calltest.World) {
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		if _, err := w.TryDial(); err == nil || !strings.Contains(err.Error(), "busy") {
			t.Errorf("second call: %v", err)
		}
		var drained sync.WaitGroup
		drained.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if cut := w.Manager.Drain(ctx); cut != 1 {
				t.Errorf("%d calls were cut", cut)
			}
		})
		time.Sleep(time.Second)
		if _, err := w.TryDial(); err == nil || !strings.Contains(err.Error(), "restart") {
			t.Errorf("while draining: %v", err)
		}
		if end := calltest.Await[*realtime.HovorEnded](b, 12*time.Second, nil); end.Reason != "drain_deadline" {
			t.Errorf("ended %+v", end)
		}
		drained.Wait()
	})
}

func TestAScreenRequestReachesThePage(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		c, err := w.Manager.Get("alice", b.CallID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Manager.Get("bob", b.CallID()); err == nil {
			t.Error("bob found alice's call")
		}
		if err := c.Screen(tools.ScreenRequest{RequestID: "scr_1", CallID: "call_1", Epoch: 3, Tool: "open_document", Arguments: []byte(`{"id":"welcome"}`), ExpiresIn: 7 * time.Second}); err != nil {
			t.Fatal(err)
		}
		r := calltest.Await[*realtime.HovorScreenRequest](b, time.Second, nil)
		if r.RequestID != "scr_1" || r.ExpiresInMS != 7000 || string(r.Arguments) != `{"id":"welcome"}` {
			t.Errorf("request %+v", r)
		}
	})
}

func TestThirtyInterruptions(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 150 * time.Millisecond, Text: strings.Repeat("and so on ", 40), Audio: 20 * time.Second})
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(800 * time.Millisecond)
		var took []time.Duration
		for i := range 30 {
			before := len(b.Heard())
			w.Within(5*time.Second, "an answer", func() bool { return len(b.Heard()) > before+20 })
			time.Sleep(time.Second + time.Duration(i)*7*time.Millisecond)
			onset, speaking := time.Now(), b.Heard()[len(b.Heard())-1].Response
			b.Begin(700 * time.Millisecond)
			time.Sleep(time.Second)
			var last time.Time
			for _, p := range b.Heard() {
				if p.Response == speaking {
					last = p.At
				}
			}
			took = append(took, last.Sub(onset))
		}
		slices.Sort(took)
		p50, p95 := took[len(took)/2], took[len(took)*95/100]
		t.Logf("onset to last packet at the browser, 30 tries over 2 × 20 ms: p50 %v, p95 %v, max %v", p50, p95, took[len(took)-1])
		if p50 > 300*time.Millisecond || p95 > 450*time.Millisecond {
			t.Errorf("too slow")
		}
		seen := map[uint32]bool{}
		var now uint32
		for _, p := range b.Heard() {
			if p.Response != now && seen[p.Response] {
				t.Fatal("a stale frame left")
			}
			now = p.Response
			seen[now] = true
		}
	})
}
