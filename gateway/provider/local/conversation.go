package local

import (
	"encoding/base64"
	"slices"
	"time"

	"hovor/gateway/provider/local/voice"
	"hovor/signaling/realtime"
)

const (
	maxItems = 2000    // of one conversation
	maxSound = 4 << 20 // octets of sound that one conversation remembers: 87 s of PCM
)

// entry is one item of the conversation with what the server alone knows of it.
type entry struct {
	item realtime.Item

	// Assistant speech.
	words []voice.Word  // offsets into the transcript, times into the item's audio
	audio time.Duration // generated so far, or what a truncation has left

	cut bool // a truncation has shortened it: what is still made of it is not added

	// User speech.
	spoken, silent, recognizing bool

	// What it sounded like, as it came or went over a WebSocket; nil over WebRTC, and once it is forgotten.
	sound  []byte
	octets int // of sound in a millisecond
}

// withSound is the item as conversation.item.retrieved carries it.
func (e *entry) withSound() realtime.Item {
	item := e.item
	if len(e.sound) > 0 && len(item.Content) > 0 {
		item.Content = slices.Clone(item.Content)
		item.Content[0].Audio = base64.StdEncoding.EncodeToString(e.sound)
	}
	return item
}

// transcript is the first content's transcript.
func (e *entry) transcript() string {
	if len(e.item.Content) == 0 || e.item.Content[0].Transcript == nil {
		return ""
	}
	return *e.item.Content[0].Transcript
}

func (e *entry) setTranscript(text string) {
	// A new slice: events that were sent may share the old one.
	c := slices.Clone(e.item.Content)
	c[0].Transcript = &text
	e.item.Content = c
}

// isAssistantAudio reports whether the item can be truncated.
func (e *entry) isAssistantAudio() bool {
	return e.item.Type == realtime.ItemMessage && e.item.Role == realtime.RoleAssistant &&
		len(e.item.Content) > 0 && e.item.Content[0].Type == realtime.ContentOutputAudio && e.audio > 0
}

// addSpeech appends a clip and its text.
func (e *entry) addSpeech(text string, c *clip) {
	if e.cut {
		return
	}
	at := len(e.transcript())
	e.setTranscript(e.transcript() + text)
	for _, w := range c.words {
		e.words = append(e.words, voice.Word{Start: at + w.Start, End: at + w.End, From: e.audio + w.From, To: e.audio + w.To})
	}
	e.audio += c.duration()
}

// truncate keeps the audio up to end, and of the transcript the words that were heard: those of which two thirds were
// spoken by then. The last third of a word is often the pause behind it.
func (e *entry) truncate(end time.Duration) {
	e.audio, e.cut = end, true
	if n := int(end.Milliseconds()) * e.octets; n < len(e.sound) {
		e.sound = e.sound[:n:n]
	}
	keep := 0
	for keep < len(e.words) {
		w := e.words[keep]
		if w.From+(w.To-w.From)*2/3 > end {
			break
		}
		keep++
	}
	text := ""
	if keep > 0 {
		text = e.transcript()[:e.words[keep-1].End]
	}
	e.words = e.words[:keep]
	e.setTranscript(text)
	e.item.Status = realtime.StatusIncomplete
}

// conversation holds the items of a session in order.
type conversation struct {
	id    string
	order []*entry
	byID  map[string]*entry
	sound []*entry // whose sound is remembered, oldest first
}

// remember keeps the sound of an entry, and forgets the oldest that is too much. An entry whose sound grows is remembered
// again; what belongs to an item that was deleted is forgotten in its turn.
func (c *conversation) remember(e *entry) {
	if len(c.sound) == 0 || c.sound[len(c.sound)-1] != e {
		c.sound = append(c.sound, e)
	}
	total := 0
	for _, e := range c.sound {
		total += len(e.sound)
	}
	for total > maxSound {
		oldest := c.sound[0]
		total -= len(oldest.sound)
		oldest.sound, c.sound = nil, c.sound[1:]
	}
}

func newConversation() *conversation {
	return &conversation{id: realtime.NewID("conv"), byID: map[string]*entry{}}
}

// insert puts an entry behind the item named (nil = at the end, "root" = at the front) and returns the id before it.
func (c *conversation) insert(e *entry, after *string) (previous *string, err *realtime.Error) {
	if c.byID[e.item.ID] != nil {
		return nil, realtime.Invalid(realtime.CodeInvalidValue, "item.id", "an item with this id exists already")
	}
	if len(c.order) >= maxItems {
		return nil, realtime.Invalid(codeConversationFull, "item", "the conversation holds as many items as it can: delete some, or start a new call")
	}
	at := len(c.order)
	if after != nil {
		at = 0
		if *after != "root" {
			at = 1 + slices.IndexFunc(c.order, func(x *entry) bool { return x.item.ID == *after })
			if at == 0 {
				return nil, realtime.Invalid(realtime.CodeNotFound, "previous_item_id", "there is no item with this id")
			}
		}
	}
	c.order = slices.Insert(c.order, at, e)
	c.byID[e.item.ID] = e
	return c.before(at), nil
}

// append puts an entry at the end.
func (c *conversation) append(e *entry) (previous *string) {
	c.order = append(c.order, e)
	c.byID[e.item.ID] = e
	return c.before(len(c.order) - 1)
}

func (c *conversation) before(at int) *string {
	if at == 0 {
		return nil
	}
	id := c.order[at-1].item.ID
	return &id
}

// lastID is the id of the last item.
func (c *conversation) lastID() *string { return c.before(len(c.order)) }

// previousOf is the id before an item.
func (c *conversation) previousOf(e *entry) *string {
	if at := slices.Index(c.order, e); at > 0 {
		return c.before(at)
	}
	return nil
}

func (c *conversation) remove(id string) bool {
	if c.byID[id] == nil {
		return false
	}
	delete(c.byID, id)
	c.order = slices.DeleteFunc(c.order, func(e *entry) bool { return e.item.ID == id })
	return true
}

// call finds the function call with a call id.
func (c *conversation) call(callID string) *entry {
	for _, e := range slices.Backward(c.order) {
		if e.item.Type == realtime.ItemFunctionCall && e.item.CallID == callID {
			return e
		}
	}
	return nil
}
