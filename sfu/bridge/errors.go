package bridge

import "errors"

var (
	// ErrStale: the audio belongs to an epoch that was cleared; it was dropped.
	ErrStale = errors.New("audio of a cleared epoch")
	// ErrFull: the queue holds as much audio as it may; what did not fit was dropped.
	ErrFull = errors.New("play-out queue is full")
	// ErrClosed: the player or microphone has ended.
	ErrClosed = errors.New("closed")
	// ErrConfig: a configuration field has a value that cannot work; the wrapped text names it.
	ErrConfig = errors.New("bad bridge configuration")
)
