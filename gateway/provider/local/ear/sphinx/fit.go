package sphinx

import "math"

// The fit compares the best command with the best sequence of any sounds, frame by frame, both in the library's log
// units per 10 ms frame. A command that was really said loses little against free sounds; anything else loses much
// somewhere. The weights are a logistic regression over espeak-ng and flite voices at three speeds, 22 commands against
// 21 other sentences; the rates are printed by this package's recognition test.
const (
	weightMean    = 0.117 // mean difference over the spoken frames
	weightWorst   = 0.084 // mean difference of the worst word
	weightSilence = 0.93  // the most that a stretch taken for silence loses, spread over all frames
	weightWords   = -0.10 // a long command fits by chance more easily than its words do
	weightOne     = 5.29

	worstFloor = -80 // one word may not outweigh everything
	wordsCap   = 6
)

// fit is how probable it is, 0 to 1, that the command and nothing else was said.
func fit(command, sounds []segment) float64 {
	c, s := perFrame(command), perFrame(sounds)
	n := min(len(c), len(s))
	diff := make([]float64, n)
	total := 0.0
	for i := range diff {
		diff[i] = c[i] - s[i]
		total += diff[i]
	}
	spoken := 0
	for _, g := range sounds {
		if !g.silence {
			spoken += g.last - g.first + 1
		}
	}
	words, worst, silence := 0, 0.0, 0.0
	for _, g := range command {
		sum := 0.0
		for i := g.first; i <= g.last && i < n; i++ {
			sum += diff[i]
		}
		if g.silence {
			silence = min(silence, sum)
			continue
		}
		mean := sum / float64(g.last-g.first+1)
		if words == 0 || mean < worst {
			worst = mean
		}
		words++
	}
	if words == 0 {
		return 0
	}
	z := weightOne + weightMean*total/float64(spoken+1) + weightWorst*max(worst, worstFloor) +
		weightSilence*silence/float64(n+1) + weightWords*float64(min(words, wordsCap))
	return 1 / (1 + math.Exp(-z))
}

func perFrame(segments []segment) []float64 {
	if len(segments) == 0 {
		return nil
	}
	out := make([]float64, segments[len(segments)-1].last+1)
	for _, g := range segments {
		mean := float64(g.score) / float64(g.last-g.first+1)
		for i := g.first; i <= g.last && i < len(out); i++ {
			out[i] = mean
		}
	}
	return out
}
