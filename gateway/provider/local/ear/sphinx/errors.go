package sphinx

import "errors"

var (
	// ErrMissing is returned when the library or its acoustic model is not installed; the message names the package.
	ErrMissing = errors.New("speech recognition is not installed")
	// ErrGrammar is returned when the library refuses a grammar.
	ErrGrammar = errors.New("speech grammar was refused")
	// ErrDecode is returned when the library fails on audio.
	ErrDecode = errors.New("speech decoding failed")
)
