package realtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Encode writes one event, its type first. It fills in a server event's missing event_id and puts right what stock
// clients would drop without a word (a tool call that is announced as completed, a user's audio without the transcript
// key); what it cannot put right is an error and not sent: a missing id, a status outside the closed set. e itself is
// not changed.
func Encode(e Event) ([]byte, error) {
	k, ok := registry()[e.EventType()]
	if !ok || reflect.TypeOf(e) != reflect.PointerTo(k.goTyp) {
		return nil, fmt.Errorf("encode %T: not an event of this package", e)
	}
	if k.from == FromServer {
		e = forClients(e)
	}
	body, err := marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.EventType(), err)
	}
	w := &walker{data: body}
	if err := w.value(k.shape); err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.EventType(), err)
	}
	if err := checkOutgoing(e); err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.EventType(), err)
	}
	out := make([]byte, 0, len(body)+len(e.EventType())+12)
	out = append(out, `{"type":"`...)
	out = append(append(out, e.EventType()...), '"')
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// marshal is json.Marshal without HTML escaping: what is said stays readable, and two bytes stay two bytes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// checkOutgoing holds the items of an event we send to the rules of their types: stock clients throw on less.
func checkOutgoing(e Event) *Error {
	for _, it := range itemsOf(e) {
		if it.Type == ItemReference {
			continue
		}
		if it.ID == "" {
			return Invalid(CodeMissingParameter, "item.id", "clients need it")
		}
		if err := checkItem(it, "item"); err != nil {
			return err
		}
	}
	return checkClient(e)
}

// itemsOf are the items of a server event.
func itemsOf(e Event) []*Item {
	switch ev := e.(type) {
	case *ConversationItemAdded:
		return []*Item{&ev.Item}
	case *ConversationItemDone:
		return []*Item{&ev.Item}
	case *ConversationItemCreated:
		return []*Item{&ev.Item}
	case *ConversationItemRetrieved:
		return []*Item{&ev.Item}
	case *ResponseOutputItemAdded:
		return []*Item{&ev.Item}
	case *ResponseOutputItemDone:
		return []*Item{&ev.Item}
	case *ResponseCreated:
		return pointers(ev.Response.Output)
	case *ResponseDone:
		return pointers(ev.Response.Output)
	}
	return nil
}

func pointers(items []Item) []*Item {
	out := make([]*Item, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

// forClients is a copy of a server event with everything filled in that clients insist on.
func forClients(e Event) Event {
	v := reflect.New(reflect.TypeOf(e).Elem())
	v.Elem().Set(reflect.ValueOf(e).Elem())
	if id := v.Elem().FieldByName("EventID"); id.String() == "" {
		id.SetString(NewID("event"))
	}
	out := v.Interface().(Event)
	switch ev := out.(type) {
	case *ResponseCreated:
		ev.Response = ev.Response.forClients()
	case *ResponseDone:
		ev.Response = ev.Response.forClients()
	case *ResponseOutputItemAdded:
		ev.Item = ev.Item.forClients()
		if ev.Item.Type == ItemFunctionCall && ev.Item.Status == StatusCompleted {
			ev.Item.Status = StatusInProgress // a client would run the tool on this event, and again on .done
		}
	default:
		for _, it := range itemsOf(out) {
			*it = it.forClients()
		}
	}
	return out
}

func (r Response) forClients() Response {
	r.Object = "realtime.response"
	out := make([]Item, len(r.Output))
	for i, it := range r.Output {
		out[i] = it.forClients()
	}
	r.Output = out
	return r
}

func (i Item) forClients() Item {
	if i.Type != ItemReference {
		i.Object = "realtime.item"
	}
	switch i.Type {
	case ItemMessage:
		content := make([]Content, len(i.Content))
		for n, c := range i.Content {
			c.nullTranscript = c.Type == ContentInputAudio
			content[n] = c
		}
		i.Content = content
	case ItemMcpListTools:
		if i.Tools == nil {
			i.Tools = []McpTool{}
		}
	}
	return i
}
