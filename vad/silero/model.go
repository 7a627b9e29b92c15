package silero

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"hovor/vad"
)

const (
	// DefaultPath is where `make models` (fetch.sh) puts the weights, relative to the repository root.
	DefaultPath = ".models/silero/silero_vad_16k_op15.onnx"
	// Checksum is the SHA-256 of the one file that Load accepts: silero_vad_16k_op15.onnx of silero-vad 6.2.3.
	Checksum = "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49"
	// Window is the number of new samples per probability: 32 ms at 16 kHz.
	Window = 512
)

// Model holds the weights, about 1 MB. It is read-only after Load and shared by all streams of the process.
type Model struct {
	net  *network
	kern kernels
}

// Load reads the weights from path (usually DefaultPath) and verifies their checksum. Errors: ErrMissing,
// ErrChecksum, ErrFormat, wrapped with the path.
func Load(path string) (*Model, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: no file %s", ErrMissing, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the speech detector's weights: %w", err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != Checksum {
		return nil, fmt.Errorf("%w: %s", ErrChecksum, path)
	}
	t, err := readInitialisers(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	n, err := newNetwork(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Model{net: n, kern: bestKernels()}, nil
}

// Stream returns a detector for one stream, at its beginning. It is not safe for concurrent use; the model is.
func (m *Model) Stream() *Stream { return &Stream{m: m} }

var _ vad.Detector = (*Stream)(nil)
