package calltest_test

import (
	"net/http"
	"testing"
	"time"

	"hovor/gateway/call/calltest"
	"hovor/sfu/vnettest"
	"hovor/signaling/realtime"
)

func TestACallSurvivesAChangeOfTheNetwork(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		w.Provider.Will(calltest.Script{Think: 200 * time.Millisecond, Text: "I am still here.", Audio: time.Second})
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		b.Speak(time.Second)
		calltest.Await[*realtime.OutputAudioBufferStopped](b, 5*time.Second, nil)
		w.Net.SetBoth(w.Hosts[0], w.Hosts[1], vnettest.Link{Down: true})
		time.Sleep(8 * time.Second)
		w.Net.SetBoth(w.Hosts[0], w.Hosts[1], near)
		b.Restart()
		time.Sleep(time.Second)
		n := len(b.Heard())
		b.Speak(time.Second)
		calltest.Await(b, 6*time.Second, func(*realtime.OutputAudioBufferStopped) bool {
			return len(calltest.Of[*realtime.OutputAudioBufferStopped](b)) == 2
		})
		if got := len(b.Heard()) - n; got != 50 {
			t.Errorf("%d packets of an answer of a second", got)
		}
		if len(calltest.Of[*realtime.SessionCreated](b)) != 1 || len(calltest.Of[*realtime.HovorEnded](b)) != 0 {
			t.Error("it is not the same call")
		}
		if turns := calltest.Of[*realtime.HovorTurn](b); turns[len(turns)-1].Outcome != "answered" {
			t.Errorf("turn %+v", turns[len(turns)-1])
		}
	})
}

func TestAPatchMeansOneICESession(t *testing.T) {
	live(t, calltest.Options{}, func(t *testing.T, w *calltest.World) {
		b := w.Dial()
		const trickle = "a=group:BUNDLE 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=candidate:9 1 udp 2130706431 10.0.0.77 5000 typ host\r\n"
		if b.ETag == "" {
			t.Fatal("the answer names no ICE session")
		}
		if status, body := b.Patch(b.ETag, trickle); status != http.StatusNoContent {
			t.Errorf("a candidate: %d %s", status, body)
		}
		if status, _ := b.Patch(`"another"`, trickle); status != http.StatusPreconditionFailed {
			t.Errorf("of another session: %d", status)
		}
		b.Restart()
		if status, _ := b.Patch(b.ETag, trickle); status != http.StatusPreconditionFailed {
			t.Errorf("of the session before the restart: %d", status)
		}
	})
}
