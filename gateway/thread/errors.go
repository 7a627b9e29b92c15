package thread

import "errors"

var (
	// ErrNotFound: there is no such thread, or it is not this person's. The two are not told apart on purpose.
	ErrNotFound = errors.New("no such thread")
	// ErrQueueFull: the disk is too slow for the conversation; the item was dropped and counted.
	ErrQueueFull = errors.New("thread queue is full")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("thread store is closed")
	// ErrInvalidItem: an item without id, with an unknown role or kind, or with too much text.
	ErrInvalidItem = errors.New("thread item is not valid")
)
