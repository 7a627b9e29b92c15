package g711

const (
	pitchMin  = 40  // samples: 200 Hz
	pitchMax  = 120 // 66 Hz
	matchSpan = 160 // how much of the past is compared with itself one pitch period earlier
	pastSpan  = matchSpan + pitchMax

	holdSpan = 80  // full level for 10 ms,
	fadeSpan = 400 // then down to silence within 50 ms
	joinSpan = 32  // 4 ms of cross-fade back to real audio
)

// Concealer fills lost audio by repeating the last pitch period, fading to silence within 60 ms, as appendix I of
// G.711 proposes; unlike it, it adds no delay. The zero value is ready. Not safe for concurrent use.
type Concealer struct {
	past   [pastSpan]int16 // the newest real audio
	period int             // of the loss that is being concealed; 0: none
	phase  int             // samples made since the loss began
}

// Received takes real audio in order and softens, in place, the seam after a loss.
func (c *Concealer) Received(pcm []int16) {
	if c.period > 0 {
		n := min(joinSpan, len(pcm))
		for i := range n {
			guess := int(c.guess())
			pcm[i] = int16(guess + (int(pcm[i])-guess)*(i+1)/(n+1))
		}
		c.period, c.phase = 0, 0
	}
	if n := len(pcm); n < pastSpan {
		copy(c.past[:], c.past[n:])
		copy(c.past[pastSpan-n:], pcm)
		return
	}
	copy(c.past[:], pcm[len(pcm)-pastSpan:])
}

// Conceal fills pcm with a guess of what was lost.
func (c *Concealer) Conceal(pcm []int16) {
	if c.period == 0 {
		c.period = c.pitch()
	}
	for i := range pcm {
		pcm[i] = c.guess()
	}
}

// guess is the next sample of the repetition.
func (c *Concealer) guess() int16 {
	v := int(c.past[pastSpan-c.period+c.phase%c.period])
	left := min(max(holdSpan+fadeSpan-c.phase, 0), fadeSpan)
	c.phase++
	return int16(v * left / fadeSpan)
}

// pitch is the lag at which the past resembles itself most.
func (c *Concealer) pitch() int {
	best, bestScore := pitchMin, -1.0
	now := c.past[pastSpan-matchSpan:]
	for lag := pitchMin; lag <= pitchMax; lag++ {
		then := c.past[pastSpan-matchSpan-lag:]
		var cross, energy int64
		for i, v := range now {
			w := int64(then[i])
			cross += int64(v) * w
			energy += w * w
		}
		if cross <= 0 || energy == 0 {
			continue
		}
		if score := float64(cross) * float64(cross) / float64(energy); score > bestScore {
			best, bestScore = lag, score
		}
	}
	return best
}
