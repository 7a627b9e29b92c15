package dialect

import (
	"errors"

	"hovor/signaling/realtime"
)

// ToGA turns a beta client's event into the GA form. What is no event, or one that is the same in both forms, comes back as
// it is. The error is a *realtime.Error in the client's own words, with its event id.
func ToGA(raw []byte) ([]byte, error) {
	var translate func(o *object) error
	switch typeOf(raw) {
	case "session.update":
		translate = func(o *object) error { return updateToGA(o, realtime.SessionRealtime) }
	case "transcription_session.update":
		translate = func(o *object) error {
			o.set("type", quote("session.update"))
			return updateToGA(o, realtime.SessionTranscription)
		}
	case "response.create":
		translate = responseCreateToGA
	case "conversation.item.create":
		translate = func(o *object) error {
			if item, ok := o.get("item"); ok {
				o.set("item", itemToGA(item))
			}
			return nil
		}
	default:
		return raw, nil
	}
	o, ok := parse(raw)
	if !ok {
		return raw, nil
	}
	if err := translate(&o); err != nil {
		if e, ok := errors.AsType[*realtime.Error](err); ok {
			id, _ := o.get("event_id")
			e.EventID = text(id)
		}
		return nil, err
	}
	return o.bytes(), nil
}

func updateToGA(o *object, kind string) error {
	session, ok := o.get("session")
	if !ok {
		return nil
	}
	ga, err := sessionToGA(session, kind)
	if err != nil {
		return err
	}
	o.set("session", ga)
	return nil
}

func responseCreateToGA(o *object) error {
	raw, ok := o.get("response")
	if !ok {
		return nil
	}
	response, ok := parse(raw)
	if !ok {
		return nil
	}
	if err := toGA(&response, responseFields, "response"); err != nil {
		return err
	}
	for _, v := range response.take("max_response_output_tokens") {
		response.put([]string{"max_output_tokens"}, v)
	}
	if input, ok := response.get("input"); ok {
		response.set("input", each(input, itemToGA))
	}
	o.set("response", response.bytes())
	return nil
}

// FromGA turns a server's event into what a beta client is sent: one event, or none when the beta form has no word for it.
// What is the same in both forms, or is no event, comes back as it is. The error is always nil today.
func FromGA(raw []byte) ([][]byte, error) {
	typ := typeOf(raw)
	if name, ok := renamed[typ]; ok {
		return one(raw, func(o *object) { o.set("type", quote(name)) })
	}
	switch typ {
	case "conversation.item.done":
		return nil, nil // the beta form tells of an item once, when it exists
	case "conversation.item.added":
		return one(raw, func(o *object) {
			o.set("type", quote("conversation.item.created"))
			within(o, "item", itemFromGA)
		})
	case "conversation.item.created", "conversation.item.retrieved", "response.output_item.added", "response.output_item.done":
		return one(raw, func(o *object) { within(o, "item", itemFromGA) })
	case "response.created", "response.done":
		return one(raw, func(o *object) { within(o, "response", responseFromGA) })
	case "session.created", "session.updated":
		return one(raw, sessionEventFromGA(typ))
	case "conversation.item.input_audio_transcription.failed":
		return one(raw, func(o *object) { within(o, "error", withoutNulls) })
	case "error":
		return one(raw, func(o *object) { within(o, "error", errorFromGA) })
	}
	return [][]byte{raw}, nil
}

func one(raw []byte, translate func(o *object)) ([][]byte, error) {
	o, ok := parse(raw)
	if !ok {
		return [][]byte{raw}, nil
	}
	translate(&o)
	return [][]byte{o.bytes()}, nil
}

func within(o *object, key string, f func([]byte) []byte) {
	if v, ok := o.get(key); ok {
		o.set(key, f(v))
	}
}

// sessionEventFromGA: a session that only transcribes has event names of its own in the beta form.
func sessionEventFromGA(typ string) func(o *object) {
	return func(o *object) {
		if session, ok := o.get("session"); ok && typeOf(session) == realtime.SessionTranscription {
			o.set("type", quote("transcription_"+typ))
		}
		within(o, "session", SessionFromGA)
	}
}

func responseFromGA(raw []byte) []byte {
	o, ok := parse(raw)
	if !ok {
		return raw
	}
	fromGA(&o, responseFields)
	within(&o, "output", func(list []byte) []byte { return each(list, itemFromGA) })
	return o.bytes()
}

func itemToGA(raw []byte) []byte {
	o, ok := parse(raw)
	if !ok {
		return raw
	}
	role, _ := o.get("role")
	return contentOf(o, contentsToGA[text(role)])
}

func itemFromGA(raw []byte) []byte {
	o, ok := parse(raw)
	if !ok {
		return raw
	}
	return contentOf(o, contents)
}

// contentOf renames the content types of an item.
func contentOf(o object, names map[string]string) []byte {
	within(&o, "content", func(list []byte) []byte {
		return each(list, func(raw []byte) []byte {
			c, ok := parse(raw)
			if !ok {
				return raw
			}
			within(&c, "type", func(typ []byte) []byte {
				if name, ok := names[text(typ)]; ok {
					return quote(name)
				}
				return typ
			})
			return c.bytes()
		})
	})
	return o.bytes()
}

func errorFromGA(raw []byte) []byte {
	o, ok := parse(raw)
	if !ok {
		return raw
	}
	within(&o, "param", func(v []byte) []byte {
		if p := text(v); p != "" {
			return quote(Param(p))
		}
		return v
	})
	return o.bytes()
}

// withoutNulls leaves null members out: a stock beta client drops a failed transcription that has one.
func withoutNulls(raw []byte) []byte {
	o, ok := parse(raw)
	if !ok {
		return raw
	}
	kept := o[:0]
	for _, m := range o {
		if string(m.value) != "null" {
			kept = append(kept, m)
		}
	}
	return kept.bytes()
}
