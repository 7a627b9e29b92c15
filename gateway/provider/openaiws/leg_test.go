package openaiws_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance/fake"
	"hovor/gateway/provider/openaiws"
	"hovor/signaling/realtime"
)

// room is one leg to a fake provider, in a bubble.
type room struct {
	*fake.OpenAI
	t    *testing.T
	leg  provider.Leg
	in   *fake.Sink
	stop func()
}

func setup(s realtime.Session, past ...realtime.Item) provider.Setup {
	return provider.Setup{Session: s, Model: "gpt-realtime", CallID: "rtc_test", History: past}
}

// bubble runs f with an open leg.
func bubble(t *testing.T, s provider.Setup, prepare func(o *fake.OpenAI, c *openaiws.Config), f func(r *room)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := fake.NewOpenAI(t)
		o.Net.Delay = 10 * time.Millisecond
		leg, in, stop := dial(t, o, s, prepare)
		f(&room{o, t, leg, in, stop})
		stop()
		if n := len(in.Closed()); n != 1 {
			t.Errorf("the end was told %d times", n)
		}
	})
}

func dial(t *testing.T, o *fake.OpenAI, s provider.Setup, prepare func(o *fake.OpenAI, c *openaiws.Config)) (provider.Leg, *fake.Sink, func()) {
	t.Helper()
	in := &fake.Sink{}
	leg, err := to(o, func(c *openaiws.Config) {
		if prepare != nil {
			prepare(o, c)
		}
	}).Dial(t.Context(), s, in)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = leg.Run(ctx) })
	stop := sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(stop)
	return leg, in, stop
}

func (r *room) send(events ...realtime.Event) {
	r.t.Helper()
	for _, ev := range events {
		if err := r.leg.Send(ev); err != nil {
			r.t.Fatalf("send %s: %v", ev.EventType(), err)
		}
	}
}

func (r *room) ask(words string) {
	r.t.Helper()
	r.send(&realtime.ConversationItemCreate{Item: realtime.UserText(words)}, &realtime.ResponseCreate{EventID: "ask"})
}

// speak sends that much of a tone.
func (r *room) speak(from int, d time.Duration) (next int) {
	voice := tone(r.t)
	for range int(d / (20 * time.Millisecond)) {
		if err := r.leg.WriteRTP(voice(from)); err != nil {
			r.t.Fatal(err)
		}
		from++
		time.Sleep(20 * time.Millisecond)
	}
	return from
}

func TestTheSessionAsksForPCMAndNoBetaHeaderIsSent(t *testing.T) {
	bubble(t, setup(manual()), nil, func(r *room) {
		update := r.OpenAI.Events("session.update")[0]
		s := update["session"].(map[string]any)
		audio := s["audio"].(map[string]any)
		for _, way := range []string{"input", "output"} {
			f, _ := audio[way].(map[string]any)["format"].(map[string]any)
			if f["type"] != "audio/pcm" || f["rate"] != 24000.0 {
				t.Errorf("%s format %v", way, f)
			}
		}
		if d, ok := audio["input"].(map[string]any)["turn_detection"]; !ok || d != nil {
			t.Errorf("turn_detection %v", d)
		}
		h := r.Headers()[0]
		if h.Get("OpenAI-Beta") != "" || h.Get("Authorization") != "Bearer sk-test" || !strings.Contains(r.URLs()[0], "model=gpt-realtime") {
			t.Errorf("handshake %v %s", h, r.URLs()[0])
		}
	})
}

func TestWhatThePersonSaysIsAppendedInItsOrder(t *testing.T) {
	bubble(t, setup(manual()), nil, func(r *room) {
		next := r.speak(0, time.Second)
		time.Sleep(50 * time.Millisecond)
		if d := len(r.Audio()) / 48; d < 980 || d > 1020 {
			t.Errorf("%d ms arrived of a second", d)
		}
		r.send(&realtime.InputAudioBufferCommit{EventID: "commit"}, &realtime.ResponseCreate{EventID: "create"})
		time.Sleep(100 * time.Millisecond)
		var order []string
		for _, e := range r.OpenAI.Events("") {
			order = append(order, e["type"].(string))
		}
		if i, k := slices.Index(order, "input_audio_buffer.commit"), slices.Index(order, "response.create"); i < 0 || k < i {
			t.Errorf("order %v", order)
		}
		_ = next
	})
}

func TestAnInterruptedAnswerIsCutAtWhatWasPlayed(t *testing.T) {
	for _, c := range []struct {
		name       string
		asked      int
		want, skip bool
		end        int
	}{
		{"at what was heard", 300, true, false, 300},
		{"not behind what was played", 5000, true, false, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, setup(manual()), nil, func(r *room) {
				r.Will(fake.Script{Think: 100 * time.Millisecond, Text: "one two three four five six", Audio: 3 * time.Second})
				r.ask("go")
				for fake.Last[*realtime.OutputAudioBufferStarted](r.in) == nil {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(490 * time.Millisecond) // 25 frames
				item := fake.Last[*realtime.ResponseContentPartAdded](r.in)
				r.send(&realtime.ResponseCancel{EventID: "c", ResponseID: item.ResponseID}, &realtime.OutputAudioBufferClear{EventID: "o"},
					&realtime.ConversationItemTruncate{EventID: "t", ItemID: item.ItemID, AudioEndMS: c.asked})
				n := len(r.in.Packets())
				time.Sleep(2 * time.Second)
				if len(r.in.Packets()) != n {
					t.Errorf("%d stale packets", len(r.in.Packets())-n)
				}
				up := r.OpenAI.Events("conversation.item.truncate")
				if len(up) != 1 || int(up[0]["audio_end_ms"].(float64)) != c.end {
					t.Errorf("truncated upstream: %v, want %d", up, c.end)
				}
				if e := fake.Last[*realtime.ErrorEvent](r.in); e != nil && e.Error.EventID == "t" {
					t.Errorf("error %v", e.Error)
				}
				if len(r.OpenAI.Events("output_audio_buffer.clear")) != 0 {
					t.Error("output_audio_buffer.clear went upstream")
				}
			})
		})
	}
}

func TestATruncateWithNothingToCutStaysHere(t *testing.T) {
	bubble(t, setup(manual()), nil, func(r *room) {
		r.Will(fake.Script{Text: "short", Audio: 400 * time.Millisecond}, fake.Script{Text: "written"})
		r.ask("go")
		time.Sleep(2 * time.Second)
		spoken := fake.Last[*realtime.ResponseContentPartAdded](r.in).ItemID
		r.ask("write")
		time.Sleep(time.Second)
		written := fake.Last[*realtime.ResponseContentPartAdded](r.in).ItemID
		r.send(&realtime.ConversationItemTruncate{EventID: "whole", ItemID: spoken, AudioEndMS: 400},
			&realtime.ConversationItemTruncate{EventID: "silent", ItemID: written, AudioEndMS: 100})
		time.Sleep(100 * time.Millisecond)
		if up := r.OpenAI.Events("conversation.item.truncate"); len(up) != 0 {
			t.Errorf("sent upstream: %v", up)
		}
		if e := fake.Last[*realtime.ConversationItemTruncated](r.in); e == nil || e.ItemID != written || e.AudioEndMS != 0 {
			t.Errorf("answered %+v", e)
		}
	})
}

func TestAProviderThatFindsTheTurnsIsToldWhatWasHeard(t *testing.T) {
	s := manual()
	s.Audio.Input.TurnDetection = realtime.Some(realtime.TurnDetection{Type: realtime.ServerVAD})
	bubble(t, setup(s), nil, func(r *room) {
		r.Will(fake.Script{Think: 100 * time.Millisecond, Text: "a long answer", Audio: 3 * time.Second, Pace: 90 * time.Millisecond})
		r.leg.(provider.Playout).SetPlayout(100 * time.Millisecond)
		r.ask("go")
		for len(r.in.Packets()) < 50 {
			time.Sleep(time.Millisecond)
		}
		r.SpeechStarted()
		time.Sleep(11 * time.Millisecond)
		n := len(r.in.Packets())
		time.Sleep(time.Second)
		if len(r.in.Packets()) != n {
			t.Errorf("%d stale packets", len(r.in.Packets())-n)
		}
		types := r.in.Types()
		i, k, m := slices.Index(types, "input_audio_buffer.speech_started"), slices.Index(types, "response.done"), slices.Index(types, "output_audio_buffer.cleared")
		if i < 0 || k < i || m < k || slices.Contains(types, "output_audio_buffer.stopped") {
			t.Errorf("order: %v", types)
		}
		up := r.OpenAI.Events("conversation.item.truncate")
		if len(up) != 1 {
			t.Fatalf("truncated %v", up)
		}
		if heard := int(up[0]["audio_end_ms"].(float64)); heard < 880 || heard > 920 { // a second was played, a tenth waits in the client
			t.Errorf("truncated at %d ms, the person heard 900", heard)
		}
	})
}

func TestASessionIsRenewedBeforeItsEndAtAQuietMoment(t *testing.T) {
	prepare := func(o *fake.OpenAI, c *openaiws.Config) { o.Expires(60 * time.Second); c.Limit = 60 * time.Second }
	bubble(t, setup(manual(), realtime.UserText("from last week")), prepare, func(r *room) {
		r.Will(fake.Script{Text: "the answer", Audio: time.Second}, fake.Script{Text: "a very long answer", Audio: 8 * time.Second, Pace: 95 * time.Millisecond},
			fake.Script{Text: "after", Audio: time.Second})
		r.ask("the question")
		time.Sleep(52 * time.Second)
		r.ask("and more") // speaks over the moment at which a quiet one is looked for
		time.Sleep(5 * time.Second)
		if r.Count() != 1 {
			t.Error("renewed in the middle of an answer")
		}
		time.Sleep(6 * time.Second)
		if r.Count() != 2 {
			t.Fatalf("%d connections; notices %v", r.Count(), r.in.Notices())
		}
		var kinds []provider.NoticeKind
		for _, n := range r.in.Notices() {
			kinds = append(kinds, n.Kind)
			if n.Cause != nil {
				t.Errorf("not of our own will: %v", n.Cause)
			}
		}
		if !slices.Equal(kinds, []provider.NoticeKind{provider.Expiring, provider.Renewing, provider.Renewed}) {
			t.Errorf("notices %v", kinds)
		}
		for _, words := range []string{"from last week", "the question", "the answer", "and more", "a very long answer"} {
			if !strings.Contains(r.Told(), words) {
				t.Errorf("the new connection does not know %q", words)
			}
		}
		before := len(r.in.Packets())
		r.ask("still there?")
		time.Sleep(2 * time.Second)
		if n := len(r.in.Packets()) - before; n < 50 || n > 52 {
			t.Errorf("%d packets for a second after the renewal", n)
		}
	})
}

func TestWhatIsSaidWhileTheConnectionIsGoneIsKept(t *testing.T) {
	bubble(t, setup(manual()), nil, func(r *room) {
		next := r.speak(0, 400*time.Millisecond)
		r.Refuse(503, "", "restarting")
		r.Cut()
		next = r.speak(next, 100*time.Millisecond)
		r.Refuse(0, "", "")
		r.speak(next, time.Second)
		r.send(&realtime.InputAudioBufferCommit{EventID: "commit"}, &realtime.ResponseCreate{EventID: "create"})
		time.Sleep(3 * time.Second)
		if fake.Last[*realtime.InputAudioBufferCommitted](r.in) == nil || fake.Last[*realtime.ResponseDone](r.in) == nil {
			t.Fatalf("the turn was lost: %v, %v", r.in.Types(), r.in.Notices())
		}
		// On the new connection: all 1.5 s, although 0.4 s had gone to the old one.
		done := fake.Last[*realtime.ConversationItemInputAudioTranscriptionCompleted](r.in)
		if done == nil || done.Usage.Seconds < 1.48 || done.Usage.Seconds > 1.52 {
			t.Errorf("the new connection heard %+v", done)
		}
		if n := len(r.OpenAI.Events("response.create")); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestAQuestionThatWasNotTakenIsAskedAgain(t *testing.T) {
	bubble(t, setup(manual()), nil, func(r *room) {
		r.Mangle(func(int, []byte) [][]byte { return nil }) // it says nothing any more
		r.ask("are you there?")
		time.Sleep(100 * time.Millisecond)
		r.Mangle(nil)
		r.Cut()
		time.Sleep(3 * time.Second)
		if done := fake.Last[*realtime.ResponseDone](r.in); done == nil || done.Response.Status != realtime.StatusCompleted {
			t.Errorf("no answer: %v", r.in.Types())
		}
		items := 0
		for _, e := range r.in.Events() {
			if _, ok := e.(*realtime.ConversationItemAdded); ok {
				items++
			}
		}
		if items != 2 {
			t.Errorf("%d items: %v", items, r.in.Types())
		}
	})
}

func TestAProviderThatFlapsIsGivenUp(t *testing.T) {
	bubble(t, setup(manual()), nil, func(r *room) {
		for range 8 {
			if len(r.in.Closed()) > 0 {
				break
			}
			r.Cut()
			time.Sleep(2 * time.Second)
		}
		if c := r.in.Closed(); len(c) != 1 || provider.AsError(c[0]).Class != provider.Lost {
			t.Errorf("closed %v after %d connections", c, r.Count())
		}
	})
}

func TestAFixedLegIsNotRenewed(t *testing.T) {
	bubble(t, setup(manual()), func(_ *fake.OpenAI, c *openaiws.Config) { c.Fixed = true }, func(r *room) {
		r.Hang(1001, "session_expired")
		time.Sleep(time.Second)
		if c := r.in.Closed(); len(c) != 1 || provider.AsError(c[0]).Class != provider.Expired || r.Count() != 1 {
			t.Errorf("closed %v after %d connections", c, r.Count())
		}
	})
}

func TestFieldsThatTheProviderRefusesAreLeftOut(t *testing.T) {
	s := manual()
	s.Tracing = realtime.Some(realtime.Tracing{Auto: true})
	s.Audio.Input.NoiseReduction = realtime.Some(realtime.NoiseReduction{Type: "near_field"})
	prepare := func(o *fake.OpenAI, _ *openaiws.Config) { o.Unknown("tracing", "audio.input.noise_reduction") }
	bubble(t, setup(s), prepare, func(r *room) {
		if n := len(r.OpenAI.Events("session.update")); n != 3 {
			t.Errorf("%d updates", n)
		}
		r.in.Forget()
		r.send(&realtime.SessionUpdate{EventID: "mine", Session: realtime.Session{Type: "realtime", Tracing: realtime.Some(realtime.Tracing{Auto: true})}})
		time.Sleep(100 * time.Millisecond)
		if fake.Last[*realtime.SessionUpdated](r.in) == nil {
			t.Errorf("a later update was refused: %v", r.in.Types())
		}
	})
}

func TestARefusedSessionIsARejectedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fake.NewOpenAI(t)
		o.Unknown("type")
		_, err := to(o).Dial(t.Context(), setup(manual()), &fake.Sink{})
		if e := provider.AsError(err); e == nil || e.Class != provider.Rejected || e.Code != "unknown_parameter" {
			t.Errorf("dial gave %v", err)
		}
	})
}

func TestAMomentaryRefusalIsWaitedOut(t *testing.T) {
	for _, c := range []struct {
		status int
		after  string
		body   string
		waits  time.Duration
		class  provider.Class // "" = it gets in
	}{
		{429, "3", `{"error":{"code":"rate_limit_exceeded"}}`, 3 * time.Second, ""},
		{429, "30", `{"error":{"code":"rate_limit_exceeded"}}`, 0, provider.RateLimited}, // longer than anybody waits for a call
		{429, "3", `{"error":{"code":"insufficient_quota"}}`, 0, provider.RateLimited},
		{503, "", "", 180 * time.Millisecond, ""},
		{401, "", "", 0, provider.Unauthorized},
	} {
		t.Run(fmt.Sprint(c.status, c.after, c.class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := fake.NewOpenAI(t)
				first := true
				o.Handle(func(w http.ResponseWriter, _ *http.Request) bool {
					if !first {
						return false
					}
					first = c.class != ""
					w.Header().Set("Retry-After", c.after)
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
					return true
				})
				in := &fake.Sink{}
				begin := time.Now()
				leg, err := to(o).Dial(t.Context(), setup(manual()), in)
				took := time.Since(begin)
				if c.class != "" {
					if e := provider.AsError(err); e == nil || e.Class != c.class || e.Status != c.status || took != 0 || o.Net.Dials() != 1 {
						t.Errorf("dial gave %v after %v and %d tries", err, took, o.Net.Dials())
					}
					return
				}
				if err != nil || took < c.waits || took > c.waits+time.Second {
					t.Fatalf("dial gave %v after %v", err, took)
				}
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				_ = leg.Run(ctx)
			})
		})
	}
}

func TestAHalfOpenSocketIsNoticed(t *testing.T) {
	bubble(t, setup(manual()), func(_ *fake.OpenAI, c *openaiws.Config) { c.Fixed = true }, func(r *room) {
		time.Sleep(5 * time.Second)
		r.Net.Down(true)
		begin := time.Now()
		for len(r.in.Closed()) == 0 && time.Since(begin) < time.Minute {
			time.Sleep(10 * time.Millisecond)
		}
		if d := time.Since(begin); d > 4*time.Second {
			t.Errorf("noticed after %v", d)
		}
	})
}

func TestAProviderThatReadsSlowlyLosesAudioAndNothingElse(t *testing.T) {
	prepare := func(o *fake.OpenAI, c *openaiws.Config) { o.Mute(); o.Net.Window = 4 << 10; c.Fixed = true }
	bubble(t, setup(manual()), prepare, func(r *room) {
		r.Deaf()
		r.speak(0, 9*time.Second) // more than may wait
		lost := false
		for _, n := range r.in.Notices() {
			lost = lost || n.Kind == provider.AudioLost && n.Sentence() != ""
		}
		if !lost {
			t.Errorf("nobody was told: %v", r.in.Notices())
		}
		time.Sleep(time.Minute)
		if c := r.in.Closed(); len(c) != 1 || provider.AsError(c[0]).Class != provider.Lost {
			t.Errorf("closed %v", c)
		}
	})
}

func TestAProviderThatKnowsNoPingsIsNotDropped(t *testing.T) {
	bubble(t, setup(manual()), func(o *fake.OpenAI, _ *openaiws.Config) { o.Mute() }, func(r *room) {
		time.Sleep(20 * time.Second) // nothing is said
		if len(r.in.Closed()) != 0 || r.Count() != 1 {
			t.Errorf("closed %v, %d connections", r.in.Closed(), r.Count())
		}
	})
}

func TestBetaNamesOfOlderServersAreUnderstood(t *testing.T) {
	bubble(t, setup(manual()), nil, func(r *room) {
		r.Mangle(func(_ int, raw []byte) [][]byte {
			s := string(raw)
			for _, n := range []string{"audio.delta", "audio.done", "audio_transcript.delta", "audio_transcript.done"} {
				s = strings.ReplaceAll(s, `"response.output_`+n+`"`, `"response.`+n+`"`)
			}
			return [][]byte{[]byte(s)}
		})
		r.ask("go")
		time.Sleep(3 * time.Second)
		types := r.in.Types()
		if len(r.in.Packets()) < 50 || !slices.Contains(types, "response.output_audio_transcript.done") || !slices.Contains(types, "output_audio_buffer.stopped") {
			t.Errorf("%d packets, %v", len(r.in.Packets()), types)
		}
	})
}

func TestNothingPrintsTheCredential(t *testing.T) {
	cfg := openaiws.Config{Name: "x", BaseURL: "wss://host/v1/realtime", Key: func() string { return "sk-secret" }}
	if s := fmt.Sprintf("%v %+v %s", cfg, cfg, cfg); strings.Contains(s, "secret") {
		t.Error(s)
	}
}
