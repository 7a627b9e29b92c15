package local

import (
	"context"
	"strings"
	"time"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/voice"
	"hovor/signaling/realtime"
)

const (
	// speakAhead bounds how much audio is made before it is heard: enough that synthesis never delays speech, little
	// enough that an interruption wastes little.
	speakAhead = 20 * time.Second
	// wordsPerDelta of the transcript, about as much as the published API sends at a time.
	wordsPerDelta = 3
)

// generate carries out the steps of one response. It runs beside the session and hands it every result in order.
func (x *session) generate(ctx context.Context, r *response, steps []brain.Step) {
	for _, step := range steps {
		ok := true
		switch s := step.(type) {
		case brain.Say:
			ok = x.say(ctx, r, s)
		case brain.Call:
			ok = x.post(ctx, func() { x.callFunction(r, s) })
		case brain.Wait:
			ok = pause(ctx, s.For)
		case brain.Fault:
			ok = x.post(ctx, func() { x.misbehaveIn(r, s) })
		}
		if !ok {
			return
		}
	}
	x.post(ctx, func() {
		if r.finished() {
			return
		}
		x.closeMessage(r, realtime.StatusCompleted)
		x.finish(r, realtime.StatusCompleted, nil)
	})
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// say speaks sentence by sentence, each made while the one before it is heard; in a text response it only writes.
func (x *session) say(ctx context.Context, r *response, s brain.Say) bool {
	code := s.Language
	if code == "" {
		code = r.language
	}
	for _, text := range voice.Sentences(s.Text) {
		var c *clip
		if !r.text() {
			if !x.await(ctx) {
				return false
			}
			var err error
			c, err = x.server.studio.say(ctx, voice.Sentence{Text: text, Language: code, Variant: string(r.voice), Speed: r.speed}, r.form)
			if ctx.Err() != nil {
				return false
			}
			if err != nil {
				x.log.Error("speech could not be made", "call_id", x.id, "error", err)
				x.post(ctx, func() { x.broken(r) })
				return false
			}
		}
		if x.out == nil && c != nil {
			if !x.stream(ctx, r, text, c) {
				return false
			}
		} else if !x.post(ctx, func() { x.sentence(r, text, c) }) {
			return false
		}
	}
	return true
}

// await waits until what has been made is heard far enough.
func (x *session) await(ctx context.Context) bool {
	if x.out == nil {
		return true
	}
	lead := x.out.lead()
	return lead <= speakAhead || pause(ctx, lead-speakAhead)
}

func (x *session) broken(r *response) {
	if !r.finished() {
		x.stop(r, realtime.StatusFailed, &realtime.StatusDetails{Type: realtime.StatusFailed, Error: &realtime.StatusError{
			Type: realtime.TypeServer, Code: realtime.CodeInternal, Message: "the answer could not be spoken"}})
	}
}

// sentence adds one sentence to the response: its words at once, its sound when its turn comes.
func (x *session) sentence(r *response, text string, c *clip) {
	if r.finished() {
		return
	}
	text, c = r.joined(text, c)
	text, c, cut := r.fit(text, c)
	if cut && text == "" {
		x.full(r)
		return
	}
	e := x.openMessage(r)
	index := len(r.output) - 1
	if c == nil {
		e.item.Content = []realtime.Content{{Type: realtime.ContentOutputText, Text: e.item.Content[0].Text + text}}
		for _, d := range deltas(text) {
			x.emit(&realtime.ResponseOutputTextDelta{ResponseID: r.id, ItemID: e.item.ID, OutputIndex: index, Delta: d})
		}
		r.usage.OutputTokenDetails.TextTokens += tokens(text)
	} else {
		if len(c.frames) > 0 && !r.muted {
			x.sound(r)
			x.out.play(r.id, e.item.ID, c.frames)
		}
		e.addSpeech(text, c)
		for _, d := range deltas(text) {
			x.emit(&realtime.ResponseOutputAudioTranscriptDelta{ResponseID: r.id, ItemID: e.item.ID, OutputIndex: index, Delta: d})
		}
		r.usage.OutputTokenDetails.TextTokens += tokens(text)
		r.usage.OutputTokenDetails.AudioTokens += outputAudioTokens(c.duration())
	}
	if cut {
		x.full(r)
	}
}

// joined puts a blank between a sentence and the one before it.
func (r *response) joined(text string, c *clip) (string, *clip) {
	if r.open != nil && r.open.item.Content[0].Text+r.open.transcript() != "" && !strings.HasPrefix(text, " ") && !endsBlank(r.open) {
		return " " + text, shifted(c)
	}
	return text, c
}

func endsBlank(e *entry) bool {
	t := e.item.Content[0].Text + e.transcript()
	return strings.HasSuffix(t, " ") || strings.HasSuffix(t, "\n")
}

// shifted is the clip for a text that got a blank in front.
func shifted(c *clip) *clip {
	if c == nil {
		return nil
	}
	out := &clip{frames: c.frames, words: append([]voice.Word(nil), c.words...)}
	for i := range out.words {
		out.words[i].End++
		if i > 0 {
			out.words[i].Start++
		}
	}
	return out
}

// deltas cuts a text after every few words.
func deltas(text string) []string {
	var out []string
	start, words := 0, 0
	for i := 1; i < len(text); i++ {
		if text[i-1] == ' ' && text[i] != ' ' {
			if words++; words == wordsPerDelta {
				out = append(out, text[start:i])
				start, words = i, 0
			}
		}
	}
	return append(out, text[start:])
}

// openMessage returns the response's open message item, and opens one when there is none.
func (x *session) openMessage(r *response) *entry {
	if r.open != nil {
		return r.open
	}
	item := realtime.Item{ID: realtime.NewID("item"), Object: "realtime.item", Type: realtime.ItemMessage,
		Status: realtime.StatusInProgress, Role: realtime.RoleAssistant}
	e := &entry{item: item}
	part := realtime.Part{Type: realtime.PartAudio}
	content := realtime.Content{Type: realtime.ContentOutputAudio, Transcript: new(string)}
	if r.text() {
		part.Type, content = realtime.PartText, realtime.Content{Type: realtime.ContentOutputText}
	}
	x.addOutput(r, e)
	e.item.Content = []realtime.Content{content}
	r.open = e
	x.emit(&realtime.ResponseContentPartAdded{ResponseID: r.id, ItemID: item.ID, OutputIndex: len(r.output) - 1, Part: part})
	return e
}

// addOutput announces an item of the response, and of the conversation.
func (x *session) addOutput(r *response, e *entry) {
	r.output = append(r.output, e)
	x.emit(&realtime.ResponseOutputItemAdded{ResponseID: r.id, OutputIndex: len(r.output) - 1, Item: e.item})
	if r.outOfBand {
		return
	}
	previous := x.items.append(e)
	x.emit(&realtime.ConversationItemAdded{PreviousItemID: previous, Item: e.item})
}

func (x *session) doneOutput(r *response, e *entry, index int) {
	x.emit(&realtime.ResponseOutputItemDone{ResponseID: r.id, OutputIndex: index, Item: e.item})
	if !r.outOfBand {
		x.emit(&realtime.ConversationItemDone{PreviousItemID: x.items.previousOf(e), Item: e.item})
	}
}

// closeMessage ends the open message item, if there is one.
func (x *session) closeMessage(r *response, status string) {
	e := r.open
	if e == nil {
		return
	}
	r.open = nil
	e.item.Status = status
	index, id := len(r.output)-1, e.item.ID
	if r.text() {
		text := e.item.Content[0].Text
		x.emit(&realtime.ResponseOutputTextDone{ResponseID: r.id, ItemID: id, OutputIndex: index, Text: text})
		x.emit(&realtime.ResponseContentPartDone{ResponseID: r.id, ItemID: id, OutputIndex: index, Part: realtime.Part{Type: realtime.PartText, Text: text}})
	} else {
		text := e.transcript()
		x.emit(&realtime.ResponseOutputAudioDone{ResponseID: r.id, ItemID: id, OutputIndex: index})
		x.emit(&realtime.ResponseOutputAudioTranscriptDone{ResponseID: r.id, ItemID: id, OutputIndex: index, Transcript: text})
		x.emit(&realtime.ResponseContentPartDone{ResponseID: r.id, ItemID: id, OutputIndex: index, Part: realtime.Part{Type: realtime.PartAudio, Transcript: text}})
	}
	x.doneOutput(r, e, index)
}

// callFunction names a function to the client; the call stands in all the places that clients look at (protocol research
// 1.12): the item, the arguments events, and response.done.
func (x *session) callFunction(r *response, c brain.Call) {
	if r.finished() {
		return
	}
	x.closeMessage(r, realtime.StatusCompleted)
	if left, bounded := r.room(); bounded && tokens(string(c.Arguments))+tokens(c.Name) > left {
		x.full(r)
		return
	}
	e := &entry{item: realtime.Item{ID: realtime.NewID("item"), Object: "realtime.item", Type: realtime.ItemFunctionCall,
		Status: realtime.StatusInProgress, CallID: realtime.NewID("call"), Name: c.Name}}
	x.addOutput(r, e)
	index, arguments := len(r.output)-1, string(c.Arguments)
	x.emit(&realtime.ResponseFunctionCallArgumentsDelta{ResponseID: r.id, ItemID: e.item.ID, OutputIndex: index, CallID: e.item.CallID, Delta: arguments})
	x.emit(&realtime.ResponseFunctionCallArgumentsDone{ResponseID: r.id, ItemID: e.item.ID, OutputIndex: index, CallID: e.item.CallID,
		Name: c.Name, Arguments: arguments})
	e.item.Arguments, e.item.Status = arguments, realtime.StatusCompleted
	r.usage.OutputTokenDetails.TextTokens += tokens(arguments) + tokens(c.Name)
	x.doneOutput(r, e, index)
}
