package local

import (
	"testing"
	"time"

	"hovor/signaling/realtime"
)

func idle(ms int) *realtime.Session {
	s := serverVAD()
	s.Audio.Input.TurnDetection.Value.IdleTimeoutMS = realtime.Some(ms)
	return s
}

// TestASilentPersonIsAskedAgain: the clock starts when the answer has been played, which over a WebSocket is an estimate.
func TestASilentPersonIsAskedAgain(t *testing.T) {
	const spoken = 6 * 240 * time.Millisecond
	check := func(t *testing.T, asked time.Time, triggered []*realtime.InputAudioBufferTimeoutTriggered, at time.Time, order []string) {
		t.Helper()
		if len(triggered) != 1 {
			t.Fatalf("%d timeouts", len(triggered))
		}
		if d := at.Sub(asked) - spoken; d < 5*time.Second || d > 5200*time.Millisecond {
			t.Errorf("the timeout came %v behind the speech", d)
		}
		for i, name := range order {
			if name == "input_audio_buffer.timeout_triggered" {
				compare(t, order[i:i+5], []string{"input_audio_buffer.timeout_triggered", "input_audio_buffer.committed", "conversation.item.added", "conversation.item.done",
					"conversation.item.input_audio_transcription.completed"})
			}
		}
	}
	const twice = "responses: [[{say: One two three. Four five six.}], [{say: Are you there?}], [{say: Never.}]]"
	t.Run("webrtc", func(t *testing.T) {
		inHouse(t, scriptedBrain(t, twice), nil, func(t *testing.T, h *house) {
			p := h.call(idle(5000))
			asked := time.Now()
			p.send(typedText("hello"), &realtime.ResponseCreate{})
			until[*realtime.OutputAudioBufferStopped](p)
			until[*realtime.OutputAudioBufferStopped](p)
			p.hang()
			check(t, asked, all[*realtime.InputAudioBufferTimeoutTriggered](p), timeOf[*realtime.InputAudioBufferTimeoutTriggered](p), p.order())
		})
	})
	t.Run("websocket", func(t *testing.T) {
		inHouse(t, scriptedBrain(t, twice), nil, func(t *testing.T, h *house) {
			d := h.open()
			asked := time.Now()
			d.send(&realtime.SessionUpdate{Session: *idle(5000)}, typedText("hello"), &realtime.ResponseCreate{})
			next[*realtime.InputAudioBufferTimeoutTriggered](d)
			at := time.Now()
			next[*realtime.ResponseDone](d)
			d.talk(formPCM, 300*time.Millisecond, 100*time.Millisecond) // who speaks is not idle
			time.Sleep(20 * time.Second)
			d.hang()
			check(t, asked, every[*realtime.InputAudioBufferTimeoutTriggered](d), at, d.order())
		})
	})
}

func TestAnAnswerIsAsLongAsItsTokens(t *testing.T) {
	for name, c := range map[string]struct {
		tokens realtime.MaxTokens
		text   bool
		want   string
		status string
	}{
		"speech that fits":       {100, false, "One two three. Four five six.", realtime.StatusCompleted},
		"speech cut at a word":   {12, false, "One two ", realtime.StatusIncomplete}, // two words: 480 ms are 9 tokens, 8 letters 2
		"no room for a word":     {2, false, "", realtime.StatusIncomplete},
		"a text that fits":       {8, true, "One two three. Four five six.", realtime.StatusCompleted},
		"a text cut at a letter": {5, true, "One two three. Four", realtime.StatusIncomplete},
	} {
		session := func() realtime.Session {
			s := manual()
			s.MaxOutputTokens = c.tokens
			if c.text {
				s.OutputModalities = []string{"text"}
			}
			return *s
		}
		check := func(t *testing.T, done realtime.Response) {
			t.Helper()
			said := ""
			for _, item := range done.Output {
				said += item.TextOf()
			}
			if done.Status != c.status || said != c.want {
				t.Errorf("%s with %q, want %s with %q", done.Status, said, c.status, c.want)
			}
			if c.status == realtime.StatusIncomplete && (done.StatusDetails == nil || done.StatusDetails.Reason != realtime.ReasonMaxOutputTokens) {
				t.Errorf("details %+v", done.StatusDetails)
			}
			if spent := done.Usage.OutputTokens; spent > int64(c.tokens) {
				t.Errorf("%d tokens spent of %d", spent, c.tokens)
			}
		}
		t.Run(name, func(t *testing.T) {
			inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
				s := session()
				p := h.call(&s)
				p.send(typedText("hello"), &realtime.ResponseCreate{})
				check(t, until[*realtime.ResponseDone](p).Response)
				time.Sleep(5 * time.Second)
				p.hang()
				if c.want == "One two " {
					if n := len(p.audio()); n != 24 {
						t.Errorf("%d packets for two words", n)
					}
				}
			})
		})
		t.Run(name+" over a socket", func(t *testing.T) {
			inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
				d := h.open()
				d.send(&realtime.SessionUpdate{Session: session()}, typedText("hello"), &realtime.ResponseCreate{})
				done := next[*realtime.ResponseDone](d).Response
				if c.status == realtime.StatusCompleted {
					check(t, done)
				} else if done.Status != realtime.StatusIncomplete || done.Usage.OutputTokens > int64(c.tokens) {
					t.Errorf("%s, %d tokens spent of %d", done.Status, done.Usage.OutputTokens, c.tokens)
				}
				d.hang()
			})
		})
	}
}
