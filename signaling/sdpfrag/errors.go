package sdpfrag

import "errors"

// Errors of this package; the wrapped text names the line and says what is wrong with it, without repeating a value.
var (
	// ErrSyntax: the text is no SDP fragment.
	ErrSyntax = errors.New("this is not an SDP fragment (application/trickle-ice-sdpfrag)")
	// ErrTooLarge: more lines, media sections or candidates than a client can honestly have.
	ErrTooLarge = errors.New("the SDP fragment is too large")
)
