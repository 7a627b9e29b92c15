package turn

import "time"

// PauseFeatures is what a Policy may look at when it judges a pause. All durations are stream time.
type PauseFeatures struct {
	Silence      time.Duration // since the back-dated end of the last speech
	Turn         time.Duration // from the turn's onset to the last speech
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

// Curve is the policy that knows only how long the silence is.
type Curve struct{}

// Hazard implements Policy.
func (Curve) Hazard(f PauseFeatures) float64 { return 0 }
