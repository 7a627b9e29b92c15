package silero

import "fmt"

const (
	// DefaultPath is where `make models` (fetch.sh) puts the weights, relative to the repository root.
	DefaultPath = ".models/silero/silero_vad_16k_op15.onnx"
	// Window is the number of new samples per probability: 32 ms at 16 kHz.
	Window = 512
)

// Model holds the weights. It is read-only after Load and shared by all streams.
type Model struct{}

// Load reads the weights from path (usually DefaultPath) and verifies their checksum. Errors: ErrMissing,
// ErrChecksum, ErrFormat, wrapped with the path.
func Load(path string) (*Model, error) {
	return nil, fmt.Errorf("%w: %s", ErrMissing, path)
}

// Stream returns a detector for one stream. It implements vad.Detector and is not safe for concurrent use.
func (m *Model) Stream() *Stream { return &Stream{} }

// Stream is the state of one stream: the last 64 samples and the recurrent state.
type Stream struct{}

// WindowSamples returns Window.
func (s *Stream) WindowSamples() int { return Window }

// Probability consumes the next Window samples and returns the probability of speech.
func (s *Stream) Probability(window []int16) float32 { return 0 }

// Reset forgets the stream.
func (s *Stream) Reset() {}
