package local

import (
	"strings"
	"testing"
	"time"

	"hovor/signaling/realtime"
)

const longAnswer = `responses: [[{say: "One two three four five six seven eight nine ten. Eleven twelve thirteen fourteen fifteen sixteen. Seventeen eighteen nineteen twenty."}]]
then: again`

func TestSpeechIsPacedInTalkSpurts(t *testing.T) {
	inHouse(t, scriptedBrain(t, "responses: [[{say: One two three.}], [{say: Four five.}]]"), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		for range 2 {
			p.send(typedText("go"), &realtime.ResponseCreate{})
			until[*realtime.OutputAudioBufferStopped](p)
			time.Sleep(3 * time.Second)
		}
		p.hang()
		got := p.audio()
		if len(got) != (3+2)*12 {
			t.Errorf("%d packets for five words of 240 ms", len(got))
		}
		for i, k := range got {
			if k.marker != (i == 0 || i == 36) {
				t.Errorf("packet %d: marker %v", i, k.marker)
			}
			if i == 0 {
				continue
			}
			last := got[i-1]
			gap, ticks := k.at.Sub(last.at), k.timestamp-last.timestamp
			if k.seq != last.seq+1 {
				t.Errorf("packet %d: sequence %d after %d", i, k.seq, last.seq)
			}
			if i != 36 && (gap != frameTime || ticks != 960) {
				t.Errorf("packet %d: %v and %d ticks after the one before it", i, gap, ticks)
			}
			if i == 36 && (gap < 3*time.Second || (time.Duration(ticks)*time.Second/48000-gap).Abs() > time.Millisecond) {
				t.Errorf("the second spurt comes %v and %d ticks after the first", gap, ticks)
			}
		}
	})
}

func TestTheTranscriptRunsAheadOfTheSound(t *testing.T) {
	inHouse(t, scriptedBrain(t, longAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		p.send(typedText("go"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
		start, done, stopped := timeOf[*realtime.OutputAudioBufferStarted](p), timeOf[*realtime.ResponseDone](p), timeOf[*realtime.OutputAudioBufferStopped](p)
		if ahead := done.Sub(start); ahead > 100*time.Millisecond {
			t.Errorf("response.done comes %v after the sound began", ahead)
		}
		if sounded := stopped.Sub(start); sounded != 20*240*time.Millisecond {
			t.Errorf("twenty words of 240 ms sounded for %v", sounded)
		}
	})
}

func TestAClearIsFollowedByNotOnePacket(t *testing.T) {
	inHouse(t, scriptedBrain(t, longAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		p.send(typedText("go"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStarted](p)
		time.Sleep(time.Second)
		p.send(&realtime.OutputAudioBufferClear{})
		until[*realtime.OutputAudioBufferCleared](p)
		cleared := timeOf[*realtime.OutputAudioBufferCleared](p)
		time.Sleep(10 * time.Second)
		p.hang()
		for _, k := range p.audio() {
			if k.at.After(cleared) {
				t.Fatalf("a packet came %v after cleared", k.at.Sub(cleared))
			}
		}
		if n := len(all[*realtime.OutputAudioBufferStopped](p)); n != 0 {
			t.Error("stopped was sent for audio that was cleared")
		}
	})
}

func TestAClearWithNothingPlayingIsHarmless(t *testing.T) {
	inHouse(t, scriptedBrain(t, longAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		until[*realtime.SessionUpdated](p)
		p.send(&realtime.OutputAudioBufferClear{})
		time.Sleep(time.Second)
		p.hang()
		compare(t, p.order(), []string{"session.created", "session.updated"})
	})
}

func TestACancelledResponseEndsCancelledAndPlaysWhatWasMade(t *testing.T) {
	inHouse(t, scriptedBrain(t, "responses: [[{say: One two.}, {wait: 5s}, {say: Three.}]]"), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		p.send(typedText("go"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStarted](p)
		time.Sleep(100 * time.Millisecond)
		p.send(&realtime.ResponseCancel{})
		done := until[*realtime.ResponseDone](p).Response
		if done.Status != realtime.StatusCancelled || done.StatusDetails.Reason != realtime.ReasonClientCancelled || done.Usage == nil {
			t.Errorf("ended %s, %+v, usage %+v", done.Status, done.StatusDetails, done.Usage)
		}
		if item := done.Output[0]; item.Status != realtime.StatusIncomplete || item.TextOf() != "One two." {
			t.Errorf("item %s %q", item.Status, item.TextOf())
		}
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
		if n := len(p.audio()); n != 2*12 {
			t.Errorf("%d packets for the two words that were made", n)
		}
	})
}

func TestTalkingOverTheAssistantStopsItAndKeepsWhatWasHeard(t *testing.T) {
	inHouse(t, scriptedBrain(t, longAnswer), []string{"stop"}, func(t *testing.T, h *house) {
		p := h.call(serverVAD())
		p.send(typedText("go"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStarted](p)
		time.Sleep(time.Second)
		onset := time.Now()
		p.talk(600*time.Millisecond, 100*time.Millisecond)
		p.hang()
		cleared := timeOf[*realtime.OutputAudioBufferCleared](p)
		if d := cleared.Sub(onset); d > 250*time.Millisecond {
			t.Errorf("the assistant fell silent %v after the onset", d)
		}
		for _, k := range p.audio() {
			if k.at.After(cleared) {
				t.Errorf("a packet came %v after cleared", k.at.Sub(cleared))
			}
		}
		order := strings.Join(p.order(), " ")
		if !strings.Contains(order, "input_audio_buffer.speech_started output_audio_buffer.cleared conversation.item.truncated") {
			t.Errorf("the order of an interruption is %s", order)
		}
		cut := all[*realtime.ConversationItemTruncated](p)[0]
		heard := 0
		for _, k := range p.audio() {
			if k.at.Before(cleared) {
				heard++
			}
		}
		if ms := heard * 20; cut.AudioEndMS < ms-40 || cut.AudioEndMS > ms+40 {
			t.Errorf("truncated at %d ms, %d ms came", cut.AudioEndMS, ms)
		}
	})
}

func TestAnInterruptionCancelsAResponseThatIsStillMade(t *testing.T) {
	inHouse(t, scriptedBrain(t, "responses: [[{say: One two three four five six seven eight.}, {wait: 20s}, {say: Nine.}]]"), nil, func(t *testing.T, h *house) {
		p := h.call(serverVAD())
		p.send(typedText("go"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStarted](p)
		time.Sleep(500 * time.Millisecond)
		p.talk(300*time.Millisecond, 100*time.Millisecond)
		done := until[*realtime.ResponseDone](p).Response
		until[*realtime.OutputAudioBufferCleared](p)
		cut := until[*realtime.ConversationItemTruncated](p)
		p.hang()
		if done.Status != realtime.StatusCancelled || done.StatusDetails.Reason != realtime.ReasonTurnDetected {
			t.Errorf("ended %s, %+v", done.Status, done.StatusDetails)
		}
		if cut.AudioEndMS > 1000 {
			t.Errorf("truncated at %d ms, half a second in", cut.AudioEndMS)
		}
	})
}

func TestTruncationShortensTheTranscriptToWhatWasHeard(t *testing.T) {
	inHouse(t, scriptedBrain(t, "responses: [[{say: One two three four.}, {say: Five six.}]]"), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		p.send(typedText("go"), &realtime.ResponseCreate{})
		item := until[*realtime.ResponseDone](p).Response.Output[0]
		for _, step := range []struct {
			ms   int
			want string
		}{{1300, "One two three four. Five "}, {720, "One two three "}, {100, ""}} {
			p.send(&realtime.ConversationItemTruncate{ItemID: item.ID, AudioEndMS: step.ms}, &realtime.ConversationItemRetrieve{ItemID: item.ID})
			if got := until[*realtime.ConversationItemTruncated](p); got.AudioEndMS != step.ms || got.ItemID != item.ID {
				t.Errorf("truncated %+v", got)
			}
			if got := until[*realtime.ConversationItemRetrieved](p).Item.TextOf(); got != step.want {
				t.Errorf("at %d ms: %q, want %q", step.ms, got, step.want)
			}
		}
		p.hang()
	})
}
