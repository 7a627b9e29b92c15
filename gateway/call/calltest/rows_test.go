package calltest_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/call/calltest"
	"hovor/signaling/realtime"
)

// The rows that need a whole call. The number is the row's: section 3.2, 6 or 7.1.

func TestRow3_2_20_AMutedMicrophoneEndsNothing(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Mute(true)
		time.Sleep(3 * time.Minute)
		b.Mute(false)
		b.Speak(time.Second)
		if turn := calltest.Await[*realtime.HovorTurn](b, 5*time.Second, nil); turn.Outcome != "answered" {
			t.Errorf("turn %+v", turn)
		}
	})
}

func TestRow3_2_22_ANewCallCarriesOnWithTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := threads(t, filepath.Join(t.TempDir(), "threads.db"))
		w := calltest.New(t, calltest.Options{Assistant: assistant(), Threads: store})
		w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, Text: "My name is Hovor.", Audio: time.Second})
		w.Provider.Hears("what is your name")
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(time.Second)
		calltest.Await[*realtime.OutputAudioBufferStopped](b, 5*time.Second, nil)
		w.Options.ThreadID = calltest.Of[*realtime.HovorCall](b)[0].ThreadID
		b.Leave()
		w.Within(5*time.Second, "the first call is over", func() bool { return w.Manager.Len() == 0 })
		h, err := store.Resume(context.Background(), "alice", w.Options.ThreadID)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		b = w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		var told []string
		for _, ev := range w.Provider.Last().Events() {
			if ev, ok := ev.(*realtime.ConversationItemCreate); ok {
				told = append(told, ev.Item.TextOf())
			}
		}
		if len(told) != 2 || told[0] != "what is your name" || told[1] != "My name is Hovor." {
			t.Errorf("the provider was told %q", told)
		}
	})
}

func TestRow6_16_And7_1_10_OneLegsEndEndsTheOtherAndNothingIsLeft(t *testing.T) {
	for name, end := range map[string]func(w *calltest.World, b *calltest.Browser){
		"the page":     func(_ *calltest.World, b *calltest.Browser) { b.Leave() },
		"the provider": func(w *calltest.World, _ *calltest.Browser) { w.Provider.Last().Close() },
		"a hang-up":    func(_ *calltest.World, b *calltest.Browser) { _ = b.Hangup(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) { // the bubble proves that nothing is left
				b := w.Dial()
				calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
				end(w, b)
				w.Within(5*time.Second, "the call is over", func() bool { return w.Manager.Len() == 0 })
				w.Within(3*time.Second, "the provider is left", w.Provider.Last().Ended)
				if name != "the page" {
					if e := calltest.Of[*realtime.HovorEnded](b); len(e) != 1 || e[0].Reason == "" || e[0].Message == "" {
						t.Errorf("told of the end: %+v", e)
					}
				}
			})
		})
	}
}

func TestRow6_25_NothingOfTheLastCallIsHeardInTheNext(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near, Limits: call.Limits{Session: time.Minute}}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, Text: "A long answer that is left.", Audio: 30 * time.Second},
			calltest.Script{Think: 100 * time.Millisecond, Text: "Another.", Audio: time.Second})
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(time.Second)
		time.Sleep(3 * time.Second)
		b.Leave()
		b = w.Dial() // at once
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		time.Sleep(2 * time.Second)
		if n := len(b.Heard()); n != 0 {
			t.Errorf("%d packets before anybody spoke", n)
		}
		b.Speak(time.Second)
		calltest.Await[*realtime.OutputAudioBufferStopped](b, 5*time.Second, nil)
		time.Sleep(50 * time.Second) // over a renewed session
		b.Speak(time.Second)
		time.Sleep(5 * time.Second)
		if n := len(b.Heard()); n != 100 || len(w.Provider.Legs()) < 3 {
			t.Errorf("%d packets of two answers of a second, %d legs", n, len(w.Provider.Legs()))
		}
	})
}
