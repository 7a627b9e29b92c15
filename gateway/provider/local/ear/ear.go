package ear

import "context"

// Rate is the sample rate an Ear listens at: mono, 16 bit.
const Rate = 16000

// Ear recognizes utterances. Implementations are safe for concurrent use, bound their own memory and processor use, and
// return early when ctx ends.
type Ear interface {
	// Recognize listens to one whole utterance, silence trimmed. It does not keep pcm.
	Recognize(ctx context.Context, pcm []int16) (Result, error)
}

// Result is what was heard.
type Result struct {
	Text       string  // the recognized words, lower case; "" when nothing was understood
	Confidence float64 // 0 to 1; how much better the words fit than any other sounds would
}

// Understood reports whether the utterance was recognized.
func (r Result) Understood() bool { return r.Text != "" }
