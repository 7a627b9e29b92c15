package calltest_test

import (
	"strings"
	"testing"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/call/calltest"
	"hovor/signaling/realtime"
)

func TestRow6_11_AProvidersSessionIsRenewedUnderThePerson(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near, Limits: call.Limits{Session: time.Minute}}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 200 * time.Millisecond, Text: "My name is Hovor.", Audio: time.Second})
		w.Provider.Hears("what is your name", "are you there")
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(time.Second)
		calltest.Await[*realtime.OutputAudioBufferStopped](b, 5*time.Second, nil)
		first := w.Provider.Last()
		time.Sleep(40 * time.Second)
		if len(w.Provider.Legs()) != 1 {
			t.Fatal("renewed too early")
		}
		w.Within(20*time.Second, "the first leg is left", first.Ended) // before its minute is over
		var told []string
		for _, ev := range w.Provider.Last().Events() {
			if ev, ok := ev.(*realtime.ConversationItemCreate); ok {
				told = append(told, ev.Item.Role+": "+ev.Item.TextOf())
			}
		}
		if got := strings.Join(told, " | "); got != "user: what is your name | assistant: My name is Hovor." {
			t.Errorf("the new leg was told %q", got)
		}
		b.Speak(time.Second)
		calltest.Await(b, 6*time.Second, func(e *realtime.HovorHeard) bool { return len(calltest.Of[*realtime.HovorHeard](b)) == 2 && e.Complete })
		if n := len(b.Heard()); n != 100 {
			t.Errorf("%d packets were heard", n)
		}
		for _, p := range calltest.Of[*realtime.HovorProvider](b) {
			if p.State != "connected" {
				t.Errorf("the person was told: %+v", p)
			}
		}
		if n := len(calltest.Of[*realtime.SessionCreated](b)); n != 1 {
			t.Errorf("session.created %d times", n)
		}
		if e := calltest.Of[*realtime.ErrorEvent](b); len(e) > 0 {
			t.Errorf("error %+v", e[0].Error)
		}
		time.Sleep(2 * time.Minute) // and again, and again
		if n := len(w.Provider.Legs()); n < 3 || n > 5 {
			t.Errorf("%d legs in three minutes", n)
		}
	})
}

func TestRow6_11_NobodyIsCutOffBySomebodyElsesLimit(t *testing.T) {
	live(t, calltest.Options{Limits: call.Limits{Session: time.Minute}}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, Text: "A story without an end.", Audio: 3 * time.Minute})
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		time.Sleep(20 * time.Second)
		b.Speak(time.Second)
		time.Sleep(30 * time.Second)
		if p := calltest.Of[*realtime.HovorProvider](b); p[len(p)-1].State != "expiring" || p[len(p)-1].InMS == 0 {
			t.Errorf("not warned: %+v", p)
		}
		if len(w.Provider.Legs()) != 1 {
			t.Error("renewed in the middle of an answer")
		}
		w.Provider.Last().Expire()
		end := calltest.Await[*realtime.HovorEnded](b, 5*time.Second, nil)
		lost := calltest.Of[*realtime.HovorProvider](b)
		if end.Reason != "provider_lost" || lost[len(lost)-1].Reason != "expired" || !strings.Contains(end.Message, "after a while") {
			t.Errorf("ended %+v, told %+v", end, lost[len(lost)-1])
		}
	})
}

func TestARenewalThatCannotBeIsTriedAgain(t *testing.T) {
	live(t, calltest.Options{Limits: call.Limits{Session: time.Minute}}, func(t *testing.T, w *calltest.World) {
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		w.Provider.Refuse(&realtime.Error{Status: 503, Type: "server_error", Message: "not now"})
		time.Sleep(50 * time.Second)
		w.Provider.Refuse(nil)
		w.Within(10*time.Second, "a second leg", func() bool { return len(w.Provider.Legs()) == 2 })
		if len(calltest.Of[*realtime.HovorEnded](b)) != 0 {
			t.Error("the call ended")
		}
	})
}
