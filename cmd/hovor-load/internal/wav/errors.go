package wav

import "errors"

var (
	// ErrNotWAV means that the file is not a RIFF/WAVE file.
	ErrNotWAV = errors.New("not a WAV file")
	// ErrFormat means a sample format other than 16-bit PCM, mono or stereo.
	ErrFormat = errors.New("only 16-bit PCM WAV, mono or stereo, can be replayed")
	// ErrRate means a sample rate that Opus does not take.
	ErrRate = errors.New("only 8000, 16000, 24000 and 48000 Hz can be replayed")
	// ErrTruncated means that the file ends before its header says so.
	ErrTruncated = errors.New("the WAV file is cut off")
	// ErrEmpty means a file without a single sample.
	ErrEmpty = errors.New("the WAV file has no samples")
	// ErrTooLong means more than MaxDuration of sound.
	ErrTooLong = errors.New("the WAV file is longer than ten minutes")
)
