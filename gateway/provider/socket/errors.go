package socket

import "errors"

// errOpening stands for a cause whose own words could hold the URL.
var errOpening = errors.New("the connection could not be opened")

// errSilent: nothing came for too long, not even an answer to a ping.
var errSilent = errors.New("the far side fell silent")

// ErrFull: too much waits to be written; the event was not taken.
var ErrFull = errors.New("too much waits to be written to the provider")
