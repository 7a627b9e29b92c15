package opus

import (
	"fmt"
	"time"

	lib "github.com/hraban/opus"
)

// MaxPacket is the largest packet that Encode can produce for one frame, in bytes (RFC 6716 section 3.2.1).
const MaxPacket = 1275

// Lookahead is how far the encoder's output trails its input: what must follow a sound before all of it was sent.
// libopus' own figure for speech, 4 ms of SILK resampling and 2.5 ms of overlap.
const Lookahead = 6500 * time.Microsecond

// Duration is how much audio a packet holds, read from its first bytes (RFC 6716 section 3.1); 0 for no packet.
func Duration(packet []byte) time.Duration {
	if len(packet) == 0 {
		return 0
	}
	var frame time.Duration
	config := packet[0] >> 3
	switch {
	case config < 12: // SILK: 10, 20, 40, 60 ms
		frame = [4]time.Duration{10, 20, 40, 60}[config&3] * time.Millisecond
	case config < 16: // hybrid: 10, 20 ms
		frame = [2]time.Duration{10, 20}[config&1] * time.Millisecond
	default: // CELT: 2.5, 5, 10, 20 ms
		frame = 2500 * time.Microsecond << (config & 3)
	}
	switch packet[0] & 3 {
	case 0:
		return frame
	case 1, 2:
		return 2 * frame
	}
	if len(packet) < 2 {
		return 0
	}
	total := frame * time.Duration(packet[1]&63)
	if total > 120*time.Millisecond {
		return 0
	}
	return total
}

// EncoderConfig says how to encode speech. The zero value of a field means what its comment says.
type EncoderConfig struct {
	SampleRate  int  // of the PCM: 8000, 12000, 16000, 24000 or 48000. 0: 48000
	Bitrate     int  // bits per second. 0: 24000
	Complexity  int  // 0 to 10. Zero is zero: the cheapest
	FEC         bool // in-band forward error correction
	LossPercent int  // expected loss; without it libopus sends no redundancy
	DTX         bool // send (almost) nothing in silence
}

// Encoder makes packets from mono PCM. Not safe for concurrent use.
type Encoder struct {
	enc *lib.Encoder
}

// NewEncoder starts an encoder. Error: ErrConfig.
func NewEncoder(c EncoderConfig) (*Encoder, error) {
	if c.SampleRate == 0 {
		c.SampleRate = 48000
	}
	if c.Bitrate == 0 {
		c.Bitrate = 24000
	}
	enc, err := lib.NewEncoder(c.SampleRate, 1, lib.AppVoIP)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	for _, err := range []error{
		enc.SetBitrate(c.Bitrate), enc.SetComplexity(c.Complexity), enc.SetInBandFEC(c.FEC),
		enc.SetPacketLossPerc(c.LossPercent), enc.SetDTX(c.DTX),
	} {
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	return &Encoder{enc: enc}, nil
}

// Encode codes one frame (2.5 to 60 ms of PCM) into out (at least MaxPacket bytes to be safe) and returns the
// packet's length. No allocation.
func (e *Encoder) Encode(pcm []int16, out []byte) (int, error) {
	n, err := e.enc.Encode(pcm, out)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrBuffer, err)
	}
	return n, nil
}

// SetLoss tells how many percent of the packets get lost, 0 to 100: with FEC on, redundancy is spent accordingly.
func (e *Encoder) SetLoss(percent int) error { return setting(e.enc.SetPacketLossPerc(percent)) }

// SetBitrate changes the bits per second.
func (e *Encoder) SetBitrate(bits int) error { return setting(e.enc.SetBitrate(bits)) }

// SetComplexity changes the effort, 0 to 10.
func (e *Encoder) SetComplexity(effort int) error { return setting(e.enc.SetComplexity(effort)) }

func setting(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

// Reset forgets the past, as at the start of an unrelated stream.
func (e *Encoder) Reset() error { return e.enc.Reset() }

// Decoder makes mono PCM from packets, straight at the rate it was made for. Not safe for concurrent use.
type Decoder struct {
	dec  *lib.Decoder
	rate int
}

// NewDecoder starts a decoder for 8000, 12000, 16000, 24000 or 48000 Hz. Error: ErrConfig.
func NewDecoder(sampleRate int) (*Decoder, error) {
	dec, err := lib.NewDecoder(sampleRate, 1)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return &Decoder{dec: dec, rate: sampleRate}, nil
}

// Decode writes the packet's audio to pcm (room for 120 ms to be safe) and returns the number of samples.
func (d *Decoder) Decode(packet []byte, pcm []int16) (int, error) {
	n, err := d.dec.Decode(packet, pcm[:len(pcm):len(pcm)])
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPacket, err)
	}
	return n, nil
}

// DecodeFEC fills pcm, exactly as long as the lost audio, from the redundancy in the packet that follows the lost
// one; where there is none, libopus conceals. The same packet is decoded with Decode afterwards.
func (d *Decoder) DecodeFEC(next []byte, pcm []int16) error {
	if err := d.dec.DecodeFEC(next, pcm[:len(pcm):len(pcm)]); err != nil {
		return fmt.Errorf("%w: %w", ErrPacket, err)
	}
	return nil
}

// Conceal fills pcm, exactly as long as the lost audio, with what libopus guesses from the past.
func (d *Decoder) Conceal(pcm []int16) error {
	if err := d.dec.DecodePLC(pcm[:len(pcm):len(pcm)]); err != nil {
		return fmt.Errorf("%w: %w", ErrBuffer, err)
	}
	return nil
}
