package usage

import "errors"

// ErrQueueFull: the disk is too slow; the record was dropped and counted.
var ErrQueueFull = errors.New("usage queue is full")
