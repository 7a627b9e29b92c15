package ear

import (
	"context"
	"errors"
)

// ErrBusy is returned for an early utterance when the ear has too much to do.
var ErrBusy = errors.New("the ear is busy")

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

	// Early: the person has only paused and may go on. A busy ear returns ErrBusy at once instead of keeping others waiting.
	Early bool
}

// Result is what was heard.
type Result struct {
	Text       string  // the recognized words, lower case; "" when nothing was understood
	Confidence float64 // 0 to 1; how much better the words fit than any other sounds would
}

// Understood reports whether the utterance was recognized.
func (r Result) Understood() bool { return r.Text != "" }

// None is an Ear that understands nothing, at no cost: for load tests and for brains that do not listen to words.
type None struct{}

// Recognize implements Ear.
func (None) Recognize(context.Context, Utterance) (Result, error) { return Result{}, nil }
