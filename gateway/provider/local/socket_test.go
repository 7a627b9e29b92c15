package local

import (
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hovor/signaling/client"
	"hovor/signaling/realtime"
	"hovor/signaling/socket"
)

// streamedAnswer is the order of one spoken response over a WebSocket: the sound comes in deltas, and nothing is said of a
// buffer that the server does not have. Transcript and sound take turns.
var streamedAnswer = []string{
	"response.created", "rate_limits.updated",
	"response.output_item.added", "conversation.item.added", "response.content_part.added",
	"response.output_audio_transcript.delta", "response.output_audio.delta", "response.output_audio_transcript.delta", "response.output_audio.delta",
	"response.output_audio_transcript.delta", "response.output_audio.delta", "response.output_audio_transcript.delta", "response.output_audio.delta",
	"response.output_audio_transcript.delta", "response.output_audio.delta",
	"response.output_audio_transcript.delta", "response.output_audio.delta",
	"response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done",
	"response.output_item.done", "conversation.item.done",
	"response.done",
}

func TestASocketTurnHasItsEventsInThePublishedOrder(t *testing.T) {
	for _, vad := range []realtime.TurnDetection{{Type: realtime.ServerVAD}, {Type: realtime.SemanticVAD}} {
		t.Run(vad.Type, func(t *testing.T) {
			inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
				d := h.open()
				s := manual()
				s.Audio.Input.TurnDetection = realtime.Some(vad)
				d.send(&realtime.SessionUpdate{Session: *s})
				next[*realtime.SessionUpdated](d)
				begin := time.Now()
				d.talk(formPCM, 900*time.Millisecond, 2*time.Second)
				next[*realtime.ResponseDone](d)
				took := time.Since(begin)
				time.Sleep(10 * time.Second)
				d.hang()
				compare(t, d.order(), slices.Insert(append([]string{
					"session.created", "session.updated",
					"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
					"conversation.item.added", "conversation.item.done",
				}, streamedAnswer...), 9, "conversation.item.input_audio_transcription.completed")) // all was said in one event
				const spoken = 6 * 240 * time.Millisecond
				if n := len(d.octets()); n != int(spoken.Milliseconds())*48 {
					t.Errorf("%d octets of sound for six words of 240 ms", n)
				}
				if took > spoken/streamSpeed+20*time.Millisecond {
					t.Errorf("%v of speech took %v: slower than %d times real time", spoken, took, streamSpeed)
				}
				if got := every[*realtime.ConversationItemInputAudioTranscriptionCompleted](d)[0].Transcript; got != "hello" {
					t.Errorf("heard %q", got)
				}
				stop := every[*realtime.InputAudioBufferSpeechStopped](d)[0].AudioEndMS - 900
				if want := map[string]int{realtime.ServerVAD: 500, realtime.SemanticVAD: 600}[vad.Type]; stop < want-60 || stop > want+60 {
					t.Errorf("the turn ended %d ms behind the speech, want %d", stop, want)
				}
				done := every[*realtime.ResponseDone](d)[0].Response
				if done.Output[0].TextOf() != "One two three. Four five six." || done.Usage.OutputTokenDetails.AudioTokens != int64(spoken/(50*time.Millisecond)) {
					t.Errorf("response.done holds %+v, usage %+v", done.Output, done.Usage)
				}
			})
		})
	}
}

func TestAManualSocketTurnWaitsForTheCommit(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
		d := h.open()
		d.send(&realtime.SessionUpdate{Session: *manual()})
		for range 9 { // 90 ms are too little to commit, in whatever pieces
			d.talk(formPCM, 10*time.Millisecond, 0)
		}
		d.send(&realtime.InputAudioBufferCommit{EventID: "early"})
		if e := next[*realtime.ErrorEvent](d).Error; e.Code != codeCommitEmpty || e.EventID != "early" {
			t.Errorf("commit of 90 ms: %+v", e)
		}
		d.talk(formPCM, 10*time.Millisecond, 0)
		d.send(&realtime.InputAudioBufferCommit{})
		next[*realtime.ConversationItemInputAudioTranscriptionCompleted](d)
		d.send(&realtime.ResponseCreate{})
		next[*realtime.ResponseDone](d)
		d.talk(formPCM, time.Second, 0)
		d.send(&realtime.InputAudioBufferClear{}, &realtime.InputAudioBufferCommit{EventID: "cleared"})
		next[*realtime.InputAudioBufferCleared](d)
		if e := next[*realtime.ErrorEvent](d).Error; e.Code != codeCommitEmpty || e.EventID != "cleared" {
			t.Errorf("commit of what was cleared: %+v", e)
		}
		d.hang()
		compare(t, d.order()[2:], slices.Concat([]string{
			"error", "input_audio_buffer.committed", "conversation.item.added", "conversation.item.done",
			"conversation.item.input_audio_transcription.completed",
		}, streamedAnswer, []string{"input_audio_buffer.cleared", "error"}))
	})
}

func TestG711TravelsBothWays(t *testing.T) {
	for name, f := range map[string]form{"audio/pcmu": formPCMU, "audio/pcma": formPCMA} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
				d := h.open()
				d.send(&realtime.SessionUpdate{Session: *formats(serverVAD(), name)})
				if got := next[*realtime.SessionUpdated](d).Session.Audio; got.Input.Format.Type != name || got.Output.Format.Type != name {
					t.Errorf("formats %+v, %+v", got.Input.Format, got.Output.Format)
				}
				d.talk(f, 900*time.Millisecond, time.Second)
				made := next[*realtime.ResponseCreated](d).Response
				if made.Audio.Output.Format.Type != name {
					t.Errorf("the response says %s", made.Audio.Output.Format.Type)
				}
				next[*realtime.ResponseDone](d)
				d.hang()
				octets := d.octets()
				if len(octets) != 6*240*8 {
					t.Fatalf("%d octets for six words of 240 ms", len(octets))
				}
				law, _ := f.law()
				pcm := make([]int16, len(octets))
				law.Decode(pcm, octets)
				if db := level(pcm); db < -40 {
					t.Errorf("the answer sounds at %.0f dBFS", db)
				}
			})
		})
	}
}

func TestTheClientOfASocketSaysWhereItStopped(t *testing.T) {
	inHouse(t, scriptedBrain(t, longAnswer), []string{"stop"}, func(t *testing.T, h *house) {
		d := h.open()
		d.send(&realtime.SessionUpdate{Session: *serverVAD()}, typedText("go"), &realtime.ResponseCreate{})
		item := next[*realtime.ResponseOutputItemAdded](d).Item.ID
		next[*realtime.ResponseOutputAudioDelta](d)
		time.Sleep(100 * time.Millisecond) // 800 ms of speech have come
		d.talk(formPCM, 300*time.Millisecond, 100*time.Millisecond)
		done := next[*realtime.ResponseDone](d).Response
		if done.Status != realtime.StatusCancelled || done.StatusDetails.Reason != realtime.ReasonTurnDetected {
			t.Errorf("ended %s, %+v", done.Status, done.StatusDetails)
		}
		received := len(d.octets()) / 48
		if received < 800 || received > 1400 {
			t.Errorf("%d ms were received before the interruption", received)
		}
		if got := done.Output[0].TextOf(); !strings.HasPrefix("One two three four five six", strings.TrimSpace(got)) || got == "" {
			t.Errorf("the cancelled response said %q", got)
		}
		time.Sleep(5 * time.Second)
		if n := len(d.octets()) / 48; n != received {
			t.Errorf("%d ms came behind the cancellation", n-received)
		}
		for _, name := range d.order() {
			if strings.HasPrefix(name, "output_audio_buffer.") || name == "conversation.item.truncated" {
				t.Errorf("%s was sent over a WebSocket", name)
			}
		}

		d.send(&realtime.ConversationItemTruncate{EventID: "far", ItemID: item, AudioEndMS: received + 100})
		e := next[*realtime.ErrorEvent](d).Error
		if want := "Audio content of " + strconv.Itoa(received) + "ms is already shorter than " + strconv.Itoa(received+100) + "ms"; e.Message != want || e.EventID != "far" {
			t.Errorf("truncated too far: %+v, want %q", e, want)
		}
		d.send(&realtime.ConversationItemTruncate{ItemID: item, AudioEndMS: 500}, &realtime.ConversationItemRetrieve{ItemID: item})
		if got := next[*realtime.ConversationItemTruncated](d); got.AudioEndMS != 500 || got.ItemID != item {
			t.Errorf("truncated %+v", got)
		}
		got := next[*realtime.ConversationItemRetrieved](d).Item
		octets, err := base64.StdEncoding.DecodeString(got.Content[0].Audio)
		if err != nil || len(octets) != 500*48 || string(octets) != string(d.octets()[:len(octets)]) {
			t.Errorf("%d octets were retrieved of 500 ms (%v), or others than were sent", len(octets), err)
		}
		if got.TextOf() != "One two " {
			t.Errorf("the transcript of 500 ms is %q", got.TextOf())
		}

		user := every[*realtime.InputAudioBufferSpeechStarted](d)[0].ItemID
		d.send(&realtime.ConversationItemTruncate{EventID: "mine", ItemID: every[*realtime.ConversationItemAdded](d)[0].Item.ID})
		if e := next[*realtime.ErrorEvent](d).Error; e.Code != codeUnsupported || e.Message != "Only model output audio messages can be truncated" {
			t.Errorf("a user's item truncated: %+v", e)
		}
		d.talk(formPCM, 0, time.Second)
		next[*realtime.InputAudioBufferCommitted](d)
		d.send(&realtime.ConversationItemRetrieve{ItemID: user})
		spoken := next[*realtime.ConversationItemRetrieved](d).Item
		if octets, err = base64.StdEncoding.DecodeString(spoken.Content[0].Audio); err != nil || len(octets)/48 < 800 || len(octets)/48 > 1000 {
			t.Errorf("%d ms were retrieved of 300 ms of speech, the silence that ended it, and what was before (%v)", len(octets)/48, err)
		}
		if db := level(samples(octets)); db < -30 {
			t.Errorf("the person's words sound at %.0f dBFS", db)
		}
		d.hang()
	})
}

func TestACancelOverASocketStopsTheSound(t *testing.T) {
	inHouse(t, scriptedBrain(t, longAnswer), nil, func(t *testing.T, h *house) {
		d := h.open()
		d.send(typedText("go"), &realtime.ResponseCreate{})
		next[*realtime.ResponseOutputAudioDelta](d)
		d.send(&realtime.OutputAudioBufferClear{EventID: "clear"}, &realtime.ResponseCancel{}, &realtime.ResponseCancel{EventID: "again"})
		if e := next[*realtime.ErrorEvent](d).Error; e.Code != codeInvalidTransport || e.EventID != "clear" {
			t.Errorf("clear: %+v", e)
		}
		if done := next[*realtime.ResponseDone](d).Response; done.Status != realtime.StatusCancelled || done.StatusDetails.Reason != realtime.ReasonClientCancelled || done.Usage == nil {
			t.Errorf("ended %s, %+v", done.Status, done.StatusDetails)
		}
		if e := next[*realtime.ErrorEvent](d).Error; e.Code != codeNotActive || e.EventID != "again" {
			t.Errorf("second cancel: %+v", e)
		}
		n := len(d.octets())
		time.Sleep(5 * time.Second)
		d.hang()
		if more := len(d.octets()) - n; more != 0 {
			t.Errorf("%d octets came behind the cancellation", more)
		}
	})
}

func TestASocketIsToldWhatIsWrongWithItsAudio(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		d := h.open()
		wrong := manual()
		wrong.Audio.Input.Format = &realtime.AudioFormat{Type: "audio/pcm", Rate: 16000}
		for param, ev := range map[string]realtime.Event{
			"audio":                           &realtime.InputAudioBufferAppend{EventID: "a", Audio: "###"},
			"session.audio.input.format.rate": &realtime.SessionUpdate{EventID: "b", Session: *wrong},
		} {
			d.send(ev)
			if e := next[*realtime.ErrorEvent](d).Error; e.Code != realtime.CodeInvalidValue || e.Param != param || e.EventID != eventID(ev) {
				t.Errorf("%s: %+v", param, e)
			}
		}
		d.hang()
	})
}

func TestASocketOpensWithASecretAndBoundsCount(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		s := formats(manual(), "audio/pcmu")
		secret, err := client.MintSecret(t.Context(), h.http, baseURL, testKey, realtime.ClientSecretRequest{Session: s})
		if err != nil {
			t.Fatal(err)
		}
		d := h.open(func(c *client.SocketConfig) { c.Token, c.AsBrowser = secret.Value, true })
		if got := next[*realtime.SessionCreated](d).Session; got.Model != "gpt-realtime" || got.Audio.Input.Format.Type != "audio/pcmu" || got.TurnDetection() != nil {
			t.Errorf("session %+v", got)
		}
		h.server.cfg.MaxSessions = 1
		_, err = h.dialSocket()
		var e *realtime.Error
		if !errors.As(err, &e) || e.Status != http.StatusTooManyRequests || e.RetryAfter == 0 {
			t.Errorf("a second session: %v", err)
		}
		_, err = h.dialSocket(func(c *client.SocketConfig) { c.Token = "sk-wrong" })
		if !errors.As(err, &e) || e.Status != http.StatusUnauthorized {
			t.Errorf("a wrong key: %v", err)
		}
		h.stop()
		<-d.ended
		var bye *socket.CloseError
		if d.err != nil && !errors.As(d.err, &bye) {
			t.Errorf("ended with %v", d.err)
		}
		if _, err = h.dialSocket(); !errors.As(err, &e) || e.Status != http.StatusServiceUnavailable {
			t.Errorf("after the drain: %v", err)
		}
	})
}

func TestATranscriptionSessionOnlyWrites(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
		intent := func(c *client.SocketConfig) { c.Model, c.Intent = "", "transcription" }
		d := h.open(intent)
		if s := next[*realtime.SessionCreated](d).Session; s.Type != realtime.SessionTranscription || s.Audio.Input.Transcription.Value == nil {
			t.Errorf("session %+v", s)
		}
		d.talk(formPCM, 900*time.Millisecond, time.Second)
		if got := next[*realtime.ConversationItemInputAudioTranscriptionCompleted](d); got.Transcript != "hello" {
			t.Errorf("heard %q", got.Transcript)
		}
		d.send(&realtime.ResponseCreate{EventID: "r"})
		if e := next[*realtime.ErrorEvent](d).Error; e.Code != realtime.CodeNotSupported || e.EventID != "r" {
			t.Errorf("response.create: %+v", e)
		}
		time.Sleep(5 * time.Second)
		d.hang()
		compare(t, d.order(), []string{
			"session.created", "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
			"conversation.item.added", "conversation.item.done", "conversation.item.input_audio_transcription.completed", "error",
		})
		secret, err := client.MintSecret(t.Context(), h.http, baseURL, testKey, realtime.ClientSecretRequest{Session: manual()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.dialSocket(intent, func(c *client.SocketConfig) { c.Token = secret.Value })
		var e *realtime.Error
		if !errors.As(err, &e) || e.Param != "intent" {
			t.Errorf("a secret for a conversation: %v", err)
		}
	})
}
