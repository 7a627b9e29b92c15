package gemini

import (
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/socket"
	"hovor/signaling/realtime"
)

// trailing is how long after generationComplete words and the count of tokens may still come before the answer is closed:
// Live sends turnComplete only when it believes that all was played.
const trailing = 300 * time.Millisecond

// answer is a response that is being made.
type answer struct {
	id      string
	own     bool // nobody asked for it
	begun   bool // something came
	item    string
	text    bool // it is written, not spoken
	words   string
	index   int // of the next output item
	output  []realtime.Item
	inTools bool // it ended in calls of functions
}

// ask starts an answer: what waits goes to Live, and Live answers.
func (l *leg) ask(ev *realtime.ResponseCreate) error {
	if l.active != nil {
		if l.active.own {
			l.active.own = false // it is the answer that is asked for
			return nil
		}
		l.refuse("conversation_already_has_active_response", "", "A response is in progress. Wait for response.done.", ev.EventID)
		return nil
	}
	if ev.Response != nil && ev.Response.Conversation == "none" {
		l.refuse(realtime.CodeInvalidValue, "response.conversation", "This provider answers in the conversation only.", ev.EventID)
		return nil
	}
	if ev.Response != nil {
		for _, it := range ev.Response.Input {
			if it.Type == realtime.ItemMessage && it.TextOf() != "" {
				l.pending = append(l.pending, it)
			}
		}
		if s := ev.Response.Instructions; s != nil && *s != "" {
			l.pending = append(l.pending, realtime.SystemText(*s))
		}
	}
	l.begin(false)
	return l.put()
}

// put sends what waits, so that Live answers: outputs of tools, then words, then what was said.
func (l *leg) put() error {
	l.asked = nil
	var pieces [][]byte
	if len(l.answers) > 0 {
		pieces = append(pieces, l.toolAnswers()...)
	}
	spoken := len(l.turn) > 0 || l.spoken
	var turns []content
	for _, it := range l.pending {
		if c, ok := turn(it, nil); ok {
			turns = append(turns, c)
		}
	}
	l.pending = nil
	if len(turns) > 0 || len(pieces) == 0 && !spoken {
		pieces = append(pieces, encode(clientMessage{ClientContent: &clientContent{Turns: turns, TurnComplete: !spoken}}))
	}
	switch {
	case l.spoken:
		pieces = append(pieces, activityEnd())
	case len(l.turn) > 0:
		l.audioIn += time.Duration(len(l.turn)) * 20 * time.Millisecond
		pieces = append(append(append(pieces, activityStart()), l.turn...), activityEnd())
	}
	l.turn, l.spoken, l.live = nil, false, false
	for _, raw := range pieces {
		l.asked = append(l.asked, socket.Pending{Raw: raw})
		if err := l.line.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

// begin opens the response.
func (l *leg) begin(own bool) {
	l.active = &answer{id: realtime.NewID("resp"), own: own}
	l.counted = nil
	l.say(&realtime.ResponseCreated{Response: realtime.Response{ID: l.active.id, Status: realtime.StatusInProgress, Output: []realtime.Item{}}})
	l.out.Begin(l.active.id)
}

// open makes the message of the answer, with its first piece.
func (l *leg) openItem(text bool) *answer {
	a := l.active
	if a.item != "" {
		return a
	}
	a.item, a.text = realtime.NewID("item"), text
	previous := l.past.Last()
	it := realtime.Item{ID: a.item, Type: realtime.ItemMessage, Role: realtime.RoleAssistant, Status: realtime.StatusInProgress, Content: []realtime.Content{}}
	l.past.Put(it, nil)
	l.say(&realtime.ResponseOutputItemAdded{ResponseID: a.id, OutputIndex: a.index, Item: it})
	l.say(&realtime.ConversationItemAdded{PreviousItemID: previous, Item: it})
	kind := realtime.PartAudio
	if text {
		kind = realtime.PartText
	}
	l.say(&realtime.ResponseContentPartAdded{ResponseID: a.id, ItemID: a.item, OutputIndex: a.index, Part: realtime.Part{Type: kind}})
	return a
}

// sound takes a piece of what is said.
func (l *leg) sound(pcm []byte) {
	a := l.openItem(false)
	l.out.Audio(a.id, a.item, 0, pcm)
}

// spell takes a piece of the words of what is said, or of what is written.
func (l *leg) spell(text string, written bool) {
	if text == "" {
		return
	}
	a := l.openItem(written)
	a.words += text
	l.past.Append(a.item, text)
	if a.text {
		l.say(&realtime.ResponseOutputTextDelta{ResponseID: a.id, ItemID: a.item, OutputIndex: a.index, Delta: text})
		return
	}
	l.say(&realtime.ResponseOutputAudioTranscriptDelta{ResponseID: a.id, ItemID: a.item, OutputIndex: a.index, Delta: text})
}

// closeItem finishes the message of the answer.
func (l *leg) closeItem(status string) {
	a := l.active
	if a.item == "" {
		return
	}
	words := a.words
	c, p := realtime.Content{Type: realtime.ContentOutputAudio, Transcript: &words}, realtime.Part{Type: realtime.PartAudio, Transcript: words}
	if a.text {
		c, p = realtime.Content{Type: realtime.ContentOutputText, Text: words}, realtime.Part{Type: realtime.PartText, Text: words}
		l.say(&realtime.ResponseOutputTextDone{ResponseID: a.id, ItemID: a.item, OutputIndex: a.index, Text: words})
	} else {
		l.say(&realtime.ResponseOutputAudioDone{ResponseID: a.id, ItemID: a.item, OutputIndex: a.index})
		l.out.AudioDone(a.item)
		l.say(&realtime.ResponseOutputAudioTranscriptDone{ResponseID: a.id, ItemID: a.item, OutputIndex: a.index, Transcript: words})
	}
	l.say(&realtime.ResponseContentPartDone{ResponseID: a.id, ItemID: a.item, OutputIndex: a.index, Part: p})
	it := realtime.Item{ID: a.item, Type: realtime.ItemMessage, Role: realtime.RoleAssistant, Status: status, Content: []realtime.Content{c}}
	l.past.Put(it, nil)
	l.say(&realtime.ResponseOutputItemDone{ResponseID: a.id, OutputIndex: a.index, Item: it})
	l.say(&realtime.ConversationItemDone{Item: it})
	a.output = append(a.output, it)
	a.index++
	a.item, a.words = "", ""
}

// finish closes the answer.
func (l *leg) finish(status, reason string, cause *realtime.StatusError) {
	a := l.active
	if a == nil {
		return
	}
	if l.grace != nil {
		l.grace.Stop()
		l.grace = nil
	}
	is := realtime.StatusCompleted
	if status != realtime.StatusCompleted {
		is = realtime.StatusIncomplete
	}
	l.heard()
	l.closeItem(is)
	l.active, l.asked = nil, nil
	resp := realtime.Response{ID: a.id, Status: status, Output: a.output, Usage: l.counted}
	if status != realtime.StatusCompleted {
		resp.StatusDetails = &realtime.StatusDetails{Type: status, Reason: reason, Error: cause}
	}
	done := &realtime.ResponseDone{Response: resp}
	l.say(done)
	l.settleUsage()
	l.last, _ = provider.UsageOf(done, l.model)
	l.last.AudioIn, l.audioIn = l.audioIn, 0
	l.last.AudioOut = l.out.Received(a.id)
	l.owed = true
	if l.counted != nil {
		l.settleUsage()
	}
	l.out.Done(a.id)
}

// lateUsage completes the record of the answer that is done.
func (l *leg) lateUsage(count *realtime.Usage) {
	late, _ := provider.UsageOf(&realtime.ResponseDone{Response: realtime.Response{ID: l.last.ID, Status: l.last.Status, Usage: count}}, l.model)
	late.AudioIn, late.AudioOut = l.last.AudioIn, l.last.AudioOut
	l.last = late
	l.settleUsage()
}

// settleUsage reports the answer that is done.
func (l *leg) settleUsage() {
	if l.owed {
		l.owed = false
		provider.ReportUsage(l.sink, l.last)
	}
}

// cancel ends the answer here. Live has no cancel: what it still sends of it is dropped, and the next question stops it.
func (l *leg) cancel(ev *realtime.ResponseCancel) {
	if l.active == nil || ev.ResponseID != "" && ev.ResponseID != l.active.id {
		l.refuse("response_cancel_not_active", "", "There is no response to cancel.", ev.EventID)
		return
	}
	l.abandon()
}

// abandon ends the answer that is being made, because somebody here does not want it any more.
func (l *leg) abandon() {
	if l.active == nil {
		return
	}
	l.zombie = !l.active.inTools
	l.out.Cancel(l.active.id)
	l.finish(realtime.StatusCancelled, realtime.ReasonClientCancelled, nil)
}

// fail ends the answer that is being made, because nothing more can come.
func (l *leg) fail(cause *provider.Error) {
	l.finish(realtime.StatusFailed, "", &realtime.StatusError{Type: realtime.TypeServer, Code: "connection_" + string(cause.Class), Message: cause.Sentence()})
}

// lost: the connection went under way. A question that was not answered yet is asked again.
func (l *leg) lost(cause *provider.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.zombie = false
	if l.active != nil && l.active.begun {
		l.fail(cause)
	}
}

// resume is what the new connection is told first.
func (l *leg) resume() []socket.Pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active != nil && !l.active.begun {
		return l.asked
	}
	if l.live { // the turn that is being spoken begins anew
		first := []socket.Pending{{Raw: activityStart()}}
		for _, raw := range l.input {
			first = append(first, socket.Pending{Raw: raw, Audio: true})
		}
		return first
	}
	return nil
}
