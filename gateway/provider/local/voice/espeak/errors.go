package espeak

import "errors"

var (
	// ErrMissing is returned when eSpeak NG is not installed; the message names the package.
	ErrMissing = errors.New("speech synthesis is not installed")
	// ErrSpeak is returned when the library fails on a sentence.
	ErrSpeak = errors.New("speech synthesis failed")
)
