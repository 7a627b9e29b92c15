package local

import (
	"context"
	"errors"
	"time"

	"hovor/gateway/provider/local/ear"
	"hovor/signaling/realtime"
)

const recognizeWithin = 10 * time.Second

// guess is what the ear makes, or will make, of an utterance.
type guess struct {
	id      string
	active  int // frames with sound it was made from
	ready   bool
	result  ear.Result
	err     error
	entries *entry // the user item that waits for it
}

// setDetection follows the session's turn detection.
func (x *session) setDetection() {
	t := x.config.TurnDetection()
	if t == nil {
		x.detect = nil
		return
	}
	x.detect = newDetection(t, x.server.detector())
}

// listen takes what the tap has handed out since the last time.
func (x *session) listen() {
	taken := x.hearing.take()
	defer x.hearing.done(taken)
	for _, h := range taken {
		if h.barrier != nil {
			h.barrier()
			continue
		}
		x.hear(h.pcm, h.pos)
	}
}

// hear takes consecutive audio, pos being the stream time of its first sample.
func (x *session) hear(pcm []int16, pos time.Duration) {
	x.position = pos + time.Duration(len(pcm))*time.Second/ear.Rate
	if x.input.add(pcm) {
		x.recognize(true)
	}
	if x.detect == nil {
		return
	}
	switch c, at := x.detect.add(pcm, pos); c {
	case speechStarted:
		x.speechStarted(at)
	case speechStopped:
		x.speechStopped(at)
	}
}

func (x *session) speechStarted(at time.Duration) {
	x.idle.stop()
	if x.intake != nil {
		x.intake.record.begin(at)
	}
	x.emit(&realtime.InputAudioBufferSpeechStarted{AudioStartMS: int(at.Milliseconds()), ItemID: x.input.id})
	if t := x.config.TurnDetection(); t != nil && t.InterruptResponse != nil && *t.InterruptResponse {
		x.interrupt()
	}
}

func (x *session) speechStopped(at time.Duration) {
	x.emit(&realtime.InputAudioBufferSpeechStopped{AudioEndMS: int(at.Milliseconds()), ItemID: x.input.id})
	x.commit()
	if t := x.config.TurnDetection(); t != nil && t.CreateResponse != nil && *t.CreateResponse && x.active == nil && !x.transcribes() {
		x.respond(nil)
	}
}

func (x *session) clientCommit(ev *realtime.InputAudioBufferCommit) {
	if x.input.total < shortestCommit {
		x.fail(ev, realtime.Invalid(codeCommitEmpty, "", "there is less than 100 ms of audio since the last commit: nothing to commit"))
		return
	}
	x.commit()
}

func (x *session) clientClear() {
	x.guess = nil
	x.input.reset()
	if x.intake != nil {
		x.intake.record.take(x.position)
	}
	x.emit(&realtime.InputAudioBufferCleared{})
}

// commit makes a user item of the buffer, and lets its transcript follow.
func (x *session) commit() {
	in := x.input
	item := realtime.Item{ID: in.id, Object: "realtime.item", Type: realtime.ItemMessage, Status: realtime.StatusCompleted,
		Role: realtime.RoleUser, Content: []realtime.Content{{Type: realtime.ContentInputAudio}}}
	e := &entry{item: item, spoken: true, silent: in.silent(), audio: in.total}
	if x.intake != nil {
		e.sound, e.octets = x.intake.record.take(x.position), x.intake.record.octets
		x.items.remember(e)
	}
	previous := x.items.append(e)
	x.emit(&realtime.InputAudioBufferCommitted{PreviousItemID: previous, ItemID: in.id})
	x.emit(&realtime.ConversationItemAdded{PreviousItemID: previous, Item: item})
	x.emit(&realtime.ConversationItemDone{PreviousItemID: previous, Item: item})
	x.language = x.baseLanguage() // the ear hears English only; a typed language holds for what is typed

	e.recognizing = true
	x.waiting++
	g := x.guess
	switch {
	case e.silent:
		g = &guess{ready: true}
	case g == nil || g.id != in.id || g.active != in.active:
		g = x.recognize(false)
	}
	g.entries = e
	x.guess = nil
	in.reset()
	if g.ready {
		x.transcribed(g)
	}
}

// recognize lets the ear listen to what the buffer holds. It starts early, in every pause, so that at the end of a turn
// the words are usually there already. An older guess that is still under way is forgotten.
func (x *session) recognize(early bool) *guess {
	g := &guess{id: x.input.id, active: x.input.active}
	x.guess = g
	x.attend(g, ear.Utterance{ID: g.id, PCM: x.input.speech[:len(x.input.speech):len(x.input.speech)], Early: early})
	return g
}

func (x *session) attend(g *guess, u ear.Utterance) {
	x.helpers.Go(func() {
		ctx, cancel := context.WithTimeout(x.ctx, recognizeWithin)
		defer cancel()
		result, err := x.server.ear.Recognize(ctx, u)
		x.post(x.ctx, func() { x.guessed(g, u, result, err) })
	})
}

func (x *session) guessed(g *guess, u ear.Utterance, result ear.Result, err error) {
	if errors.Is(err, ear.ErrBusy) {
		if g.entries == nil {
			if x.guess == g {
				x.guess = nil
			}
			return
		}
		u.Early = false // it was committed meanwhile: now it is worth waiting for
		x.attend(g, u)
		return
	}
	g.ready, g.result, g.err = true, result, err
	if g.entries != nil {
		x.transcribed(g)
	}
}

// transcribed gives a committed item its words, and goes on with what waited for them.
func (x *session) transcribed(g *guess) {
	e := g.entries
	e.recognizing = false
	e.setTranscript(g.result.Text)
	if x.config.Audio.Input.Transcription.Value != nil {
		if g.err != nil {
			x.log.Warn("speech was not recognized", "call_id", x.id, "error", g.err)
			x.emit(&realtime.ConversationItemInputAudioTranscriptionFailed{ItemID: e.item.ID, Error: realtime.TranscriptionError{
				Type: "transcription_error", Code: "audio_unintelligible", Message: "the recognizer failed on this audio"}})
		} else {
			x.emit(&realtime.ConversationItemInputAudioTranscriptionCompleted{ItemID: e.item.ID, Transcript: g.result.Text,
				Usage: &realtime.TranscriptionUsage{Type: "duration", Seconds: e.audio.Seconds()}})
		}
	}
	x.waiting--
	if x.waiting > 0 {
		return
	}
	deferred := x.deferred
	x.deferred = nil
	for _, fn := range deferred {
		fn()
	}
}
