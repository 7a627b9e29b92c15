package clip

import (
	"math"
	"slices"
	"time"
)

// FullScale is the amplitude that counts as 0 dBFS.
const FullScale = 32768.0

// How speech is found in a clean recording. The window is short because its length is the error of every latency that starts at a marker.
const (
	window      = 5 * time.Millisecond
	absolute    = -50.0 // dBFS: below it nobody hears anything
	aboveFloor  = 10.0  // dB above the recording's own noise
	belowPeak   = 40.0  // dB below the loudest window
	minWindows  = 3     // a click of less than 15 ms is no speech
	floorShare  = 0.10  // the quietest tenth of the windows is the noise
	silentLevel = -120.0
)

// Speech finds the first and the last audible sample of a recording, leading and trailing silence and noise excluded.
// ok is false when nothing in it is audible.
func Speech(pcm []int16, rate int) (start, end time.Duration, ok bool) {
	n := rate * int(window/time.Millisecond) / 1000
	levels := make([]float64, 0, len(pcm)/n+1)
	for i := 0; i < len(pcm); i += n {
		levels = append(levels, Level(pcm[i:min(i+n, len(pcm))]))
	}
	if len(levels) == 0 {
		return 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(levels))
	floor, peak := sorted[int(float64(len(sorted))*floorShare)], sorted[len(sorted)-1]
	threshold := max(absolute, peak-belowPeak, min(floor+aboveFloor, peak-6))
	first, last := -1, -1
	for i := 0; i < len(levels); {
		j := i
		for j < len(levels) && levels[j] >= threshold {
			j++
		}
		if j-i >= minWindows {
			if first < 0 {
				first = i
			}
			last = j
		}
		i = j + 1
	}
	if first < 0 {
		return 0, 0, false
	}
	total := time.Duration(len(pcm)) * time.Second / time.Duration(rate)
	return time.Duration(first) * window, min(time.Duration(last)*window, total), true
}

// Level is the energy of some samples in dBFS (root mean square); silence is -120.
func Level(pcm []int16) float64 {
	if len(pcm) == 0 {
		return silentLevel
	}
	var sum float64
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	if sum == 0 {
		return silentLevel
	}
	return max(10*math.Log10(sum/float64(len(pcm))/(FullScale*FullScale)), silentLevel)
}
