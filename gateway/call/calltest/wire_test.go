package calltest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hovor/gateway/call/calltest"
	"hovor/signaling/realtime"
)

// spoken waits until the provider is there.
func spoken(t *testing.T, w *calltest.World) *calltest.Wire {
	t.Helper()
	s, _ := w.DialWire(realtime.GA)
	calltest.Await[*realtime.HovorProvider](s, 3*time.Second, nil)
	return s
}

func TestAPersonSpeaksOverAWebSocketAndIsAnswered(t *testing.T) {
	live(t, calltest.Options{Upstream: near}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 300 * time.Millisecond, Text: "Good morning to you.", Audio: 2 * time.Second})
		w.Provider.Hears("good morning")
		s := spoken(t, w)
		s.Speak(1200*time.Millisecond, true)
		s.Speak(time.Second, false)
		done := calltest.Await[*realtime.ResponseDone](s, 5*time.Second, nil)
		if done.Response.Status != "completed" {
			t.Errorf("response %+v", done.Response)
		}
		item := calltest.Of[*realtime.ResponseContentPartAdded](s)[0].ItemID
		if got := s.Heard(item); got < 1980*time.Millisecond || got > 2020*time.Millisecond || got != s.Heard("") {
			t.Errorf("%v of audio, %v of the item", s.Heard(""), got)
		}
		types := s.Types()
		if types[0] != "session.created" {
			t.Errorf("began with %s", types[0])
		}
		last := 0
		for i, name := range types {
			if strings.HasPrefix(name, "output_audio_buffer.") {
				t.Errorf("%s over a WebSocket", name)
			}
			if name == "response.output_audio.delta" {
				last = i
			}
		}
		for _, name := range []string{"response.output_audio.done", "response.done"} {
			if i := slices.Index(types, name); i < last {
				t.Errorf("%s came before the last audio", name)
			}
		}
		if n := len(w.Provider.Last().Arrivals()); n < 100 {
			t.Errorf("the provider was given %d packets", n)
		}
		if e := calltest.Of[*realtime.ErrorEvent](s); len(e) > 0 {
			t.Errorf("error %+v", e[0].Error)
		}
	})
}

func TestAWebSocketClientSaysWhatItPlayed(t *testing.T) {
	for _, c := range []struct {
		name       string
		says       int // milliseconds, -1: nothing
		want       int
		outOfReach bool
	}{{"less than it was given", 700, 700, false}, {"more than it was given", 60_000, 0, true}, {"nothing at all", -1, 0, true}} {
		t.Run(c.name, func(t *testing.T) {
			live(t, calltest.Options{}, func(t *testing.T, w *calltest.World) {
				w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, Text: strings.Repeat("and another word ", 20), Audio: 20 * time.Second})
				s := spoken(t, w)
				s.Speak(time.Second, true)
				s.Speak(4*time.Second, false)
				calltest.Await[*realtime.ResponseOutputAudioDelta](s, 2*time.Second, nil)
				s.Speak(time.Second, true)
				started := calltest.Of[*realtime.InputAudioBufferSpeechStarted](s)
				if len(started) != 2 {
					t.Fatalf("%d speech_started", len(started))
				}
				item := calltest.Of[*realtime.ResponseContentPartAdded](s)[0].ItemID
				given := s.Heard(item)
				if c.says >= 0 {
					s.Tell(&realtime.ConversationItemTruncate{ItemID: item, AudioEndMS: c.says})
				}
				cut := calltest.Await[*realtime.ConversationItemTruncated](s, 2*time.Second, nil)
				if now := s.Heard(item); now != given {
					t.Errorf("%v of audio followed the cut", now-given)
				}
				if c.outOfReach { // what the provider's cut may be at most, and about where it is
					if d := given - time.Duration(cut.AudioEndMS)*time.Millisecond; d < 0 || d > 120*time.Millisecond {
						t.Errorf("cut at %d ms, %v were given", cut.AudioEndMS, given)
					}
				} else if cut.AudioEndMS != c.want {
					t.Errorf("cut at %d ms", cut.AudioEndMS)
				}
				heard := calltest.Await[*realtime.HovorHeard](s, time.Second, nil)
				if heard.AudioMS != cut.AudioEndMS || heard.Complete {
					t.Errorf("heard %+v, cut at %d", heard, cut.AudioEndMS)
				}
				if n := len(calltest.Of[*realtime.ConversationItemTruncated](s)); n != 1 {
					t.Errorf("truncated %d times", n)
				}
				done := calltest.Of[*realtime.ResponseDone](s)[0].Response
				if done.Status != "cancelled" || done.StatusDetails.Reason != "turn_detected" {
					t.Errorf("response.done %+v %+v", done.Status, done.StatusDetails)
				}
			})
		})
	}
}

func TestPushToTalkOverAWebSocketTakesABurst(t *testing.T) {
	live(t, calltest.Options{}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, Text: "Yes.", Audio: time.Second})
		s := spoken(t, w)
		s.Tell(&realtime.SessionUpdate{Session: realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}}})
		s.Chunk(60*time.Millisecond, true)
		s.Tell(&realtime.InputAudioBufferCommit{EventID: "short"})
		if e := calltest.Await[*realtime.ErrorEvent](s, time.Second, nil); e.Error.Code != "input_audio_buffer_commit_empty" || e.Error.EventID != "short" {
			t.Errorf("error %+v", e.Error)
		}
		s.Tell(&realtime.InputAudioBufferClear{})
		calltest.Await[*realtime.InputAudioBufferCleared](s, time.Second, nil)
		before := len(w.Provider.Last().Arrivals())
		s.Chunk(3*time.Second, true) // all at once
		s.Tell(&realtime.InputAudioBufferCommit{})
		s.Tell(&realtime.ResponseCreate{EventID: "agents_js_response_create_1"})
		calltest.Await[*realtime.InputAudioBufferCommitted](s, 5*time.Second, nil)
		if n := len(w.Provider.Last().Arrivals()) - before; n != 150 {
			t.Errorf("committed after %d packets of 150", n)
		}
		calltest.Await[*realtime.ResponseDone](s, 5*time.Second, nil)
		s.Tell(&realtime.OutputAudioBufferClear{EventID: "wrong"})
		calltest.Await(s, time.Second, func(e *realtime.ErrorEvent) bool { return e.Error.EventID == "wrong" })
	})
}

func TestABetaClientOverAWebSocketHearsItsOwnWords(t *testing.T) {
	live(t, calltest.Options{}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, Text: "Yes.", Audio: time.Second})
		s, _ := w.DialWire(realtime.Beta)
		s.Say(`{"type":"session.update","session":{"turn_detection":null,"input_audio_format":"g711_ulaw","output_audio_format":"g711_ulaw"}}`)
		s.Say(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}`)
		s.Say(`{"type":"response.create"}`)
		w.Within(6*time.Second, "response.done", func() bool {
			return strings.Contains(strings.Join(s.Raw(), "\n"), `"type":"response.done"`)
		})
		all := strings.Join(s.Raw(), "\n")
		for _, want := range []string{`"response.audio.delta"`, `"response.audio_transcript.delta"`, `"conversation.item.created"`, `"input_audio_format":"g711_ulaw"`} {
			if !strings.Contains(all, want) {
				t.Errorf("no %s", want)
			}
		}
		if strings.Contains(all, "output_audio.delta") || strings.Contains(all, "conversation.item.added") {
			t.Error("a beta client was sent GA events")
		}
	})
}

func TestAWebSocketIsClosedWithTheReason(t *testing.T) {
	live(t, calltest.Options{}, func(t *testing.T, w *calltest.World) {
		s, c := w.DialWire(realtime.GA)
		calltest.Await[*realtime.HovorProvider](s, 3*time.Second, nil)
		c.Hangup("max_duration")
		w.Within(time.Second, "closed", func() bool { code, _ := s.Closed(); return code != 0 })
		if code, reason := s.Closed(); code != 1001 || reason != "max_duration" {
			t.Errorf("closed with %d %s", code, reason)
		}
		if e := calltest.Of[*realtime.HovorEnded](s); len(e) != 1 || e[0].Reason != "max_duration" {
			t.Error("not told why")
		}
		s, c = w.DialWire(realtime.GA)
		calltest.Await[*realtime.HovorProvider](s, 3*time.Second, nil)
		s.Leave()
		<-c.Done()
		if r := c.State().Reason; r != "client_gone" {
			t.Errorf("ended with %s", r)
		}
		w.Within(3*time.Second, "the provider is left", w.Provider.Last().Ended)
	})
}
