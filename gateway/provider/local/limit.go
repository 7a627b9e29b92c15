package local

import (
	"unicode/utf8"

	"hovor/signaling/realtime"
)

// room is how many tokens a response may still take; false when it may be as long as it likes.
func (r *response) room() (left int64, bounded bool) {
	if r.maxTokens <= 0 {
		return 0, false
	}
	spent := r.usage.OutputTokenDetails.TextTokens + r.usage.OutputTokenDetails.AudioTokens
	return max(0, int64(r.maxTokens)-spent), true
}

// fit shortens a sentence to what the response has room for: whole words with their sound, or so many letters of a text.
func (r *response) fit(text string, c *clip) (string, *clip, bool) {
	left, bounded := r.room()
	switch {
	case !bounded:
		return text, c, false
	case c == nil:
		if tokens(text) <= left {
			return text, nil, false
		}
		n := 0
		for range 4 * left {
			_, size := utf8.DecodeRuneInString(text[n:])
			n += size
		}
		return text[:n], nil, true
	case tokens(text)+outputAudioTokens(c.duration()) <= left:
		return text, c, false
	}
	short := &clip{}
	for i, w := range c.words {
		if tokens(text[:w.End])+outputAudioTokens(w.To) > left {
			break
		}
		short.words = c.words[:i+1]
	}
	if len(short.words) == 0 {
		return "", short, true
	}
	last := short.words[len(short.words)-1]
	short.frames = c.frames[:min(len(c.frames), int((last.To+frameTime-1)/frameTime))]
	return text[:last.End], short, true
}

// full ends a response that has become as long as max_output_tokens lets it.
func (x *session) full(r *response) {
	x.stop(r, realtime.StatusIncomplete, &realtime.StatusDetails{Type: realtime.StatusIncomplete, Reason: realtime.ReasonMaxOutputTokens})
}
