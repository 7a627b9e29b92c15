package gemini_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance/fake"
	"hovor/gateway/provider/gemini"
	"hovor/signaling/realtime"
)

// room is one leg to a fake Live, in a bubble.
type room struct {
	*fake.Gemini
	t   *testing.T
	leg provider.Leg
	in  *fake.Sink
}

func bubble(t *testing.T, s realtime.Session, prepare func(c *gemini.Config), f func(r *room)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := fake.NewGemini(t)
		g.Net.Delay = 10 * time.Millisecond
		in := &fake.Sink{}
		leg, err := to(g, func(c *gemini.Config) {
			if prepare != nil {
				prepare(c)
			}
		}).Dial(t.Context(), provider.Setup{Session: s, CallID: "rtc_test", History: []realtime.Item{realtime.UserText("from last week"), realtime.AssistantText("I remember")}}, in)
		if err != nil {
			t.Fatalf("dial: %v", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { _ = leg.Run(ctx) })
		stop := sync.OnceFunc(func() { cancel(); wg.Wait() })
		t.Cleanup(stop)
		f(&room{g, t, leg, in})
		stop()
		if n := len(in.Closed()); n != 1 {
			t.Errorf("the end was told %d times", n)
		}
	})
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

func (r *room) speak(d time.Duration) {
	voice := tone(r.t)
	for i := range int(d / (20 * time.Millisecond)) {
		if err := r.leg.WriteRTP(voice(i)); err != nil {
			r.t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// auto is a session whose turns Live finds.
func auto() realtime.Session {
	s := manual()
	silence := 400
	s.Audio.Input.TurnDetection = realtime.Some(realtime.TurnDetection{Type: realtime.ServerVAD, SilenceDurationMS: &silence})
	return s
}

func TestTheSetupSaysWhatTheSessionSays(t *testing.T) {
	s := manual()
	words := "Be brief."
	s.Instructions = &words
	s.Audio.Output = &realtime.AudioOutput{Voice: "Kore"}
	s.Tools = []realtime.Tool{{Type: "function", Name: "look_up", Description: "looks a word up", Parameters: []byte(`{"type":"object"}`)}}
	bubble(t, s, nil, func(r *room) {
		got := fmt.Sprint(r.Setups()[0])
		for _, want := range []string{"model:models/gemini-live", "Be brief.", "voiceName:Kore", "name:look_up", "parametersJsonSchema:map[type:object]",
			"disabled:true", "responseModalities:[AUDIO]", "inputAudioTranscription", "outputAudioTranscription", "sessionResumption", "slidingWindow"} {
			if !strings.Contains(got, want) {
				t.Errorf("the setup lacks %s: %s", want, got)
			}
		}
		if u := r.URLs()[0]; u != "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=AIza-test" {
			t.Errorf("URL %s", u)
		}
		time.Sleep(20 * time.Millisecond)
		if told := r.Told(); !strings.Contains(told, "from last week") || !strings.Contains(told, `"role":"model"`) || !strings.Contains(told, `"turnComplete":false`) {
			t.Errorf("the history: %s", told)
		}
		types := r.in.Types()
		if !slices.Equal(types, []string{"session.created", "session.updated"}) {
			t.Errorf("the client sees %v", types)
		}
	})
}

func TestASpokenTurnComesInTheOrderOfTheProtocol(t *testing.T) {
	bubble(t, manual(), nil, func(r *room) {
		r.Will(fake.Script{Think: 200 * time.Millisecond, Text: "Here is the answer.", Audio: time.Second})
		time.Sleep(3 * time.Second) // silence before does not belong to the turn
		r.speak(time.Second)
		r.in.Forget()
		r.send(&realtime.InputAudioBufferCommit{EventID: "commit"}, &realtime.ResponseCreate{EventID: "create"})
		time.Sleep(3 * time.Second)
		var got []string
		for _, ty := range r.in.Types() {
			if len(got) == 0 || got[len(got)-1] != ty {
				got = append(got, ty)
			}
		}
		want := []string{
			"input_audio_buffer.committed", "conversation.item.added", "conversation.item.done", "response.created",
			"conversation.item.input_audio_transcription.delta",
			"response.output_item.added", "conversation.item.added", "response.content_part.added", "output_audio_buffer.started",
			"response.output_audio_transcript.delta", "conversation.item.input_audio_transcription.completed",
			"response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done", "response.output_item.done",
			"conversation.item.done", "response.done", "output_audio_buffer.stopped",
		}
		if !slices.Equal(got, want) {
			t.Errorf("order:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if e := fake.Last[*realtime.ConversationItemInputAudioTranscriptionCompleted](r.in); e.Transcript != "something was said" || e.ItemID != fake.Last[*realtime.InputAudioBufferCommitted](r.in).ItemID {
			t.Errorf("the person said %+v", e)
		}
		if e := fake.Last[*realtime.ResponseOutputAudioTranscriptDone](r.in); e.Transcript != "Here is the answer." {
			t.Errorf("the assistant said %q", e.Transcript)
		}
		if ms := len(r.Audio()) / 32; ms < 980 || ms > 1420 { // a second, and at most the pre-roll
			t.Errorf("%d ms were sent", ms)
		}
		if n := len(r.in.Packets()); n < 50 || n > 52 {
			t.Errorf("%d packets", n)
		}
		u := r.in.Usage()
		if len(u) != 1 || !u[0].Told || u[0].Output.Audio != 25 || u[0].Input.Audio != 30 || u[0].AudioIn < 980*time.Millisecond {
			t.Errorf("usage %+v", u)
		}
	})
}

func TestInterruptionByLiveIsPassedOnAtOnce(t *testing.T) {
	bubble(t, auto(), nil, func(r *room) {
		if d := fmt.Sprint(r.Setups()[0]["realtimeInputConfig"]); !strings.Contains(d, "silenceDurationMs:400") || strings.Contains(d, "disabled") {
			t.Errorf("detection %s", d)
		}
		r.Will(fake.Script{Think: 100 * time.Millisecond, Text: "one two three four five six seven eight nine ten", Audio: 5 * time.Second})
		r.Speak("tell me")
		for len(r.in.Packets()) < 50 {
			time.Sleep(time.Millisecond)
		}
		r.Interrupt()
		time.Sleep(11 * time.Millisecond) // the way here
		n := len(r.in.Packets())
		types := r.in.Types()
		i := slices.Index(types, "input_audio_buffer.committed")
		order := []string{"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed"}
		if i < 2 || !slices.Equal(types[i-2:i+1], order) {
			t.Errorf("a turn that Live found: %v", types)
		}
		tail := types[len(types)-3:]
		if !slices.Contains(types, "output_audio_buffer.cleared") || !slices.Contains(tail, "conversation.item.truncated") {
			t.Errorf("not at once: %v", types)
		}
		time.Sleep(2 * time.Second)
		if len(r.in.Packets()) != n {
			t.Errorf("%d stale packets", len(r.in.Packets())-n)
		}
		if done := fake.Last[*realtime.ResponseDone](r.in); done.Response.Status != realtime.StatusCompleted && done.Response.StatusDetails.Reason != realtime.ReasonTurnDetected {
			t.Errorf("done %+v", done.Response)
		}
		r.Speak("and now")
		time.Sleep(8 * time.Second)
		if e := fake.Last[*realtime.OutputAudioBufferStopped](r.in); e == nil || e.ResponseID != fake.Last[*realtime.ResponseCreated](r.in).Response.ID {
			t.Error("the next turn did not go well")
		}
	})
}

func TestACancelledAnswerIsNotHeardInTheNext(t *testing.T) {
	bubble(t, manual(), nil, func(r *room) {
		r.Will(fake.Script{Text: "wrong wrong wrong wrong wrong wrong", Audio: 4 * time.Second, Pace: 90 * time.Millisecond}, fake.Script{Think: 300 * time.Millisecond, Text: "right", Audio: time.Second})
		r.ask("first")
		for len(r.in.Packets()) < 10 {
			time.Sleep(time.Millisecond)
		}
		r.send(&realtime.ResponseCancel{EventID: "c"}, &realtime.OutputAudioBufferClear{EventID: "o"})
		time.Sleep(time.Second) // Live goes on talking
		r.in.Forget()
		r.ask("second")
		time.Sleep(3 * time.Second)
		if e := fake.Last[*realtime.ResponseOutputAudioTranscriptDone](r.in); e == nil || e.Transcript != "right" {
			t.Errorf("the next answer is %+v", e)
		}
		if n := len(r.in.Packets()); n < 50 || n > 52 {
			t.Errorf("%d packets for a second", n)
		}
	})
}

func TestAToolCallIsAlwaysAnswered(t *testing.T) {
	long := "function-call-12345678901234567890123"
	t.Run("by a client that forgets to ask on", func(t *testing.T) {
		bubble(t, manual(), nil, func(r *room) {
			r.Calls("look_up", long, `{}`)
			r.ask("go")
			time.Sleep(time.Second)
			c := fake.Last[*realtime.ResponseOutputItemDone](r.in).Item.CallID
			if len(c) > realtime.MaxIDLen {
				t.Errorf("call_id %q is too long for clients", c)
			}
			r.send(&realtime.ConversationItemCreate{Item: realtime.FunctionCallOutput(c, "plain words")})
			time.Sleep(5 * time.Second)
			sent := r.Messages("toolResponse")
			if len(sent) != 1 || !strings.Contains(fmt.Sprint(sent[0]), long) || !strings.Contains(fmt.Sprint(sent[0]), "output:plain words") {
				t.Errorf("sent %v", sent)
			}
			if len(r.in.Packets()) < 50 {
				t.Error("Live's answer was not heard")
			}
		})
	})
	t.Run("by the watchdog", func(t *testing.T) {
		bubble(t, manual(), func(c *gemini.Config) { c.ToolTimeout = 20 * time.Second }, func(r *room) {
			r.Calls("look_up", long, `{}`)
			r.ask("go")
			time.Sleep(30 * time.Second)
			if e := fake.Last[*realtime.ErrorEvent](r.in); e == nil || e.Error.Code != "tool_timeout" {
				t.Errorf("the client was told %+v", e)
			}
			if len(r.Messages("toolResponse")) != 1 || len(r.in.Packets()) < 50 {
				t.Errorf("the model was told %v", r.Messages("toolResponse"))
			}
			c := fake.Last[*realtime.ResponseFunctionCallArgumentsDone](r.in).CallID
			r.send(&realtime.ConversationItemCreate{EventID: "late", Item: realtime.FunctionCallOutput(c, "late")})
			if e := fake.Last[*realtime.ErrorEvent](r.in); e.Error.EventID != "late" {
				t.Errorf("a late output: %+v", e.Error)
			}
		})
	})
	t.Run("but not when Live took it back", func(t *testing.T) {
		bubble(t, manual(), nil, func(r *room) {
			r.Calls("look_up", "call_1", `{}`)
			r.ask("go")
			time.Sleep(time.Second)
			r.CancelCalls("call_1")
			time.Sleep(100 * time.Millisecond)
			r.send(&realtime.ConversationItemCreate{Item: realtime.FunctionCallOutput("call_1", "{}")}, &realtime.ResponseCreate{EventID: "on"})
			time.Sleep(3 * time.Second)
			if n := r.Messages("toolResponse"); len(n) != 0 {
				t.Errorf("sent %v", n)
			}
		})
	})
	t.Run("also over a new connection", func(t *testing.T) {
		bubble(t, manual(), nil, func(r *room) {
			r.Calls("look_up", "call_1", `{}`)
			r.ask("go")
			time.Sleep(time.Second)
			r.Cut()
			time.Sleep(2 * time.Second)
			r.send(&realtime.ConversationItemCreate{Item: realtime.FunctionCallOutput("call_1", `{"status":"ok"}`)}, &realtime.ResponseCreate{EventID: "on"})
			time.Sleep(3 * time.Second)
			if told := r.Told(); !strings.Contains(told, "functionResponse") || len(r.in.Packets()) < 50 {
				t.Errorf("told %s", told)
			}
		})
	})
}

func TestLiveSaysThatItGoesAndNobodyNotices(t *testing.T) {
	for _, resumes := range []bool{true, false} {
		t.Run(fmt.Sprint("resumes ", resumes), func(t *testing.T) {
			bubble(t, manual(), nil, func(r *room) {
				if !resumes {
					r.NoResume()
				}
				r.Will(fake.Script{Text: "the answer that goes on for a while", Audio: 3 * time.Second, Pace: 95 * time.Millisecond}, fake.Script{Text: "after", Audio: time.Second})
				r.ask("the question")
				time.Sleep(500 * time.Millisecond)
				r.GoAway("9.5s")
				time.Sleep(time.Second)
				if r.Count() != 1 {
					t.Error("renewed in the middle of an answer")
				}
				time.Sleep(6 * time.Second)
				setups := r.Setups()
				if len(setups) != 2 {
					t.Fatalf("%d setups, notices %v", len(setups), r.in.Notices())
				}
				if handle := fmt.Sprint(setups[1]["sessionResumption"]); resumes != strings.Contains(handle, "handle_0001") {
					t.Errorf("resumption %s", handle)
				}
				if told := r.Told(); !resumes && (r.Declined() == 0 || !strings.Contains(told, "the question") || !strings.Contains(told, "the answer that goes on") || !strings.Contains(told, "from last week")) {
					t.Errorf("told %s", told)
				}
				before := len(r.in.Packets())
				r.ask("still there?")
				time.Sleep(3 * time.Second)
				if n := len(r.in.Packets()) - before; n < 50 || n > 52 {
					t.Errorf("%d packets after it", n)
				}
				if len(r.in.Closed()) > 0 {
					t.Errorf("closed %v", r.in.Closed())
				}
			})
		})
	}
}

func TestAChangedSessionComesWithTheNextConnection(t *testing.T) {
	bubble(t, manual(), nil, func(r *room) {
		words := "Now speak like a pirate."
		r.send(&realtime.SessionUpdate{EventID: "u", Session: realtime.Session{Type: "realtime", Instructions: &words}})
		if e := fake.Last[*realtime.SessionUpdated](r.in); e.Session.Instructions == nil || *e.Session.Instructions != words {
			t.Error("the client was not told")
		}
		time.Sleep(2 * time.Second)
		if s := r.Setups(); len(s) != 2 || !strings.Contains(fmt.Sprint(s[1]), "pirate") {
			t.Errorf("setups %v", s)
		}
	})
}

func TestATurnThatOurEarAnnouncesIsSentWhileItIsSpoken(t *testing.T) {
	bubble(t, manual(), nil, func(r *room) {
		r.speak(400 * time.Millisecond)
		r.leg.(provider.Hearing).Hears(true)
		r.speak(600 * time.Millisecond)
		time.Sleep(20 * time.Millisecond)
		if ms := len(r.Audio()) / 32; ms < 850 { // a second, but for the way and the ear's delay
			t.Errorf("only %d ms are there before the end of the turn", ms)
		}
		r.send(&realtime.InputAudioBufferCommit{EventID: "commit"}, &realtime.ResponseCreate{EventID: "create"})
		time.Sleep(3 * time.Second)
		if n := len(r.Messages("realtimeInput")); n != 2 || len(r.in.Packets()) < 50 {
			t.Errorf("%d marks of activity, %d packets", n, len(r.in.Packets()))
		}
	})
}

func TestNothingPrintsTheCredential(t *testing.T) {
	cfg := gemini.Config{Name: "x", BaseURL: "wss://host", Key: func() string { return "AIza-secret" }}
	if s := fmt.Sprintf("%v %+v", cfg, cfg); strings.Contains(s, "secret") {
		t.Error(s)
	}
	synctest.Test(t, func(t *testing.T) {
		g := fake.NewGemini(t)
		g.Net.Refuse(true)
		_, err := to(g).Dial(t.Context(), provider.Setup{Session: manual(), CallID: "rtc_x"}, &fake.Sink{})
		if err == nil || strings.Contains(err.Error(), "AIza") {
			t.Errorf("dial gave %v", err)
		}
	})
}
