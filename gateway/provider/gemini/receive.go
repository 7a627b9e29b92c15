package gemini

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// maxBad is how many messages in a row may be none of the protocol before the far side counts as something else.
const maxBad = 5

// handleRaw takes one message of Live.
func (l *leg) handleRaw(raw []byte) {
	var m serverMessage
	err := json.Unmarshal(raw, &m)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if err != nil {
		l.malformed()
		return
	}
	l.bad = 0
	if m.known() { // others are news that we do not need
		l.handle(&m)
	}
}

// malformed: a message is not of the protocol. It is left out and told; a far side that sends nothing else is not our provider.
func (l *leg) malformed() {
	l.bad++
	l.log.Warn("the provider sent something that is not of the protocol")
	cause := &provider.Error{Class: provider.BadAnswer, Code: realtime.CodeInvalidEvent}
	if l.bad >= maxBad {
		l.line.Fail(cause)
		return
	}
	provider.ReportNotice(l.sink, provider.Notice{Kind: provider.Malformed, Cause: cause})
}

func (l *leg) handle(m *serverMessage) {
	if m.UsageMetadata != nil {
		if l.owed && (l.active == nil || !l.active.begun) { // it comes with the end of the turn, after the answer
			l.lateUsage(m.UsageMetadata.usage())
		} else {
			l.counted = m.UsageMetadata.usage()
		}
	}
	if c := m.ServerContent; c != nil {
		l.serverContent(c)
	}
	if m.ToolCall != nil && len(m.ToolCall.FunctionCalls) > 0 {
		if l.zombie {
			l.declined(m.ToolCall.FunctionCalls)
		} else {
			l.toolCall(m.ToolCall.FunctionCalls)
		}
	}
	if c := m.ToolCallCancellation; c != nil {
		l.cancelled(c.IDs)
	}
	if u := m.SessionResumptionUpdate; u != nil {
		if l.ticket = ""; u.Resumable {
			l.ticket = u.NewHandle
		}
	}
	if g := m.GoAway; g != nil {
		l.line.Expire(timeLeft(g.TimeLeft))
		l.line.Renew()
	}
	if e := m.Error; e != nil {
		l.line.Fail(&provider.Error{Class: provider.ClassOfStatus(e.Code), Status: e.Code, Code: e.Status})
	}
}

// declined answers calls of an answer that was cancelled: they are not run, and Live must not wait for them.
func (l *leg) declined(calls []functionCall) {
	var r toolResponse
	for _, f := range calls {
		r.FunctionResponses = append(r.FunctionResponses, functionResponse{ID: f.ID, Name: f.Name, Response: json.RawMessage(`{"error":"cancelled by the user"}`)})
	}
	if err := l.line.Write(encode(clientMessage{ToolResponse: &r})); err != nil {
		l.log.Warn("tool output not sent", "error", err)
	}
}

// serverContent takes a piece of the conversation. A message may hold several things; interruption comes first.
func (l *leg) serverContent(c *serverContent) {
	if c.Interrupted {
		l.interrupted()
	}
	if t := c.InputTranscription; t != nil {
		l.transcript(t)
	}
	if !l.zombie {
		if t := c.ModelTurn; t != nil {
			l.modelTurn(t)
		}
		if t := c.OutputTranscription; t != nil && (l.active != nil || !c.Interrupted) {
			if l.begun() {
				l.spell(t.Text, false)
			}
		}
		if c.GenerationComplete && l.active != nil && l.active.begun && l.grace == nil {
			l.wait()
		}
	}
	if c.TurnComplete {
		l.turnComplete(c.TurnCompleteReason)
	}
}

// begun notes that something of an answer came, and opens one that nobody asked for; false: it is only the rest of one that is done.
func (l *leg) begun() bool {
	if l.active == nil {
		if l.unended {
			return false
		}
		l.found()
		l.begin(true)
	}
	if !l.active.begun {
		l.settleUsage() // nothing more is counted for the one before
	}
	l.active.begun, l.unended = true, false
	return true
}

func (l *leg) modelTurn(t *content) {
	for _, p := range t.Parts {
		switch {
		case p.Thought:
		case p.InlineData != nil && strings.HasPrefix(p.InlineData.MimeType, "audio/pcm"):
			pcm, err := base64.StdEncoding.DecodeString(p.InlineData.Data)
			if err != nil {
				l.malformed()
				continue
			}
			if l.begunAnew() {
				l.sound(pcm)
			}
		case p.Text != "" && l.writes():
			if l.begunAnew() {
				l.spell(p.Text, true)
			}
		}
	}
}

// begunAnew is begun for content of the model, which always belongs to an answer: one that comes after another was done is a
// new one.
func (l *leg) begunAnew() bool {
	if l.active == nil {
		l.unended = false
	}
	return l.begun()
}

// writes: the session asks for text. Beside audio Live's text parts are thoughts and comments.
func (l *leg) writes() bool {
	m := l.session.OutputModalities
	return len(m) == 1 && m[0] == "text"
}

// wait closes the answer in a moment: its last words and its count may still come.
func (l *leg) wait() {
	a := l.active
	l.grace = time.AfterFunc(trailing, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.active == a && !l.over {
			l.finish(realtime.StatusCompleted, "", nil)
			l.unended = true
		}
	})
}

// turnComplete closes what is open.
func (l *leg) turnComplete(reason string) {
	switch {
	case l.zombie:
		l.zombie = false
		return
	case l.active == nil || l.unended && !l.active.begun:
		l.unended = false // the end of the answer before
		return
	case reason == "" || reason == "TURN_COMPLETE_REASON_UNSPECIFIED" || reason == "NEED_MORE_INPUT":
		l.finish(realtime.StatusCompleted, "", nil)
	case reason == "MALFORMED_FUNCTION_CALL":
		l.finish(realtime.StatusFailed, "", &realtime.StatusError{Type: realtime.TypeServer, Code: "malformed_function_call"})
	default:
		l.finish(realtime.StatusIncomplete, realtime.ReasonContentFilter, nil)
	}
	l.unended = false
}

// interrupted: Live heard the person over its answer. What is played stops now; that what was said is not known yet does not matter.
func (l *leg) interrupted() {
	if l.zombie {
		return // we know: we said so
	}
	sounding := !l.out.Quiet()
	if l.active == nil && !sounding {
		return
	}
	if l.active != nil && !l.active.begun {
		return // it stopped what was before the question
	}
	if l.auto {
		l.notice()
	}
	cuts := l.out.Clear(true)
	if l.active != nil {
		l.finish(realtime.StatusCancelled, realtime.ReasonTurnDetected, nil)
		l.zombie = true // until turnComplete
	}
	for _, cut := range cuts {
		l.past.Cut(cut.ItemID, cut.Heard, cut.Received)
		l.say(&realtime.ConversationItemTruncated{ItemID: cut.ItemID, ContentIndex: cut.Content, AudioEndMS: int(cut.Heard / time.Millisecond)})
	}
}

// notice tells that the person speaks, when Live finds the turns.
func (l *leg) notice() {
	if l.noticed == "" {
		l.noticed = realtime.NewID("item")
		l.say(&realtime.InputAudioBufferSpeechStarted{AudioStartMS: int(l.received / time.Millisecond), ItemID: l.noticed})
	}
}

// found makes the item of a turn that Live found, now that it answers it.
func (l *leg) found() {
	if !l.auto {
		return
	}
	l.notice()
	id := l.noticed
	l.noticed = ""
	words := l.words
	l.say(&realtime.InputAudioBufferSpeechStopped{AudioEndMS: int(l.received / time.Millisecond), ItemID: id})
	l.say(&realtime.InputAudioBufferCommitted{ItemID: id, PreviousItemID: l.past.Last()})
	l.person(id)
	l.words = words
	if words != "" {
		l.say(&realtime.ConversationItemInputAudioTranscriptionDelta{ItemID: id, Delta: words})
	}
}

// transcript takes a piece of what the person said.
func (l *leg) transcript(t *transcription) {
	if t.Text != "" {
		if l.auto && l.active == nil {
			if l.said != "" {
				l.heard()
			}
			l.notice()
		}
		l.words += t.Text
		if l.said != "" {
			l.say(&realtime.ConversationItemInputAudioTranscriptionDelta{ItemID: l.said, Delta: t.Text})
		}
	}
	if t.Finished {
		l.heard()
	}
}

// heard closes the transcript of what was said.
func (l *leg) heard() {
	if l.said == "" {
		return
	}
	id, words := l.said, strings.TrimSpace(l.words)
	l.said, l.words = "", ""
	if in := l.session.Audio.Input; in.Transcription.Value == nil && words == "" {
		return
	}
	l.past.Text(id, words)
	l.say(&realtime.ConversationItemInputAudioTranscriptionCompleted{ItemID: id, Transcript: words})
}
