package conversation

import (
	"bytes"
	"encoding/json"
	"time"

	"hovor/signaling/realtime"
)

func msDuration(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// EventID is a client event's own id.
func EventID(ev realtime.Event) string {
	switch e := ev.(type) {
	case *realtime.SessionUpdate:
		return e.EventID
	case *realtime.InputAudioBufferAppend:
		return e.EventID
	case *realtime.InputAudioBufferCommit:
		return e.EventID
	case *realtime.InputAudioBufferClear:
		return e.EventID
	case *realtime.OutputAudioBufferClear:
		return e.EventID
	case *realtime.ConversationItemCreate:
		return e.EventID
	case *realtime.ConversationItemDelete:
		return e.EventID
	case *realtime.ConversationItemRetrieve:
		return e.EventID
	case *realtime.ConversationItemTruncate:
		return e.EventID
	case *realtime.ResponseCreate:
		return e.EventID
	case *realtime.ResponseCancel:
		return e.EventID
	case *realtime.TranscriptionSessionUpdate:
		return e.EventID
	case *realtime.HovorPlayout:
		return e.EventID
	}
	return ""
}

// responseOf is the response that a provider's event belongs to; "" when to none.
func responseOf(ev realtime.Event) string {
	switch e := ev.(type) {
	case *realtime.ResponseCreated:
		return e.Response.ID
	case *realtime.ResponseDone:
		return e.Response.ID
	case *realtime.ResponseOutputItemAdded:
		return e.ResponseID
	case *realtime.ResponseOutputItemDone:
		return e.ResponseID
	case *realtime.ResponseContentPartAdded:
		return e.ResponseID
	case *realtime.ResponseContentPartDone:
		return e.ResponseID
	case *realtime.ResponseOutputTextDelta:
		return e.ResponseID
	case *realtime.ResponseOutputTextDone:
		return e.ResponseID
	case *realtime.ResponseOutputAudioDelta:
		return e.ResponseID
	case *realtime.ResponseOutputAudioDone:
		return e.ResponseID
	case *realtime.ResponseOutputAudioTranscriptDelta:
		return e.ResponseID
	case *realtime.ResponseOutputAudioTranscriptDone:
		return e.ResponseID
	case *realtime.ResponseFunctionCallArgumentsDelta:
		return e.ResponseID
	case *realtime.ResponseFunctionCallArgumentsDone:
		return e.ResponseID
	case *realtime.ResponseMcpCallArgumentsDelta:
		return e.ResponseID
	case *realtime.ResponseMcpCallArgumentsDone:
		return e.ResponseID
	case *realtime.OutputAudioBufferStarted:
		return e.ResponseID
	case *realtime.OutputAudioBufferStopped:
		return e.ResponseID
	case *realtime.OutputAudioBufferCleared:
		return e.ResponseID
	}
	return ""
}

// theirs is the provider's id of an item that the client names by ours.
func (s *State) theirs(id string) string {
	for i := len(s.ids) - 1; i >= 0; i-- {
		if s.ids[i].ours == id {
			return s.ids[i].theirs
		}
	}
	return id
}

// mine is our id of an item that the provider names by its own.
func (s *State) mine(id string) string {
	for i := len(s.ids) - 1; i >= 0; i-- {
		if s.ids[i].theirs == id {
			return s.ids[i].ours
		}
	}
	return id
}

// rename writes our item ids over the provider's in an event, and leaves everything else as it came. Only strings under the
// keys id, item_id and previous_item_id count.
func (s *State) rename(raw []byte) []byte {
	hit := false
	for _, p := range s.ids {
		if bytes.Contains(raw, []byte(p.theirs)) {
			hit = true
			break
		}
	}
	if !hit {
		return raw
	}
	return rewrite(raw, func(v any) { renameIn(v, s.mine) })
}

// rewrite decodes, lets change work on the tree, and encodes. What cannot be decoded stays as it is.
func rewrite(raw []byte, change func(any)) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	change(v)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return raw
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

func renameIn(v any, mine func(string) string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if id, ok := e.(string); ok && (k == "id" || k == "item_id" || k == "previous_item_id") {
				v[k] = mine(id)
				continue
			}
			renameIn(e, mine)
		}
	case []any:
		for _, e := range v {
			renameIn(e, mine)
		}
	}
}
