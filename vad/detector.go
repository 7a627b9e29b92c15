package vad

// SampleRate is the only rate the ear hears, in samples per second. Resampling happens at the edge, before the ear.
const SampleRate = 16000

// Detector estimates speech probability for one stream of audio. It keeps whatever context it needs between
// windows, so one Detector serves one stream and is not safe for concurrent use.
type Detector interface {
	// WindowSamples is the number of consecutive samples at SampleRate that one call of Probability takes.
	WindowSamples() int
	// Probability consumes the next window (exactly WindowSamples samples) and returns the probability, 0 to 1,
	// that it holds speech. It does not keep the slice and does not allocate.
	Probability(window []int16) float32
	// Reset forgets the stream: the next window is the first of a new one.
	Reset()
}
