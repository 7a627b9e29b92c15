package clip

import (
	"bytes"
	_ "embed"

	"hovor/cmd/hovor-load/internal/wav"
)

// The built-in sentence is "Tell me a long story.", which the embedded provider understands and answers at length, so that an answer
// can be interrupted. It was made with espeak-ng 1.51 and sox, and holds nobody's voice:
//
//	espeak-ng -v en-us -s 150 -w a.wav "Tell me a long story."
//	sox -R a.wav -r 16000 -c 1 -b 16 story.wav pad 0.25 0.25
//
//go:embed story.wav
var story []byte

// Builtin is the name under which the built-in sentence is asked for.
const Builtin = "builtin"

// Load reads the WAV file at path, or the built-in sentence, and encodes it.
func Load(path string) (*Clip, error) {
	var (
		a   *wav.Audio
		err error
	)
	if path == Builtin {
		a, err = wav.Read(bytes.NewReader(story))
	} else {
		a, err = wav.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	return Encode(path, a)
}
