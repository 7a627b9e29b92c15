package wav

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// MaxDuration bounds what Read takes in: a fixture is a sentence or two, never a recording of a day.
const MaxDuration = 10 * time.Minute

// Audio is one channel of sound.
type Audio struct {
	Rate int     // samples per second: 8000, 16000, 24000 or 48000
	PCM  []int16 // mono; stereo files are mixed down to the mean of both channels
}

// Duration is the length of the sound.
func (a *Audio) Duration() time.Duration {
	return time.Duration(len(a.PCM)) * time.Second / time.Duration(a.Rate)
}

// ReadFile reads the file at path. Errors name the file.
func ReadFile(path string) (*Audio, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := Read(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// Sample formats of the fmt chunk (Microsoft, "Multimedia Programming Interface and Data Specifications", and WAVEFORMATEXTENSIBLE).
const (
	formatPCM        = 0x0001
	formatExtensible = 0xFFFE
	maxFmtChunk      = 1024
)

type format struct{ rate, channels int }

// Read reads one WAV file. Sizes in headers are never believed further than the bytes that are really there; a data chunk that was
// written by a streaming program (size 0, 0x7FFFFFFF or more) runs to the end of the file.
func Read(r io.Reader) (*Audio, error) {
	var riff [12]byte
	if _, err := io.ReadFull(r, riff[:]); err != nil || string(riff[:4]) != "RIFF" || string(riff[8:]) != "WAVE" {
		return nil, ErrNotWAV
	}
	var f *format
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			if f == nil {
				return nil, fmt.Errorf("%w: no fmt chunk", ErrNotWAV)
			}
			return nil, fmt.Errorf("%w: no data chunk", ErrNotWAV)
		}
		size := binary.LittleEndian.Uint32(head[4:])
		switch string(head[:4]) {
		case "fmt ":
			var err error
			if f, err = readFormat(r, size); err != nil {
				return nil, err
			}
		case "data":
			if f == nil {
				return nil, fmt.Errorf("%w: data before the fmt chunk", ErrNotWAV)
			}
			return readData(r, *f, size)
		default:
			if _, err := io.CopyN(io.Discard, r, int64(size)+int64(size&1)); err != nil {
				return nil, fmt.Errorf("%w: within a %q chunk", ErrTruncated, head[:4])
			}
		}
	}
}

func readFormat(r io.Reader, size uint32) (*format, error) {
	if size < 16 || size > maxFmtChunk {
		return nil, fmt.Errorf("%w: fmt chunk of %d bytes", ErrNotWAV, size)
	}
	b := make([]byte, size+size&1)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("%w: within the fmt chunk", ErrTruncated)
	}
	var (
		tag      = binary.LittleEndian.Uint16(b)
		channels = int(binary.LittleEndian.Uint16(b[2:]))
		rate     = binary.LittleEndian.Uint32(b[4:])
		align    = int(binary.LittleEndian.Uint16(b[12:]))
		bits     = int(binary.LittleEndian.Uint16(b[14:]))
	)
	if tag == formatExtensible {
		if size < 40 {
			return nil, fmt.Errorf("%w: extensible fmt chunk of %d bytes", ErrNotWAV, size)
		}
		tag = binary.LittleEndian.Uint16(b[24:]) // first two bytes of the sub-format GUID
	}
	if tag != formatPCM || bits != 16 || channels < 1 || channels > 2 || align != 2*channels {
		return nil, fmt.Errorf("%w: this is format %#04x, %d bits, %d channels", ErrFormat, tag, bits, channels)
	}
	switch rate {
	case 8000, 16000, 24000, 48000:
	default:
		return nil, fmt.Errorf("%w: this is %d Hz (sox in.wav -r 48000 out.wav)", ErrRate, rate)
	}
	return &format{rate: int(rate), channels: channels}, nil
}

func readData(r io.Reader, f format, size uint32) (*Audio, error) {
	frame := 2 * f.channels
	limit := int64(MaxDuration/time.Second) * int64(f.rate) * int64(frame)
	streamed := size == 0 || size >= 0x7FFFFF00
	if streamed {
		size = 0
	} else if int64(size) > limit {
		return nil, ErrTooLong
	}
	want := int64(size)
	if streamed {
		want = limit + 1
	}
	b, err := io.ReadAll(io.LimitReader(r, want))
	switch {
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, err
	case !streamed && int64(len(b)) < want:
		return nil, fmt.Errorf("%w: %d of %d bytes of sound", ErrTruncated, len(b), want)
	case streamed && int64(len(b)) > limit:
		return nil, ErrTooLong
	case len(b) < frame:
		return nil, ErrEmpty
	}
	pcm := make([]int16, len(b)/frame)
	for i := range pcm {
		o := i * frame
		s := int(int16(binary.LittleEndian.Uint16(b[o:])))
		if f.channels == 2 {
			s = (s + int(int16(binary.LittleEndian.Uint16(b[o+2:])))) / 2
		}
		pcm[i] = int16(s)
	}
	return &Audio{Rate: f.rate, PCM: pcm}, nil
}
