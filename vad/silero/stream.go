package silero

import (
	"math"
	"time"
)

// Stream is the state of one stream: the last 64 samples and the recurrent state, beside working memory (20 kB in all).
type Stream struct {
	m *Model
	// What a stream is, apart from working memory.
	context [context]float32
	cell    [hidden]float32
	xh      [2 * hidden]float32 // input of the cell; then its hidden state, kept between windows

	// Working memory. The frames of padding around mag and enc1 stay zero.
	in   [context + Window + context]float32
	spec [frames * 2 * binPad]float32
	mag  [(1 + frames + 1) * bins]float32
	enc1 [(1 + frames) * ch1]float32
	enc2 [2 * ch2]float32
	enc3 [ch3]float32
	gate [gates]float32
}

// WindowSamples returns Window.
func (s *Stream) WindowSamples() int { return Window }

// Lag returns how late the detector tends to be with thresholds 0.5 and 0.35: the median time from a true onset to the
// start of the first window at or above the upper one, and from a true end to the start of the first window below the
// lower one. Measured on real-clean of the development set, whose labels are good to 40 ms (TestDevelopmentSet; ends
// there are 20 ms padded and some have an audible tail). Package turn subtracts them.
func (s *Stream) Lag() (onset, offset time.Duration) {
	return onsetLag, offsetLag
}

const (
	onsetLag  = 26 * time.Millisecond
	offsetLag = 30 * time.Millisecond
)

// Reset forgets the stream.
func (s *Stream) Reset() {
	clear(s.context[:])
	clear(s.cell[:])
	clear(s.xh[:])
}

// Probability consumes the next Window samples (it panics on any other number) and returns the probability of speech.
func (s *Stream) Probability(window []int16) float32 {
	if len(window) != Window {
		panic("silero: a window is 512 samples")
	}
	s.load(window)
	n, k := s.m.net, s.m.kern

	k.mul4(&n.stft, s.in[:], hop, s.spec[:], 2*binPad, noFloor)
	s.magnitudes()
	k.mul4(&n.conv1, s.mag[:], bins, s.enc1[ch1:], ch1, 0)
	k.mul1(&n.conv2, s.enc1[:], s.enc2[:ch2], 0)
	k.mul1(&n.conv2, s.enc1[2*ch1:], s.enc2[ch2:], 0)
	k.mul1(&n.conv3, s.enc2[:], s.enc3[:], 0)
	k.mul1(&n.conv4, s.enc3[:], s.xh[:hidden], 0)
	k.mul1(&n.lstm, s.xh[:], s.gate[:], noFloor)
	return sigmoid(exp(-s.step()))
}

// load lays out context, window and reflection, and keeps the window's end as the next context.
func (s *Stream) load(window []int16) {
	copy(s.in[:], s.context[:])
	in := s.in[context : context+Window]
	for i, v := range window {
		in[i] = float32(v) * (1.0 / 32768)
	}
	copy(s.context[:], in[Window-context:])
	last := context + Window - 1
	for i := 1; i <= context; i++ {
		s.in[last+i] = s.in[last-i]
	}
}

// magnitudes turns the real and imaginary parts of each frame into the middle frames of mag.
func (s *Stream) magnitudes() {
	for t := range frames {
		spec := s.spec[t*2*binPad : (t+1)*2*binPad]
		mag := s.mag[(1+t)*bins : (2+t)*bins]
		for b := range mag {
			at := b/binGroup*panelRows + b%binGroup
			re, im := spec[at], spec[at+binGroup]
			mag[b] = float32(math.Sqrt(float64(re*re + im*im)))
		}
	}
}

// step finishes the LSTM cell and returns the output layer's sum. The gates come scaled for their exponentials.
func (s *Stream) step() float32 {
	s.m.kern.exp(s.gate[:])
	in, forget, cell, out := s.gate[:hidden], s.gate[hidden:2*hidden], s.gate[2*hidden:3*hidden], s.gate[3*hidden:]
	twice := in // its memory
	for i := range hidden {
		c := sigmoid(forget[i])*s.cell[i] + sigmoid(in[i])*tanh(cell[i])
		s.cell[i] = c
		twice[i] = 2 * c
	}
	s.m.kern.exp(twice)
	sum := s.m.net.outBias
	h := s.xh[hidden:]
	for i := range hidden {
		h[i] = sigmoid(out[i]) * tanh(twice[i])
		sum += s.m.net.out[i] * max(h[i], 0)
	}
	return sum
}
