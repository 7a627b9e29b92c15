package openaiws

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// maxBad is how many messages in a row may be none of the protocol before the far side counts as something else.
const maxBad = 5

// betaNames are event types that older compatible servers still use, and their present names.
var betaNames = map[string]string{
	"response.audio.delta": "response.output_audio.delta", "response.audio.done": "response.output_audio.done",
	"response.audio_transcript.delta": "response.output_audio_transcript.delta", "response.audio_transcript.done": "response.output_audio_transcript.done",
	"response.text.delta": "response.output_text.delta", "response.text.done": "response.output_text.done",
}

// audioDelta is the one event whose bytes are not worth a second look.
type audioDelta struct {
	Type         string `json:"type"`
	ResponseID   string `json:"response_id"`
	ItemID       string `json:"item_id"`
	ContentIndex int    `json:"content_index"`
	Delta        string `json:"delta"`
}

// handle takes one message of the provider.
func (l *leg) handle(raw []byte) {
	l.mu.Lock()
	copied := l.seen.twice(raw)
	l.mu.Unlock()
	if copied {
		return
	}
	if bytes.Contains(raw, []byte(`audio.delta"`)) {
		if l.audio(raw) {
			return
		}
	}
	ev, err := realtime.Decode(realtime.FromServer, raw)
	if err != nil {
		raw, ev, err = l.modern(raw, err)
	}
	var e *realtime.Error
	if errors.As(err, &e) && e.Code != realtime.CodeUnknownEvent {
		l.malformed(e.Code)
		return
	}
	l.mu.Lock()
	l.bad = 0
	l.mu.Unlock()
	l.take(raw, ev)
}

// modern gives an event of an old name its present one.
func (l *leg) modern(raw []byte, err error) ([]byte, realtime.Event, error) {
	typ, _, peek := realtime.Peek(raw)
	name := betaNames[typ]
	if peek != nil || name == "" {
		return raw, nil, err
	}
	raw = bytes.Replace(raw, []byte(`"`+typ+`"`), []byte(`"`+name+`"`), 1)
	ev, err := realtime.Decode(realtime.FromServer, raw)
	return raw, ev, err
}

// malformed: a message is not of the protocol. It is left out and told; a far side that sends nothing else is not our provider.
func (l *leg) malformed(code string) {
	l.mu.Lock()
	l.bad++
	over := l.bad >= maxBad
	l.mu.Unlock()
	l.log.Warn("the provider sent something that is not of the protocol", "code", code)
	cause := &provider.Error{Class: provider.BadAnswer, Code: code}
	if over {
		l.line.Fail(cause)
		return
	}
	provider.ReportNotice(l.sink, provider.Notice{Kind: provider.Malformed, Cause: cause})
}

// audio takes a piece of sound; false: it is something else.
func (l *leg) audio(raw []byte) bool {
	var d audioDelta
	if json.Unmarshal(raw, &d) != nil || d.Type != "response.output_audio.delta" && d.Type != "response.audio.delta" {
		return false
	}
	samples, err := base64.StdEncoding.DecodeString(d.Delta)
	if err != nil || d.ResponseID == "" || d.ItemID == "" {
		l.malformed(realtime.CodeInvalidValue)
		return true
	}
	l.mu.Lock()
	l.bad = 0
	l.mu.Unlock()
	l.out.Audio(d.ResponseID, d.ItemID, d.ContentIndex, samples)
	return true
}

// take follows the conversation and passes the event on.
func (l *leg) take(raw []byte, ev realtime.Event) {
	if l.private(ev) {
		return
	}
	if done, ok := ev.(*realtime.ResponseDone); ok && !l.finish(done.Response.ID) {
		return // it was ended with its connection, or is a copy
	}
	l.out.Do(func() { l.sink.ProviderEvent(raw, ev) })
	switch ev := ev.(type) {
	case *realtime.SessionUpdated:
		l.expires(ev.Session.ExpiresAt)
	case *realtime.ResponseCreated:
		l.confirm("create", "")
		l.mu.Lock()
		l.active = append(l.active, ev.Response.ID)
		l.mu.Unlock()
		l.out.Begin(ev.Response.ID)
	case *realtime.ResponseOutputAudioDone:
		l.out.AudioDone(ev.ItemID)
	case *realtime.ResponseDone:
		for _, it := range ev.Response.Output {
			l.past.Put(it, nil)
		}
		l.account(ev)
		l.out.Done(ev.Response.ID)
	case *realtime.InputAudioBufferCommitted:
		l.taken("commit")
	case *realtime.InputAudioBufferCleared:
		l.taken("clear")
	case *realtime.InputAudioBufferSpeechStarted:
		if l.interrupts() {
			l.interrupted()
		}
	case *realtime.ErrorEvent:
		if ev.Error != nil && ev.Error.EventID != "" {
			l.confirm("", ev.Error.EventID)
		}
	default:
		l.remember(ev)
	}
}

// private handles what belongs to the adapter's own doing and is nobody else's business.
func (l *leg) private(ev realtime.Event) bool {
	l.mu.Lock()
	told := l.told
	l.mu.Unlock()
	switch ev := ev.(type) {
	case *realtime.ConversationItemAdded:
		return told[ev.Item.ID]
	case *realtime.ConversationItemDone:
		return told[ev.Item.ID]
	case *realtime.ConversationItemCreated:
		return told[ev.Item.ID]
	case *realtime.ErrorEvent:
		if ev.Error == nil {
			return true
		}
		if ev.Error.Code == "session_expired" {
			l.line.Fail(&provider.Error{Class: provider.Expired, Code: ev.Error.Code})
			return true
		}
		return ours(ev.Error.EventID)
	}
	return false
}

// remember keeps what a new connection would have to be told.
func (l *leg) remember(ev realtime.Event) {
	switch ev := ev.(type) {
	case *realtime.ConversationItemAdded:
		l.added(ev.Item, ev.PreviousItemID)
	case *realtime.ConversationItemCreated:
		l.added(ev.Item, ev.PreviousItemID)
	case *realtime.ConversationItemDone:
		l.added(ev.Item, ev.PreviousItemID)
	case *realtime.ConversationItemDeleted:
		l.past.Delete(ev.ItemID)
		l.transcribed(ev.ItemID)
	case *realtime.ConversationItemInputAudioTranscriptionCompleted:
		l.past.Text(ev.ItemID, ev.Transcript)
		l.transcribed(ev.ItemID)
		if u, ok := provider.UsageOf(ev, l.model); ok {
			provider.ReportUsage(l.sink, u)
		}
	case *realtime.ConversationItemInputAudioTranscriptionFailed:
		l.transcribed(ev.ItemID)
	case *realtime.ResponseOutputAudioTranscriptDelta:
		l.past.Append(ev.ItemID, ev.Delta)
	case *realtime.ResponseOutputAudioTranscriptDone:
		l.past.Text(ev.ItemID, ev.Transcript)
	case *realtime.ResponseOutputTextDone:
		l.past.Text(ev.ItemID, ev.Text)
	}
}

func (l *leg) added(it realtime.Item, previous *string) {
	l.confirm("item", it.ID)
	l.past.Put(it, previous)
	if it.Type != realtime.ItemMessage || it.Role != realtime.RoleUser || it.TextOf() != "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if in := l.session.Audio; in == nil || in.Input == nil || in.Input.Transcription.Value == nil {
		return // nobody will write down what was said
	}
	if l.waits == nil {
		l.waits = map[string]string{}
	}
	l.waits[it.ID] = it.ID
	time.AfterFunc(transcriptWait, func() { l.transcribed(it.ID) })
}

// transcriptWait is how long a change of the connection waits for the words of an item.
const transcriptWait = 5 * time.Second

func (l *leg) transcribed(id string) { l.mu.Lock(); delete(l.waits, id); l.mu.Unlock() }

// taken lets go of the audio that the provider has taken, or thrown away.
func (l *leg) taken(kind string) { l.mu.Lock(); l.sent.taken(kind); l.mu.Unlock() }

// finish takes a response off the list of those that run; false: it was taken off before.
func (l *leg) finish(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.active, id); i >= 0 {
		l.active = slices.Delete(slices.Clone(l.active), i, i+1)
	}
	if slices.Contains(l.ended, id) {
		return false
	}
	if len(l.ended) >= 32 {
		l.ended = l.ended[1:]
	}
	l.ended = append(l.ended, id)
	return true
}

// recent holds the ids of the events that came lately: a copy of one is not a second event.
type recent struct {
	ids  [64]string
	next int
}

// twice tells whether the message is a copy, and notes it.
func (r *recent) twice(raw []byte) bool {
	_, rest, ok := bytes.Cut(raw, []byte(`"event_id":`))
	if !ok || bytes.Contains(raw[:min(len(raw), 64)], []byte(`"error"`)) {
		return false
	}
	rest = bytes.TrimLeft(rest, " \"")
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || len(id) == 0 || len(id) > 128 {
		return false
	}
	if slices.Contains(r.ids[:], string(id)) {
		return true
	}
	r.ids[r.next] = string(id)
	r.next = (r.next + 1) % len(r.ids)
	return false
}

// interrupts: the provider finds the turns, and stops its answer when the person speaks.
func (l *leg) interrupts() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session.Audio == nil || l.session.Audio.Input == nil {
		return false
	}
	d := l.session.Audio.Input.TurnDetection.Value
	return d != nil && (d.InterruptResponse == nil || *d.InterruptResponse)
}

// account gives the record of a response.
func (l *leg) account(ev *realtime.ResponseDone) {
	u, _ := provider.UsageOf(ev, l.model)
	u.AudioIn = time.Duration(l.audioIn.Swap(0))
	u.AudioOut = l.out.Received(ev.Response.ID)
	provider.ReportUsage(l.sink, u)
}
