package clip

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"hovor/cmd/hovor-load/internal/wav"
	"hovor/sfu/opus"
)

// Frame is the length of one packet's audio.
const Frame = 20 * time.Millisecond

// Bitrate and complexity are what browsers use for voice.
const (
	bitrate    = 32000
	complexity = 9
)

// ErrSilent means a recording in which nothing is audible, so that no latency could be measured from it.
var ErrSilent = errors.New("nothing in this recording is audible")

// Clip is one recording, ready to be sent: one Opus packet per 20 ms, and its speech markers.
type Clip struct {
	Name       string
	Packets    [][]byte
	Start, End time.Duration // first and last audible sample, from the beginning of the recording
}

// Length is the whole recording, silence included, in whole packets.
func (c *Clip) Length() time.Duration { return time.Duration(len(c.Packets)) * Frame }

// Encode encodes a recording once, at its own rate: Opus takes all rates that package wav lets through, so nothing is resampled.
func Encode(name string, a *wav.Audio) (*Clip, error) {
	start, end, ok := Speech(a.PCM, a.Rate)
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, ErrSilent)
	}
	packets, err := encode(a.PCM, a.Rate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Clip{Name: name, Packets: packets, Start: start, End: end}, nil
}

func encode(pcm []int16, rate int) ([][]byte, error) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: rate, Bitrate: bitrate, Complexity: complexity})
	if err != nil {
		return nil, err
	}
	n := rate / int(time.Second/Frame)
	buf := make([]byte, opus.MaxPacket)
	var packets [][]byte
	for i := 0; i < len(pcm); i += n {
		frame := pcm[i:min(i+n, len(pcm))]
		if len(frame) < n { // the last one is filled with silence
			frame = append(slices.Clone(frame), make([]int16, n-len(frame))...)
		}
		size, err := enc.Encode(frame, buf)
		if err != nil {
			return nil, err
		}
		packets = append(packets, slices.Clone(buf[:size]))
	}
	return packets, nil
}

// roomLevel is the noise of a quiet room as a headset hears it: a microphone is never digitally silent.
const roomLevel = -70.0

// Room is one second of a quiet room's noise, to be sent in a circle while the person is silent.
func Room() ([][]byte, error) { return Noise(roomLevel, time.Second) }

// Noise is white noise at a level in dBFS, the same at every call.
func Noise(level float64, d time.Duration) ([][]byte, error) {
	const rate = 16000
	// Uniform noise of amplitude a has the energy a²/3.
	a := FullScale * math.Pow(10, level/20) * math.Sqrt(3)
	random := rand.New(rand.NewPCG(1, 2))
	pcm := make([]int16, int(d*rate/time.Second))
	for i := range pcm {
		pcm[i] = int16((random.Float64()*2 - 1) * a)
	}
	return encode(pcm, rate)
}
