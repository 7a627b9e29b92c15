package bridge

import (
	"fmt"
	"strings"
	"time"

	"github.com/pion/webrtc/v4"

	"hovor/sfu"
	"hovor/sfu/g711"
	"hovor/sfu/opus"
	"hovor/sfu/resample"
)

const (
	frameTime = 20 * time.Millisecond
	// opusClock is Opus' RTP clock at every sample rate (RFC 7587 section 4.1).
	opusClock = 48000
	// DefaultRate is what Realtime providers speak, in Hz.
	DefaultRate = 24000
)

// format is a codec on the wire.
type format struct {
	opus bool
	law  g711.Law
}

// formatOf reads a negotiated codec; the zero Codec is Opus.
func formatOf(c sfu.Codec) (format, error) {
	switch {
	case c.MimeType == "", strings.EqualFold(c.MimeType, webrtc.MimeTypeOpus):
		return format{opus: true}, nil
	case strings.EqualFold(c.MimeType, webrtc.MimeTypePCMU):
		return format{law: g711.MuLaw}, nil
	case strings.EqualFold(c.MimeType, webrtc.MimeTypePCMA):
		return format{law: g711.ALaw}, nil
	}
	return format{}, fmt.Errorf("%w: codec %q", ErrConfig, c.MimeType)
}

// clock is the RTP clock.
func (f format) clock() int {
	if f.opus {
		return opusClock
	}
	return g711.Rate
}

func goodRate(rate int) bool {
	return rate == 8000 || rate == 16000 || rate == 24000 || rate == 48000
}

// encoder makes the payload of one frame.
type encoder interface {
	// encode codes 20 ms; the result is valid until the next call.
	encode(pcm []int16) ([]byte, error)
	// reset forgets the past: not a sample of it may be heard again.
	reset() error
	// behind is how much of the newest audio is still inside.
	behind() time.Duration
}

func newEncoder(f format, rate int, c opus.EncoderConfig) (encoder, error) {
	if !f.opus {
		r, err := resample.New(rate, g711.Rate)
		if err != nil {
			return nil, err
		}
		return &lawEncoder{law: f.law, r: r}, nil
	}
	c.SampleRate = rate
	enc, err := opus.NewEncoder(c)
	if err != nil {
		return nil, err
	}
	return &opusEncoder{enc: enc}, nil
}

type opusEncoder struct {
	enc *opus.Encoder
	out [opus.MaxPacket]byte
}

func (e *opusEncoder) encode(pcm []int16) ([]byte, error) {
	n, err := e.enc.Encode(pcm, e.out[:])
	return e.out[:n], err
}

func (e *opusEncoder) reset() error          { return e.enc.Reset() }
func (e *opusEncoder) behind() time.Duration { return opus.Lookahead }

type lawEncoder struct {
	law g711.Law
	r   *resample.Resampler
	pcm []int16
	out [g711.Rate / 50]byte
}

func (e *lawEncoder) encode(pcm []int16) ([]byte, error) {
	e.pcm = e.r.Append(e.pcm[:0], pcm) // 20 ms in are 20 ms out
	n := min(len(e.pcm), len(e.out))
	e.law.Encode(e.out[:n], e.pcm[:n])
	return e.out[:n], nil
}

func (e *lawEncoder) reset() error          { e.r.Reset(); return nil }
func (e *lawEncoder) behind() time.Duration { return e.r.Delay() }
