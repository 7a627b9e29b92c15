package turn

import "time"

// Config holds the ear's parameters. The zero value of a field means its default. Decisions are made once per
// detector window (32 ms), so durations take effect at the next window's end.
type Config struct {
	// Threshold is the speech probability from which a window counts as speech. Default 0.5.
	Threshold float32
	// OffThreshold is the probability below which speech counts as over. Default Threshold - 0.15, at least 0.01.
	OffThreshold float32
	// MinSpeech is the speech needed before anything is reported, so that a click is not. Default 96 ms.
	MinSpeech time.Duration
	// MinSilence is the silence after which SpeechStopped is reported. Default 200 ms, never above SilenceDuration.
	MinSilence time.Duration
	// PrefixPadding is the audio before the onset that belongs to a turn (Event.From). Default 300 ms; below 0 none.
	PrefixPadding time.Duration
	// SilenceDuration, when above 0, ends a turn after exactly this much silence, and the policy is not asked.
	SilenceDuration time.Duration
	// Policy judges pauses. Default Curve{}.
	Policy Policy
	// EndThreshold is the probability that the turn is over from which it is. Default 0.5.
	EndThreshold float64
	// ScoreFrom is the silence at which a pause is first judged, ScoreEvery the step. Defaults 200 ms and 100 ms.
	ScoreFrom, ScoreEvery time.Duration
	// MaxSilence ends a turn whatever the policy says. Default 2 s.
	MaxSilence time.Duration
	// YieldAfter is the speech over the assistant that makes it yield, every window weighted by its probability: clear
	// speech counts in full, doubtful speech by half. Default 80 ms: three clear windows; never before MinSpeech.
	YieldAfter time.Duration
	// MaxHold ends a hold whose release was lost. Default 2 min.
	MaxHold time.Duration
	// PreRoll is the audio before a press that belongs to the turn (Event.From). Default 400 ms; below 0 none.
	PreRoll time.Duration
}

// ServerVAD returns c with the parameters of the Realtime protocol's server_vad: threshold 0 to 1,
// prefix_padding_ms and silence_duration_ms. A zero silence keeps the ear's own policy.
func (c Config) ServerVAD(threshold float64, prefixPadding, silence time.Duration) Config {
	c.Threshold, c.OffThreshold = float32(threshold), 0
	c.PrefixPadding, c.SilenceDuration = prefixPadding, silence
	if prefixPadding == 0 {
		c.PrefixPadding = -1
	}
	return c
}

// withDefaults fills in what is zero and keeps the rest consistent.
func (c Config) withDefaults() Config {
	fill := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
		*d = max(*d, 0)
	}
	if c.Threshold <= 0 {
		c.Threshold = 0.5
	}
	c.Threshold = min(c.Threshold, 0.99)
	if c.OffThreshold <= 0 {
		c.OffThreshold = max(c.Threshold-0.15, 0.01)
	}
	c.OffThreshold = min(c.OffThreshold, c.Threshold)
	fill(&c.MinSpeech, 96*time.Millisecond)
	fill(&c.MinSilence, 200*time.Millisecond)
	fill(&c.PrefixPadding, 300*time.Millisecond)
	fill(&c.SilenceDuration, 0)
	fill(&c.ScoreFrom, 200*time.Millisecond)
	fill(&c.ScoreEvery, 100*time.Millisecond)
	fill(&c.MaxSilence, 2*time.Second)
	fill(&c.YieldAfter, 80*time.Millisecond)
	fill(&c.MaxHold, 2*time.Minute)
	fill(&c.PreRoll, 400*time.Millisecond)
	c.ScoreEvery = max(c.ScoreEvery, time.Millisecond)
	c.MinSpeech = min(c.MinSpeech, time.Second) // a pause is not judged while a sound may be speech
	if c.SilenceDuration > 0 {
		c.MinSilence = min(c.MinSilence, c.SilenceDuration)
		c.MaxSilence = max(c.MaxSilence, c.SilenceDuration)
	}
	if c.Policy == nil {
		c.Policy = Curve{}
	}
	if c.EndThreshold <= 0 || c.EndThreshold > 1 {
		c.EndThreshold = 0.5
	}
	return c
}
