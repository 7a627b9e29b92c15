package local

import "math"

// energy is a speech detector of last resort: how far a frame stands above the quietest there has been of late. It knows
// nothing of speech; a real detector is given through Config.Detector.
type energy struct {
	floor float64 // dBFS; 0 before the first frame
}

const (
	energyWindow = 320
	energyGate   = -50.0 // dBFS; never speech below
	energyRise   = 0.02  // dB per frame that the floor may climb: 1 dB/s
	energyMargin = 9.0   // dB above the floor where the probability is one half
	energyStart  = -50.0 // the floor starts at the first frame, at most here
)

func newEnergy() *energy { return &energy{} }

// WindowSamples implements vad.Detector.
func (e *energy) WindowSamples() int { return energyWindow }

// Probability implements vad.Detector.
func (e *energy) Probability(window []int16) float32 {
	db := level(window)
	if e.floor == 0 {
		e.floor = max(min(db, energyStart), -75)
	}
	if db < e.floor {
		e.floor += 0.2 * (max(db, -75) - e.floor)
	} else {
		e.floor += energyRise
	}
	if db < energyGate {
		return 0
	}
	return float32(1 / (1 + math.Exp(-(db-e.floor-energyMargin)/2)))
}

// Reset implements vad.Detector.
func (e *energy) Reset() { e.floor = 0 }

// level is the mean power in dB below full scale.
func level(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	if sum == 0 || len(pcm) == 0 {
		return -100
	}
	return 10 * math.Log10(sum/float64(len(pcm))/(32768*32768))
}
