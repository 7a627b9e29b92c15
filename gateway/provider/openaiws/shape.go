package openaiws

import (
	"encoding/json"
	"strings"

	"hovor/signaling/realtime"
)

// pcm is the format of both directions: what the player and the microphone of this leg work with.
var pcm = realtime.AudioFormat{Type: "audio/pcm", Rate: 24000}

// shaped is a session as this provider takes it in a session.update. whole adds what an update leaves to the session as it is.
func (l *leg) shaped(s realtime.Session, whole bool) realtime.Session {
	s.ID, s.Object, s.ExpiresAt, s.Model = "", "", 0, ""
	if s.Type == "" {
		s.Type = realtime.SessionRealtime
	}
	if whole || s.Audio != nil {
		audio := realtime.Audio{}
		if s.Audio != nil {
			audio = *s.Audio
		}
		if whole || audio.Input != nil {
			in := realtime.AudioInput{}
			if audio.Input != nil {
				in = *audio.Input
			}
			format := pcm
			in.Format = &format
			audio.Input = &in
		}
		if whole || audio.Output != nil {
			out := realtime.AudioOutput{}
			if audio.Output != nil {
				out = *audio.Output
			}
			format := pcm
			out.Format = &format
			audio.Output = &out
		}
		s.Audio = &audio
	}
	return l.cfg.Shape(s)
}

// without encodes an event and leaves out the fields that the provider has refused, by their path below the event.
func without(ev realtime.Event, refused []string) ([]byte, error) {
	raw, err := realtime.Encode(ev)
	if err != nil || len(refused) == 0 {
		return raw, err
	}
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	for _, path := range refused {
		remove(root, strings.Split(path, "."))
	}
	return json.Marshal(root)
}

func remove(at map[string]any, path []string) {
	if len(path) == 1 {
		delete(at, path[0])
		return
	}
	if next, ok := at[path[0]].(map[string]any); ok {
		remove(next, path[1:])
	}
}

// refusedField is the field that an error on a session.update asks to leave out; "" when there is none, or one that a session
// cannot do without.
func refusedField(e *realtime.Error) string {
	switch e.Code {
	case "unknown_parameter", "unsupported_parameter", "invalid_parameter":
	default:
		return ""
	}
	if !strings.HasPrefix(e.Param, "session.") || strings.ContainsAny(e.Param, "[]") {
		return ""
	}
	for _, needed := range []string{"session.type", "session.instructions", "session.tools", "session.audio", "session.audio.input", "session.audio.output"} {
		if e.Param == needed {
			return ""
		}
	}
	return e.Param
}
