package local

import (
	"time"
	"unicode/utf8"

	"hovor/signaling/realtime"
)

// Tokens are counted by rule of thumb: four characters of text, 100 ms of a person's audio, 50 ms of the assistant's,
// which is what the published API charges for audio.

func tokens(text string) int64 { return int64(utf8.RuneCountInString(text)+3) / 4 }

func inputAudioTokens(d time.Duration) int64 { return int64(d / (100 * time.Millisecond)) }

func outputAudioTokens(d time.Duration) int64 { return int64(d / (50 * time.Millisecond)) }

// countInput counts the whole conversation as the response's input, as a model would read it.
func (x *session) countInput(r *response) {
	in := &r.usage.InputTokenDetails
	in.TextTokens += tokens(r.turn.Instructions)
	for _, e := range x.items.order {
		switch {
		case e.spoken:
			in.AudioTokens += inputAudioTokens(e.audio)
		case e.audio > 0:
			in.AudioTokens += outputAudioTokens(e.audio)
		}
		in.TextTokens += tokens(e.item.TextOf()) + tokens(e.item.Arguments)
		if e.item.Output != nil {
			in.TextTokens += tokens(*e.item.Output)
		}
	}
}

// total fills in the sums.
func (r *response) total() realtime.Usage {
	u := r.usage
	u.InputTokens = u.InputTokenDetails.TextTokens + u.InputTokenDetails.AudioTokens
	u.OutputTokens = u.OutputTokenDetails.TextTokens + u.OutputTokenDetails.AudioTokens
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}
