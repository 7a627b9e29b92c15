// Package wav reads small PCM sound files.
//
// It owns the RIFF container and its traps: sizes that lie, chunks out of order, files that are cut off.
// It never resamples, and never reads more than a bounded length.
package wav
