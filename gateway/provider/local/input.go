package local

import (
	"time"

	"hovor/gateway/provider/local/ear"
	"hovor/signaling/realtime"
	"hovor/vad"
)

const (
	prerollFrames   = 15 // 300 ms before the first sound belong to it
	hangoverFrames  = 15 // 300 ms after the last
	pauseFrames     = 8  // after 160 ms of quiet the ear begins to listen to what there is
	silentFrames    = 4  // fewer active frames are no speech
	longestSpeech   = 30 * ear.Rate
	shortestCommit  = 100 * time.Millisecond // openai: input_audio_buffer_commit_empty below
	onsetWindows    = 60 * time.Millisecond  // speech has to last this long to count as started
	thresholdReturn = 0.15                   // hysteresis of the detector's threshold
)

// input is the audio buffer between two commits: how much has come, and the parts of it that hold sound.
type input struct {
	gate   *energy
	id     string // of the user item this will become
	total  time.Duration
	speech []int16
	before []int16 // quiet frames that are not in speech, at most prerollFrames
	active int     // frames with sound
	quiet  int     // frames since the last sound
}

func newInput() *input {
	in := &input{gate: newEnergy()}
	in.reset()
	return in
}

// reset starts the next buffer. The noise floor is kept.
func (in *input) reset() {
	in.id = realtime.NewID("item")
	in.total, in.active, in.quiet = 0, 0, 0
	in.speech = nil // it may still be listened to
	in.before = in.before[:0]
}

// add takes a frame and reports whether a pause has just begun.
func (in *input) add(pcm []int16) (paused bool) {
	in.total += time.Duration(len(pcm)) * time.Second / ear.Rate
	if in.gate.Probability(pcm) >= 0.5 {
		in.active++
		in.quiet = 0
		in.keep(in.before)
		in.before = in.before[:0]
		in.keep(pcm)
		return false
	}
	in.quiet++
	if in.active > 0 && in.quiet <= hangoverFrames {
		in.keep(pcm)
		return in.quiet == pauseFrames && !in.silent()
	}
	in.before = append(in.before, pcm...)
	if extra := len(in.before) - prerollFrames*len(pcm); extra > 0 {
		in.before = append(in.before[:0], in.before[extra:]...)
	}
	return false
}

func (in *input) keep(pcm []int16) {
	in.speech = append(in.speech, pcm[:min(len(pcm), longestSpeech-len(in.speech))]...)
}

// silent reports that there has been no speech.
func (in *input) silent() bool { return in.active < silentFrames }

// detection finds turns for server_vad and semantic_vad.
type detection struct {
	detector  vad.Detector
	threshold float32
	padding   time.Duration
	silence   time.Duration // that ends a turn

	window   []int16
	clock    time.Duration // stream time at the end of the last window
	above    time.Duration // of consecutive windows with speech
	below    time.Duration
	speaking bool
}

// eagerness of semantic_vad as a pause: there is no model of meaning here, only patience.
var eagerness = map[string]time.Duration{"high": 300 * time.Millisecond, "low": 1200 * time.Millisecond}

const semanticSilence = 600 * time.Millisecond

func newDetection(t *realtime.TurnDetection, d vad.Detector) *detection {
	x := &detection{detector: d, threshold: realtime.DefaultThreshold, padding: realtime.DefaultPrefixPaddingMS * time.Millisecond}
	if t.Threshold != nil {
		x.threshold = float32(*t.Threshold)
	}
	if t.PrefixPaddingMS != nil {
		x.padding = time.Duration(*t.PrefixPaddingMS) * time.Millisecond
	}
	x.silence = realtime.DefaultSilenceDurationMS * time.Millisecond
	if t.SilenceDurationMS != nil {
		x.silence = time.Duration(*t.SilenceDurationMS) * time.Millisecond
	}
	if t.Type == realtime.SemanticVAD {
		x.silence = semanticSilence
		if d, ok := eagerness[t.Eagerness]; ok {
			x.silence = d
		}
	}
	return x
}

// change is what one frame of audio brings.
type change int

const (
	noChange change = iota
	speechStarted
	speechStopped
)

// add takes consecutive audio, pos being the stream time of its first sample, and tells at most one change with its
// stream time. The start is back-dated to the onset minus the padding; the stop includes the silence that decided it.
func (d *detection) add(pcm []int16, pos time.Duration) (change, time.Duration) {
	d.window = append(d.window, pcm...)
	n := d.detector.WindowSamples()
	length := time.Duration(n) * time.Second / ear.Rate
	for len(d.window) >= n {
		p := d.detector.Probability(d.window[:n])
		d.window = append(d.window[:0], d.window[n:]...)
		d.clock = pos + time.Duration(len(pcm)-len(d.window))*time.Second/ear.Rate
		if c, at := d.step(p, length); c != noChange {
			return c, at
		}
	}
	return noChange, 0
}

func (d *detection) step(p float32, length time.Duration) (change, time.Duration) {
	switch {
	case p >= d.threshold:
		d.above += length
		d.below = 0
	case p < d.threshold-thresholdReturn:
		d.below += length
		d.above = 0
	default:
		d.below += length
	}
	if !d.speaking && d.above >= onsetWindows {
		d.speaking = true
		return speechStarted, max(0, d.clock-d.above-d.padding)
	}
	if d.speaking && d.below >= d.silence {
		d.speaking = false
		return speechStopped, d.clock
	}
	return noChange, 0
}
