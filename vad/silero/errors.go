package silero

import "errors"

var (
	// ErrMissing says that the weights file is not where Load was told to look.
	ErrMissing = errors.New("the speech detector's weights are missing, run `make models`")
	// ErrChecksum says that the weights file is not the pinned one: cut short, altered, or of another version.
	ErrChecksum = errors.New("the speech detector's weights are not the pinned ones, remove the file and run `make models`")
	// ErrFormat says that a file with the right checksum could not be understood. It means a fault in this package.
	ErrFormat = errors.New("the speech detector's weights have an unexpected form")
)
