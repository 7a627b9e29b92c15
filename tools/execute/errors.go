package execute

import "errors"

var (
	// ErrService says that a base URL cannot be used.
	ErrService = errors.New("tools: service base URL")

	// Reasons why a request is not made or an answer not used. They stay inside the package: a caller sees a status and
	// a word from the closed set of details.
	errArgument = errors.New("an argument has no place in a request")
	errRedirect = errors.New("redirect to another origin")
	errPointer  = errors.New("the answer has no such part")
)
