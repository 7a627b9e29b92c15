package local

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"hovor/gateway/provider/local/language"
	"hovor/signaling/realtime"
)

// client handles one client event.
func (x *session) client(m message) {
	x.statusMu.Lock()
	flooded := x.flooded
	x.flooded = false
	x.statusMu.Unlock()
	if flooded {
		x.fail(nil, &realtime.Error{Type: realtime.TypeRateLimit, Code: codeTooFast, Message: "events came faster than they can be handled; some were dropped"})
	}
	x.askedBy(m.from, func() { x.obey(m) })
}

// askedBy runs fn as the answer to somebody's event.
func (x *session) askedBy(who *sideband, fn func()) {
	before := x.asker
	x.asker = who
	fn()
	x.asker = before
}

func (x *session) obey(m message) {
	ev, err := realtime.Event(nil), m.err
	if err == nil {
		ev, err = realtime.Decode(realtime.FromClient, m.raw)
	}
	if err != nil {
		var e *realtime.Error
		if !errors.As(err, &e) {
			e = realtime.Invalid(realtime.CodeInvalidEvent, "", "this event cannot be read")
		}
		x.fail(nil, e)
		return
	}
	if x.transcribes() && answers(ev) {
		x.fail(ev, realtime.Invalid(realtime.CodeNotSupported, "type", "this session only transcribes: it has no responses and no conversation; open one with ?model= for that"))
		return
	}
	switch ev := ev.(type) {
	case *realtime.SessionUpdate:
		x.update(ev)
	case *realtime.InputAudioBufferCommit:
		x.barrier(m.at, func() { x.clientCommit(ev) })
	case *realtime.InputAudioBufferClear:
		x.barrier(m.at, x.clientClear)
	case *realtime.OutputAudioBufferClear:
		x.clearOutput(ev)
	case *realtime.ConversationItemCreate:
		x.createItem(ev)
	case *realtime.ConversationItemDelete:
		x.deleteItem(ev)
	case *realtime.ConversationItemRetrieve:
		x.retrieveItem(ev)
	case *realtime.ConversationItemTruncate:
		x.truncateItem(ev)
	case *realtime.ResponseCreate:
		x.createResponse(ev)
	case *realtime.ResponseCancel:
		x.cancelResponse(ev)
	case *realtime.HovorPlayout: // a gateway's own; says nothing to a provider
	case *realtime.InputAudioBufferAppend:
		x.appendAudio(ev)
	default:
		x.fail(ev, realtime.Invalid(realtime.CodeUnknownEvent, "type", fmt.Sprintf("event %q is not handled here", ev.EventType())))
	}
}

// answers reports the events that need a session with responses.
func answers(ev realtime.Event) bool {
	switch ev.(type) {
	case *realtime.ResponseCreate, *realtime.ResponseCancel, *realtime.OutputAudioBufferClear, *realtime.ConversationItemCreate, *realtime.ConversationItemTruncate:
		return true
	}
	return false
}

// eventID reads the client's own id of an event.
func eventID(e realtime.Event) string {
	if f := reflect.ValueOf(e).Elem().FieldByName("EventID"); f.IsValid() {
		return f.String()
	}
	return ""
}

// barrier runs fn once everything that had arrived by at has been heard. Client events wait meanwhile, so that their order
// stays.
func (x *session) barrier(at time.Time, fn func()) {
	x.blocked = true
	asker := x.asker
	x.line.settle(x, at, func() {
		x.blocked = false
		x.askedBy(asker, fn)
	})
}

func (x *session) update(ev *realtime.SessionUpdate) {
	next := effective(x.config.Merge(ev.Session))
	if x.spoke && next.Voice() != x.config.Voice() {
		x.fail(ev, realtime.Invalid(codeCannotVoice, "session.audio.output.voice", "the voice cannot change once the assistant has spoken; start a new call for another one"))
		return
	}
	if err := x.tune(next); err != nil {
		x.fail(ev, err)
		return
	}
	before := x.config
	x.config = next
	if !reflect.DeepEqual(before.TurnDetection(), next.TurnDetection()) {
		x.setDetection()
	}
	if before.Voice() != next.Voice() || !reflect.DeepEqual(before.Instructions, next.Instructions) {
		x.language = x.baseLanguage()
	}
	x.emit(&realtime.SessionUpdated{Session: x.config})
	x.watchIdle()
}

func (x *session) createItem(ev *realtime.ConversationItemCreate) {
	item := ev.Item
	if err := acceptable(item); err != nil {
		x.fail(ev, err)
		return
	}
	if item.Type == realtime.ItemFunctionCallOutput && x.items.call(item.CallID) == nil {
		x.fail(ev, realtime.Invalid(codeInvalidCall, "item.call_id", "there is no tool call with this id in the conversation"))
		return
	}
	if item.ID == "" {
		item.ID = realtime.NewID("item")
	}
	item.Object, item.Status = "realtime.item", realtime.StatusCompleted
	e := &entry{item: item}
	previous, err := x.items.insert(e, ev.PreviousItemID)
	if err != nil {
		x.fail(ev, err)
		return
	}
	if item.Type == realtime.ItemMessage && item.Role == realtime.RoleUser {
		if code := language.Detect(item.TextOf()); code != "" {
			x.language = code
		}
	}
	x.emit(&realtime.ConversationItemAdded{PreviousItemID: previous, Item: item})
	x.emit(&realtime.ConversationItemDone{PreviousItemID: previous, Item: item})
}

// acceptable refuses what a client cannot create (protocol research 1.7).
func acceptable(item realtime.Item) *realtime.Error {
	switch item.Type {
	case realtime.ItemMessage, realtime.ItemFunctionCall, realtime.ItemFunctionCallOutput:
	default:
		return realtime.Invalid(realtime.CodeInvalidValue, "item.type", "this provider takes messages, function calls and their outputs")
	}
	for _, c := range item.Content {
		switch c.Type {
		case realtime.ContentOutputAudio, realtime.PartAudio:
			return realtime.Invalid(realtime.CodeInvalidValue, "item.content", "assistant audio cannot be created; send its text as output_text")
		case realtime.ContentInputAudio:
			if c.Transcript == nil {
				return realtime.Invalid(codeUnsupported, "item.content", "input_audio is taken only with its transcript")
			}
		case realtime.ContentInputImage:
			return realtime.Invalid(codeUnsupported, "item.content", "this provider does not see images")
		}
	}
	return nil
}

var errNoItem = realtime.Invalid(realtime.CodeNotFound, "item_id", "there is no item with this id")

func (x *session) deleteItem(ev *realtime.ConversationItemDelete) {
	if !x.items.remove(ev.ItemID) {
		x.fail(ev, errNoItem)
		return
	}
	x.emit(&realtime.ConversationItemDeleted{ItemID: ev.ItemID})
}

func (x *session) retrieveItem(ev *realtime.ConversationItemRetrieve) {
	e := x.items.byID[ev.ItemID]
	if e == nil {
		x.fail(ev, errNoItem)
		return
	}
	x.emit(&realtime.ConversationItemRetrieved{Item: e.withSound()})
}

func (x *session) truncateItem(ev *realtime.ConversationItemTruncate) {
	e := x.items.byID[ev.ItemID]
	end := time.Duration(ev.AudioEndMS) * time.Millisecond
	switch {
	case e == nil:
		x.fail(ev, errNoItem)
	case ev.ContentIndex != 0:
		x.fail(ev, realtime.Invalid(realtime.CodeInvalidValue, "content_index", "an item has one content here: index 0"))
	case !e.isAssistantAudio():
		x.fail(ev, realtime.Invalid(codeUnsupported, "item_id", "Only model output audio messages can be truncated"))
	case end > e.audio:
		x.fail(ev, realtime.Invalid(realtime.CodeInvalidValue, "audio_end_ms",
			fmt.Sprintf("Audio content of %dms is already shorter than %dms", e.audio.Milliseconds(), ev.AudioEndMS)))
	default:
		e.truncate(end)
		x.emit(&realtime.ConversationItemTruncated{ItemID: ev.ItemID, AudioEndMS: ev.AudioEndMS})
	}
}
