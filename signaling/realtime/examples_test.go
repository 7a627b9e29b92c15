package realtime

import (
	"encoding/json"
	"reflect"
	"testing"
)

// examples are all events of d with every field set that reflection can set.
func examples(d Direction) []Event {
	var out []Event
	for _, typ := range EventTypes(d) {
		e := New(d, typ)
		fill(reflect.ValueOf(e).Elem(), registry()[typ].shape)
		out = append(out, e)
	}
	return out
}

func fill(v reflect.Value, s *shape) {
	switch x := v.Addr().Interface().(type) {
	case *Item:
		*x = Item{ID: "item_1", Object: "realtime.item", Type: ItemMessage, Status: StatusCompleted, Role: RoleUser,
			Content: []Content{{Type: ContentInputText, Text: "<Příliš žluťoučký> & \u2028"}}}
		return
	case *Part:
		*x = Part{Type: PartAudio, Transcript: "words"}
		return
	case *TranscriptionUsage:
		*x = TranscriptionUsage{Type: "tokens", TotalTokens: 3, InputTokens: 2, OutputTokens: 1, InputTokenDetails: &TranscriptionInputUsage{1, 1}}
		return
	case *ToolChoice:
		*x = ToolChoice{Type: "function", Name: "get_document"}
		return
	case *Tracing:
		*x = Tracing{WorkflowName: "w", GroupID: "g", Metadata: Raw(`{"a":1}`)}
		return
	case *Truncation:
		*x = Truncation{RetentionRatio: 0.8, PostInstructions: 1000}
		return
	case *MaxTokens:
		*x = 4096
		return
	case *Voice:
		*x = "voice_abc"
		return
	case *Raw:
		*x = Raw(`{"a":[1,2.5,null]}`)
		return
	case *Error:
		*x = Error{Type: TypeInvalidRequest, Code: CodeInvalidValue, Message: "m", Param: "p", EventID: "e"}
		return
	case *Tool:
		*x = Tool{Type: "function", Name: "get_document", Description: "d", Parameters: Raw(`{"type":"object"}`)}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), s)
	case reflect.Struct:
		if v.Type().Implements(reflect.TypeFor[nuller]()) {
			v.FieldByName("Set").SetBool(true)
			fill(v.FieldByName("Value"), s)
			return
		}
		i := 0
		for sf := range fieldsOf(v.Type()) {
			if sf.IsExported() && sf.Tag.Get("json") != "-" {
				fill(v.FieldByIndex(sf.Index), s.fields[i].shape)
				i++
			}
		}
	case reflect.String:
		v.SetString("some_text")
		if len(s.enum) > 0 {
			v.SetString(s.enum[0])
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), s.elem)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.ValueOf("key"), reflect.ValueOf("v").Convert(v.Type().Elem()))
		v.Set(m)
	}
}

func TestEveryEventComesBackAsItWasSent(t *testing.T) {
	for _, d := range []Direction{FromClient, FromServer} {
		for _, want := range examples(d) {
			raw, err := Encode(want)
			if err != nil {
				t.Errorf("%s: %v", want.EventType(), err)
				continue
			}
			got, err := Decode(d, raw)
			if err != nil {
				t.Errorf("%s: %v\n%s", want.EventType(), err, raw)
				continue
			}
			if !reflect.DeepEqual(got, want) {
				a, _ := json.Marshal(got)
				b, _ := json.Marshal(want)
				t.Errorf("%s:\n got %s\nwant %s", want.EventType(), a, b)
			}
		}
	}
}

func TestAllEventsOfTheProtocolAreThere(t *testing.T) {
	// openai 7.59.0, RealtimeClientEvent and RealtimeServerEvent, and ours.
	if n := len(EventTypes(FromClient)); n != 11+1+1 {
		t.Errorf("%d client events", n)
	}
	if n := len(EventTypes(FromServer)); n != 46+9 {
		t.Errorf("%d server events", n)
	}
}
