package turn

import (
	"math"
	"time"
)

// PauseFeatures is what a Policy may look at when it judges a pause. All durations are stream time.
type PauseFeatures struct {
	Silence      time.Duration // since the back-dated end of the last speech
	Turn         time.Duration // from the turn's onset to the end of the last speech
	Segment      time.Duration // length of the last stretch of speech
	Pauses       int           // pauses inside this turn that the person came back from
	LongestPause time.Duration // the longest of them
}

// Policy judges pauses. Hazard returns the probability, 0 to 1, that the turn ends in this scoring step
// (Config.ScoreEvery) given that it had not ended before it. The ear multiplies what is left over the steps of one
// pause, so the probability that the turn is over can only grow with silence, whatever a policy returns.
// A policy is called on the audio path: it must not block or allocate.
type Policy interface {
	Hazard(PauseFeatures) float64
}

// Curve is the policy that knows only how long the silence is: a logistic curve, so that a short pause hardly ever
// ends a turn and a long one nearly always does. With the ear's other defaults it ends a turn after 600 ms.
type Curve struct {
	Middle time.Duration // silence at which a step is as likely to end the turn as not. Default 650 ms.
	Width  time.Duration // a quarter of the curve's rise, roughly. Default 100 ms.
}

// Hazard implements Policy.
func (c Curve) Hazard(f PauseFeatures) float64 {
	middle, width := c.Middle, c.Width
	if middle <= 0 {
		middle = 650 * time.Millisecond
	}
	if width <= 0 {
		width = 100 * time.Millisecond
	}
	return 1 / (1 + math.Exp(-float64(f.Silence-middle)/float64(width)))
}
