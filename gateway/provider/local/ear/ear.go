package ear

import "context"

// Rate is the sample rate an Ear listens at: mono, 16 bit.
const Rate = 16000

// Ear recognizes utterances. Implementations are safe for concurrent use, bound their own memory and processor use, and
// return early when ctx ends.
type Ear interface {
	// Recognize listens to one whole utterance and does not keep it.
	Recognize(ctx context.Context, u Utterance) (Result, error)
}

// Utterance is what a person said between two long pauses, silence trimmed.
type Utterance struct {
	ID  string  // the same when an utterance is listened to again because it has grown
	PCM []int16 // Rate Hz; not changed by an Ear
}

// Result is what was heard.
type Result struct {
	Text       string  // the recognized words, lower case; "" when nothing was understood
	Confidence float64 // 0 to 1; how much better the words fit than any other sounds would
}

// Understood reports whether the utterance was recognized.
func (r Result) Understood() bool { return r.Text != "" }
