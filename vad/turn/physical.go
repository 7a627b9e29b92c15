package turn

import (
	"time"
)

// physical is the layer that knows sound, not turns: it turns one probability per window into stretches of speech.
// It runs on whatever the turn layer does, and nothing ever resets it.
type physical struct {
	onLag, offLag time.Duration // the detector's own delays, subtracted from the edges

	speaking bool
	onset    time.Duration // back-dated start of the stretch being heard, or last heard
	end      time.Duration // back-dated end of the last stretch

	// Windows at or above the threshold since the stretch, or the sound that may become one, began.
	first time.Duration // start of the first of them
	loud  int
	sum   float64

	weak     int           // windows in a row below the threshold within a sound that is not yet speech
	lastLoud time.Duration // end of the last window at or above the threshold
	quiet    bool          // within a stretch: silence may have begun
	quietAt  time.Duration // where: start of the first window below the lower threshold
}

// change is what a window did to the physical layer.
type change int

const (
	nothing change = iota
	started        // onset is set
	stopped        // end is set
)

// dither is how long probabilities between the two thresholds prolong speech on their own.
const dither = 500 * time.Millisecond

// hear takes the probability of the window from start to end.
func (s *physical) hear(c *Config, p float32, start, end time.Duration) change {
	if p >= c.Threshold {
		if s.loud == 0 {
			s.first = start
		}
		s.loud++
		s.sum += float64(p)
		s.weak, s.quiet, s.lastLoud = 0, false, end
	}
	if !s.speaking {
		return s.mayStart(c, p, end-start)
	}
	return s.mayStop(c, p, start, end)
}

func (s *physical) mayStart(c *Config, p float32, window time.Duration) change {
	if s.loud == 0 {
		return nothing
	}
	if p < c.Threshold {
		s.weak++
		if p < c.OffThreshold || s.weak > s.loud {
			s.loud, s.sum, s.weak = 0, 0, 0
		}
		return nothing
	}
	if time.Duration(s.loud)*window < c.MinSpeech {
		return nothing
	}
	s.speaking = true
	s.onset = max(s.first-s.onLag, s.end, 0)
	return started
}

func (s *physical) mayStop(c *Config, p float32, start, end time.Duration) change {
	if !s.quiet && p < c.OffThreshold {
		s.quiet, s.quietAt = true, start
	}
	if !s.quiet && end-s.lastLoud >= dither {
		s.quiet, s.quietAt = true, s.lastLoud
	}
	if !s.quiet || end-s.silentFrom() < c.MinSilence {
		return nothing
	}
	s.end = s.silentFrom()
	s.speaking, s.quiet = false, false
	s.loud, s.sum, s.weak = 0, 0, 0
	return stopped
}

// silentFrom is the back-dated end of the stretch while silence is pending.
func (s *physical) silentFrom() time.Duration { return max(s.quietAt-s.offLag, s.onset) }

// sounding says that a sound that may become speech is being heard: no pause is judged meanwhile.
func (s *physical) sounding() bool { return !s.speaking && s.loud > 0 }

// mean is the mean probability of the loud windows of the stretch.
func (s *physical) mean() float32 {
	if s.loud == 0 {
		return 0
	}
	return float32(s.sum / float64(s.loud))
}
