package dialect

import (
	"encoding/json"
	"strings"

	"hovor/signaling/realtime"
)

// field is one field whose place, and sometimes whose form, differs.
type field struct {
	beta string   // at the top of a flat session or response
	ga   []string // path in the GA form
	toGA func(raw []byte, at string) ([]byte, error)
	from func(raw []byte) []byte
}

// sessionFields are those of a session; responseFields those of a response and of response.create.
var (
	sessionFields = []field{
		{"modalities", []string{"output_modalities"}, modalitiesToGA, modalitiesFromGA},
		{"voice", []string{"audio", "output", "voice"}, nil, voiceFromGA},
		{"speed", []string{"audio", "output", "speed"}, nil, nil},
		{"input_audio_format", []string{"audio", "input", "format"}, formatToGA, formatFromGA},
		{"output_audio_format", []string{"audio", "output", "format"}, formatToGA, formatFromGA},
		{"input_audio_transcription", []string{"audio", "input", "transcription"}, nil, nil},
		{"input_audio_noise_reduction", []string{"audio", "input", "noise_reduction"}, nil, nil},
		{"turn_detection", []string{"audio", "input", "turn_detection"}, turnDetectionToGA, nil},
		{"max_response_output_tokens", []string{"max_output_tokens"}, nil, nil},
	}
	responseFields = []field{
		{"modalities", []string{"output_modalities"}, modalitiesToGA, modalitiesFromGA},
		{"voice", []string{"audio", "output", "voice"}, nil, voiceFromGA},
		{"output_audio_format", []string{"audio", "output", "format"}, formatToGA, formatFromGA},
	}
)

// gone are fields that the GA form has no place for.
var gone = []string{"temperature", "client_secret"}

// renamed are the server events that have another name and otherwise the same fields, from GA to beta.
var renamed = map[string]string{
	"response.output_text.delta":             "response.text.delta",
	"response.output_text.done":              "response.text.done",
	"response.output_audio.delta":            "response.audio.delta",
	"response.output_audio.done":             "response.audio.done",
	"response.output_audio_transcript.delta": "response.audio_transcript.delta",
	"response.output_audio_transcript.done":  "response.audio_transcript.done",
}

// formats are the names of audio formats, from beta to GA.
var formats = map[string]string{
	"pcm16":     `{"type":"audio/pcm","rate":24000}`,
	"g711_ulaw": `{"type":"audio/pcmu"}`,
	"g711_alaw": `{"type":"audio/pcma"}`,
}

var formatNames = map[string]string{"audio/pcm": "pcm16", "audio/pcmu": "g711_ulaw", "audio/pcma": "g711_alaw"}

// contents are the content types of an assistant's message, from GA to beta. The parts of a response have the short names
// in both forms.
var contents = map[string]string{realtime.ContentOutputText: "text", realtime.ContentOutputAudio: "audio"}

// contentsToGA are the content types that beta clients write, by role.
var contentsToGA = map[string]map[string]string{
	realtime.RoleAssistant: {"text": realtime.ContentOutputText, "audio": realtime.ContentOutputAudio},
	realtime.RoleUser:      {"text": realtime.ContentInputText, "audio": realtime.ContentInputAudio},
	realtime.RoleSystem:    {"text": realtime.ContentInputText},
}

// modalitiesToGA: the beta form names text and audio when audio is meant, because there audio always comes with its text.
func modalitiesToGA(raw []byte, at string) ([]byte, error) {
	var list []string
	if string(raw) == "null" {
		return raw, nil
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, realtime.Invalid(realtime.CodeInvalidType, at, `expected an array of "text" and "audio"`)
	}
	modality := ""
	for _, m := range list {
		switch {
		case m != "text" && m != "audio":
			return nil, realtime.Invalid(realtime.CodeInvalidValue, at, `expected "text" and "audio"`)
		case modality != "audio":
			modality = m
		}
	}
	if modality == "" {
		return []byte("[]"), nil
	}
	return []byte(`["` + modality + `"]`), nil
}

func modalitiesFromGA(raw []byte) []byte {
	var list []string
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && list[0] == "audio" {
		return []byte(`["text","audio"]`)
	}
	return raw
}

func formatToGA(raw []byte, at string) ([]byte, error) {
	if raw[0] == '{' || string(raw) == "null" {
		return raw, nil // a client between the times
	}
	ga, ok := formats[text(raw)]
	if !ok {
		return nil, realtime.Invalid(realtime.CodeInvalidValue, at, `expected "pcm16", "g711_ulaw" or "g711_alaw"`)
	}
	return []byte(ga), nil
}

func formatFromGA(raw []byte) []byte {
	if name, ok := formatNames[typeOf(raw)]; ok {
		return quote(name)
	}
	return raw
}

func voiceFromGA(raw []byte) []byte {
	if o, ok := parse(raw); ok {
		if id, ok := o.get("id"); ok {
			return id
		}
	}
	return raw
}

// turnDetectionToGA: some older clients write {"type":"none"} for what is null.
func turnDetectionToGA(raw []byte, _ string) ([]byte, error) {
	if typeOf(raw) == "none" {
		return []byte("null"), nil
	}
	return raw, nil
}

// Param is the name that a beta client knows a field by, of the path in a GA error: "session.audio.output.voice" is
// "session.voice".
func Param(ga string) string {
	for _, prefix := range []string{"session", "response"} {
		rest, ok := strings.CutPrefix(ga, prefix+".")
		if !ok {
			continue
		}
		for _, f := range sessionFields {
			path := strings.Join(f.ga, ".")
			if rest == path || strings.HasPrefix(rest, path+".") || strings.HasPrefix(rest, path+"[") {
				return prefix + "." + f.beta + rest[len(path):]
			}
		}
	}
	return ga
}
