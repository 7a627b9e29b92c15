package realtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of one event in bytes. A client's audio append may hold 15 MiB of audio (openai: InputAudioBufferAppendEvent),
// which base64 makes 20; a server's retrieved item holds the item's audio.
const (
	MaxClientEvent = 1 << 20
	MaxAppendEvent = 21 << 20
	MaxServerEvent = 32 << 20
)

// Decode reads one event that d sent. The error is always an *Error: Param names the field, Code is invalid_json,
// unknown_event, invalid_type, invalid_value, missing_required_parameter, unknown_parameter, duplicate_parameter,
// invalid_event or message_too_large, EventID is the event's own id where it could be read. No message repeats a value.
//
// Keys are case-sensitive, a key may stand once, nesting and size are bounded, integers fit into 2^53. Unknown keys are
// ignored. From a server also unknown enum values, nulls, fractions in integer fields and case variants of keys pass,
// because a provider's next field must not cost a call.
func Decode(d Direction, data []byte) (Event, error) {
	limit := MaxServerEvent
	if d == FromClient {
		limit = MaxAppendEvent
	}
	if len(data) > limit {
		return nil, TooLarge(limit)
	}
	typ, id, err := Peek(data)
	if err != nil {
		return nil, err
	}
	k, ok := registry()[typ]
	if !ok || k.from != d {
		return nil, withEventID(unknownEvent(typ, ok), id)
	}
	if d == FromClient && typ != "input_audio_buffer.append" && len(data) > MaxClientEvent {
		return nil, withEventID(TooLarge(MaxClientEvent), id)
	}
	ev := reflect.New(k.goTyp).Interface().(Event)
	if e := decodeInto(data, k.shape, ev, d == FromServer); e != nil {
		return nil, withEventID(e, id)
	}
	if d == FromClient {
		if e := checkClient(ev); e != nil {
			return nil, withEventID(e, id)
		}
	}
	return ev, nil
}

// DecodeBody reads a JSON request body into v, a pointer to a struct of this package, as strictly as a client's event.
// The error is an *Error with Status 400.
func DecodeBody(data []byte, v any) error {
	if e := checkJSON(data); e != nil {
		return e
	}
	if e := decodeInto(data, shapeOf(reflect.TypeOf(v).Elem()), v, false); e != nil {
		return e
	}
	return nil
}

// DecodeReply reads a server's JSON reply into v with the tolerance of Decode(FromServer).
func DecodeReply(data []byte, v any) error {
	if e := checkJSON(data); e != nil {
		return e
	}
	if e := decodeInto(data, shapeOf(reflect.TypeOf(v).Elem()), v, true); e != nil {
		return e
	}
	return nil
}

func decodeInto(data []byte, s *shape, v any, tolerant bool) *Error {
	w := &walker{data: data, tolerant: tolerant}
	if err := w.value(s); err != nil {
		return err
	}
	if err := json.Unmarshal(w.patched(), v); err != nil {
		var e *Error
		if errors.As(err, &e) {
			return e
		}
		return Invalid(CodeInvalidEvent, typeErrorField(err), "this event cannot be read")
	}
	return nil
}

func typeErrorField(err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return t.Field
	}
	return ""
}

// Peek reads only the type and the event id of an event. The error is an *Error.
func Peek(data []byte) (eventType, eventID string, err error) {
	if e := checkJSON(data); e != nil {
		return "", "", e
	}
	w := &walker{data: data, tolerant: true}
	w.space()
	w.pos++
	w.depth++
	for w.more('}') {
		w.space()
		key := w.key()
		w.space()
		w.pos++
		w.space()
		w.path = append(w.path[:0], clip(key, 64)...)
		start := w.pos
		if e := w.value(nil); e != nil {
			return "", eventID, e
		}
		if v := data[start:w.pos]; v[0] == '"' {
			switch key {
			case "type":
				eventType = unquote(v)
			case "event_id":
				eventID = unquote(v)
			}
		}
	}
	if eventType == "" {
		return "", eventID, withEventID(Invalid(CodeMissingParameter, "type", "an event needs a type, a string"), eventID)
	}
	return eventType, eventID, nil
}

func checkJSON(data []byte) *Error {
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return Invalid(CodeInvalidJSON, "", "expected a JSON object, got nothing")
	case !utf8.Valid(data):
		return Invalid(CodeInvalidJSON, "", "this is not UTF-8")
	case trimmed[0] != '{':
		return Invalid(CodeInvalidJSON, "", "expected a JSON object")
	}
	if !json.Valid(data) {
		var v json.RawMessage
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(data, &v), &syntax) {
			if strings.Contains(syntax.Error(), "depth") { // deeper than the parser itself goes
				return Invalid(CodeInvalidEvent, "", "nested deeper than "+strconv.Itoa(maxDepth)+" levels")
			}
			return Invalid(CodeInvalidJSON, "", "this is not JSON: mistake at byte "+strconv.FormatInt(syntax.Offset, 10))
		}
		return Invalid(CodeInvalidJSON, "", "this is not JSON")
	}
	return nil
}

func unknownEvent(typ string, otherSide bool) *Error {
	msg := fmt.Sprintf("there is no event %q", clip(typ, 64))
	if otherSide {
		msg = fmt.Sprintf("event %q is not one that this side may send", typ)
	}
	return Invalid(CodeUnknownEvent, "type", msg)
}

// TooLarge says that an event is longer than limit bytes, whoever noticed.
func TooLarge(limit int) *Error {
	e := Invalid(CodeMessageTooLarge, "", fmt.Sprintf("an event may have %d bytes", limit))
	e.Status = 413
	return e
}

func withEventID(err error, id string) error {
	var e *Error
	if errors.As(err, &e) && e.EventID == "" && len(id) <= 512 {
		e.EventID = id
	}
	return err
}
