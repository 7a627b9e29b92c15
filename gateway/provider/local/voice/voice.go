package voice

import (
	"context"
	"time"
)

// Rate is the sample rate of all speech in this package: mono, 16 bit.
const Rate = 24000

// Voice synthesizes. Implementations are safe for concurrent use and return early when ctx ends.
type Voice interface {
	// Speak returns the whole speech of one sentence. The error says what a person can do about it.
	Speak(ctx context.Context, s Sentence) (*Speech, error)
}

// Sentence is what to say.
type Sentence struct {
	Text     string
	Language string  // "en", "cs", "de", "ru"; "" = "en"
	Variant  string  // a voice name of the Realtime API or of the implementation; unknown names choose a default
	Speed    float64 // 0.25 to 1.5; 0 = 1
}

// Speech is one sentence as sound.
type Speech struct {
	PCM   []int16 // Rate Hz, mono
	Words []Word  // in order; together they cover the text
}

// Duration of the speech.
func (s *Speech) Duration() time.Duration {
	return time.Duration(len(s.PCM)) * time.Second / Rate
}

// Word says when a part of the text is spoken.
type Word struct {
	Start, End int           // byte offsets into Sentence.Text, trailing blanks included, so that words join to the text
	From, To   time.Duration // since the start of the speech
}
