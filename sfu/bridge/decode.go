package bridge

import (
	"time"

	"hovor/sfu/g711"
	"hovor/sfu/opus"
	"hovor/sfu/resample"
)

// longest is the largest packet that is taken, Opus' 120 ms (RFC 6716 section 3.2.5).
const longest = 120 * time.Millisecond

// decoder makes PCM at the microphone's rate. Each method appends to dst, which has room for the longest packet.
type decoder interface {
	decode(dst []int16, payload []byte) ([]int16, error)
	// recover fills d from the packet that follows the gap; false: it holds nothing about it.
	recover(dst []int16, next []byte, d time.Duration) ([]int16, bool)
	conceal(dst []int16, d time.Duration) []int16
	silence(dst []int16, d time.Duration) []int16
	// duration is a packet's audio, 0 when it is none.
	duration(payload []byte) time.Duration
	// pausing: silence may follow this packet without any packet.
	pausing(payload []byte) bool
	reset()
}

func newDecoder(f format, rate int) (decoder, error) {
	if f.opus {
		dec, err := opus.NewDecoder(rate)
		return &opusDecoder{dec: dec, rate: rate}, err
	}
	r, err := resample.New(g711.Rate, rate)
	return &lawDecoder{law: f.law, r: r, pcm: make([]int16, int(longest*g711.Rate/time.Second))}, err
}

type opusDecoder struct {
	dec  *opus.Decoder
	rate int
}

func (d *opusDecoder) decode(dst []int16, payload []byte) ([]int16, error) {
	n, err := d.dec.Decode(payload, dst[len(dst):cap(dst)])
	return dst[:len(dst)+n], err
}

func (d *opusDecoder) recover(dst []int16, next []byte, gap time.Duration) ([]int16, bool) {
	n := d.samples(gap)
	if !opus.HasFEC(next) || opus.Duration(next) != gap || d.dec.DecodeFEC(next, dst[len(dst):len(dst)+n]) != nil {
		return dst, false
	}
	return dst[:len(dst)+n], true
}

func (d *opusDecoder) conceal(dst []int16, gap time.Duration) []int16 {
	n := d.samples(gap)
	if d.dec.Conceal(dst[len(dst):len(dst)+n]) != nil {
		return d.silence(dst, gap)
	}
	return dst[:len(dst)+n]
}

func (d *opusDecoder) silence(dst []int16, gap time.Duration) []int16 {
	n := len(dst) + d.samples(gap)
	clear(dst[len(dst):n])
	return dst[:n]
}

func (d *opusDecoder) samples(t time.Duration) int {
	return int(t * time.Duration(d.rate) / time.Second)
}

func (d *opusDecoder) duration(payload []byte) time.Duration { return opus.Duration(payload) }
func (d *opusDecoder) pausing(payload []byte) bool           { return opus.Silent(payload) }

func (d *opusDecoder) reset() {
	if dec, err := opus.NewDecoder(d.rate); err == nil { // the rate was good once
		d.dec = dec
	}
}

type lawDecoder struct {
	law  g711.Law
	r    *resample.Resampler
	plc  g711.Concealer
	pcm  []int16 // scratch at 8 kHz
	data []byte
}

func (d *lawDecoder) decode(dst []int16, payload []byte) ([]int16, error) {
	pcm := d.pcm[:min(len(payload), len(d.pcm))]
	d.law.Decode(pcm, payload[:len(pcm)])
	d.plc.Received(pcm)
	return d.r.Append(dst, pcm), nil
}

func (d *lawDecoder) recover(dst []int16, _ []byte, _ time.Duration) ([]int16, bool) {
	return dst, false
}

func (d *lawDecoder) conceal(dst []int16, gap time.Duration) []int16 {
	pcm := d.pcm[:int(gap*g711.Rate/time.Second)]
	d.plc.Conceal(pcm)
	return d.r.Append(dst, pcm)
}

func (d *lawDecoder) silence(dst []int16, gap time.Duration) []int16 {
	pcm := d.pcm[:int(gap*g711.Rate/time.Second)]
	clear(pcm)
	d.plc.Received(pcm)
	return d.r.Append(dst, pcm)
}

func (d *lawDecoder) duration(payload []byte) time.Duration {
	return min(samplesTime(len(payload), g711.Rate), longest)
}
func (d *lawDecoder) pausing([]byte) bool { return false }

func (d *lawDecoder) reset() {
	d.r.Reset()
	d.plc = g711.Concealer{}
}
