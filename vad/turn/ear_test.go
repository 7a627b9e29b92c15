package turn

import (
	"math"
	"testing"
	"time"

	"hovor/vad"
)

// never is a policy that never ends a turn.
type never struct{}

func (never) Hazard(PauseFeatures) float64 { return 0 }

func TestOpenMicrophone(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		steps  []step
		want   []string
	}{
		{"silence is nothing", Config{}, []step{hush(100)}, nil},
		{"a click is nothing", Config{}, []step{hush(10), say(2), hush(100)}, nil},
		{"clicks do not add up", Config{}, []step{say(2), hush(1), say(2), hush(1), say(2), hush(100)}, nil},
		{"nor does doubt glue them together", Config{}, []step{say(2), sound(3, 0.4), say(2), hush(100)}, nil},
		{"speech below the threshold is nothing", Config{}, []step{sound(100, 0.49)}, nil},
		{"one sentence", Config{}, []step{hush(20), say(30), hush(40)}, []string{
			"736 speech_started from 340 start 640",
			"1824 speech_stopped end 1600",
			"2208 end_of_turn silence 640-1600",
		}},
		{"a pause to think does not end the turn", Config{}, []step{say(30), hush(15), say(30), hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"1536 resumed start 1440",
			"2624 speech_stopped end 2400",
			"3008 end_of_turn silence 0-2400",
		}},
		{"a dip within a word is no pause", Config{}, []step{say(20), hush(5), say(20), hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"1664 speech_stopped end 1440",
			"2048 end_of_turn silence 0-1440",
		}},
		{"doubt between the thresholds goes on as speech for a while", Config{}, []step{say(10), sound(10, 0.4), say(10), hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"1568 end_of_turn silence 0-960",
		}},
		{"but not for ever", Config{}, []step{say(10), sound(100, 0.4)}, []string{
			"96 speech_started from 0 start 0",
			"832 speech_stopped end 320",
			"928 end_of_turn silence 0-320",
		}},
		{"a click in a pause neither resumes nor prolongs it", Config{}, []step{say(30), hush(10), say(1), hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"1568 end_of_turn silence 0-960",
		}},
		{"no pause is judged while a sound may be speech", Config{}, []step{say(30), hush(17), say(3), hush(1)}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"1600 resumed start 1504",
		}},
		{"hard limit of silence", Config{Policy: never{}}, []step{say(30), hush(100)}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"2976 end_of_turn timeout 0-960",
		}},
		{"two turns share no audio", Config{}, []step{say(10), hush(20), say(10), hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"544 speech_stopped end 320",
			"928 end_of_turn silence 0-320",
			"1056 speech_started from 660 start 960",
			"1504 speech_stopped end 1280",
			"1888 end_of_turn silence 960-1280",
		}},
		{"server_vad with 500 ms", Config{}.ServerVAD(0.5, 300*ms, 500*ms), []step{say(30), hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"1472 end_of_turn silence 0-960",
		}},
		{"server_vad in a hurry, without prefix", Config{}.ServerVAD(0.5, 0, 100*ms), []step{hush(20), say(30), hush(40)}, []string{
			"736 speech_started from 640 start 640",
			"1728 speech_stopped end 1600",
			"1728 end_of_turn silence 640-1600",
		}},
		{"server_vad waits longer than the hard limit if asked", Config{}.ServerVAD(0.5, 300*ms, 4*time.Second), []step{say(30), hush(150)}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"4960 end_of_turn silence 0-960",
		}},
		{"a high threshold", Config{}.ServerVAD(0.97, 300*ms, 500*ms), []step{say(30), hush(40)}, nil},
		{"a client that commits the audio itself", Config{}, []step{say(20), drop, say(20), hush(40), drop}, []string{
			"96 speech_started from 0 start 0",
			"640 speech_stopped end 640",
			"640 dismissed dropped 0-640",
			"960 speech_started from 640 start 640",
			"1504 speech_stopped end 1280",
			"1888 end_of_turn silence 640-1280",
		}},
		{"a client that clears the audio in a pause", Config{}, []step{say(20), hush(10), drop, hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"864 speech_stopped end 640",
			"960 dismissed dropped 0-640",
		}},
		{"settings change in mid-turn", Config{Policy: never{}}, []step{
			say(30), hush(10), configure(Config{}.ServerVAD(0.5, 300*ms, 500*ms)), hush(40),
		}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"1472 end_of_turn silence 0-960",
		}},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, play(c.config, c.steps...), c.want...) })
	}
}

func TestOverTheAssistant(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"speech silences it, and is a turn", []step{assistant(true), hush(20), say(5), assistant(false), say(25), hush(40)}, []string{
			"736 speech_started from 340 start 640 overlap",
			"736 yield start 640 overlap",
			"1824 speech_stopped end 1600 overlap",
			"2208 end_of_turn silence 640-1600 overlap",
		}},
		{"doubtful speech needs to go on longer", []step{assistant(true), hush(20), sound(5, 0.6), hush(1)}, []string{
			"736 speech_started from 340 start 640 overlap",
			"800 yield start 640 overlap",
		}},
		{"a click does not", []step{assistant(true), hush(20), say(2), hush(40)}, nil},
		{"a doubtful sound that ends by itself does not, and is no turn", []step{assistant(true), hush(20), sound(4, 0.55), hush(40)}, []string{
			"736 speech_started from 340 start 640 overlap",
			"992 speech_stopped end 768 overlap",
			"992 dismissed too_short 640-768 overlap",
		}},
		{"unless the assistant was through meanwhile", []step{assistant(true), hush(20), sound(4, 0.55), assistant(false), hush(40)}, []string{
			"736 speech_started from 340 start 640 overlap",
			"992 speech_stopped end 768 overlap",
			"1376 end_of_turn silence 640-768 overlap",
		}},
		{"an assistant that starts over somebody yields at once", []step{say(20), assistant(true), say(10), hush(1)}, []string{
			"96 speech_started from 0 start 0",
			"672 yield start 640 overlap",
		}},
		{"but not when that somebody has just ended", []step{say(20), hush(1), assistant(true), hush(20)}, []string{
			"96 speech_started from 0 start 0",
			"864 speech_stopped end 640 overlap",
			"1248 end_of_turn silence 0-640 overlap",
		}},
		{"it is told once for each stretch of speech", []step{assistant(true), say(20), hush(10), say(20)}, []string{
			"96 speech_started from 0 start 0 overlap",
			"96 yield start 0 overlap",
			"864 speech_stopped end 640 overlap",
			"1056 resumed start 960 overlap",
			"1056 yield start 960 overlap",
		}},
		{"and once for each time it starts", []step{assistant(true), say(20), assistant(false), say(1), assistant(true), say(20)}, []string{
			"96 speech_started from 0 start 0 overlap",
			"96 yield start 0 overlap",
			"704 yield start 672 overlap",
		}},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, play(Config{}, c.steps...), c.want...) })
	}
}

func TestPushToTalk(t *testing.T) {
	ptt := mode(PushToTalk)
	for _, c := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"speech without the button is nobody's turn", []step{ptt, say(100), hush(100)}, nil},
		{"nor does it silence the assistant", []step{ptt, assistant(true), say(100), hush(100)}, nil},
		{"press, speak, release", []step{ptt, hush(20), press, hush(5), say(30), release, hush(40)}, []string{
			"640 speech_started from 240 start 640 held",
			"1760 speech_stopped end 1760 held",
			"1760 end_of_turn released 640-1760 held",
		}},
		{"a pause of any length ends nothing while held", []step{ptt, press, say(30), hush(200), say(30), hush(200), release}, []string{
			"0 speech_started from 0 start 0 held",
			"14720 speech_stopped end 14720 held",
			"14720 end_of_turn released 0-14720 held",
		}},
		{"a whisper counts", []step{ptt, press, sound(3, 0.25), release}, []string{
			"0 speech_started from 0 start 0 held",
			"96 speech_stopped end 96 held",
			"96 end_of_turn released 0-96 held",
		}},
		{"a press by mistake does not", []step{ptt, press, hush(20), release}, []string{
			"0 speech_started from 0 start 0 held",
			"640 speech_stopped end 640 held",
			"640 dismissed released 0-640 held",
		}},
		{"words spoken just before the press count", []step{ptt, hush(20), say(10), press, hush(3), release}, []string{
			"960 speech_started from 560 start 960 held",
			"1056 speech_stopped end 1056 held",
			"1056 end_of_turn released 960-1056 held",
		}},
		{"words spoken long before do not", []step{ptt, say(10), hush(20), press, hush(3), release}, []string{
			"960 speech_started from 560 start 960 held",
			"1056 speech_stopped end 1056 held",
			"1056 dismissed released 960-1056 held",
		}},
		{"a press silences the assistant at once", []step{ptt, assistant(true), hush(20), press, hush(1), assistant(false), say(20), release}, []string{
			"640 speech_started from 240 start 640 overlap held",
			"640 yield start 640 overlap held",
			"1312 speech_stopped end 1312 overlap held",
			"1312 end_of_turn released 640-1312 overlap held",
		}},
		{"an assistant that starts into a hold yields at once", []step{ptt, press, hush(10), assistant(true), hush(1)}, []string{
			"0 speech_started from 0 start 0 held",
			"352 yield start 320 overlap held",
		}},
		{"a lost release ends by itself", []step{ptt, press, say(30), hush(4000), release}, []string{
			"0 speech_started from 0 start 0 held",
			"120000 speech_stopped end 120000 held",
			"120000 end_of_turn timeout 0-120000 held",
		}},
		{"a second press and a second release change nothing", []step{ptt, press, press, say(30), release, release, hush(40)}, []string{
			"0 speech_started from 0 start 0 held",
			"960 speech_stopped end 960 held",
			"960 end_of_turn released 0-960 held",
		}},
		{"two holds share no audio", []step{ptt, press, say(30), release, hush(2), press, say(30), release}, []string{
			"0 speech_started from 0 start 0 held",
			"960 speech_stopped end 960 held",
			"960 end_of_turn released 0-960 held",
			"1024 speech_started from 960 start 1024 held",
			"1984 speech_stopped end 1984 held",
			"1984 end_of_turn released 1024-1984 held",
		}},
		{"a press in an open turn takes it over", []step{say(30), press, hush(100), release, hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"4160 speech_stopped end 4160 held",
			"4160 end_of_turn released 0-4160 held",
		}},
		{"a press in a pause does too", []step{say(30), hush(10), press, hush(100), release, hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"1184 speech_stopped end 960",
			"1280 resumed start 1280 held",
			"4480 speech_stopped end 4480 held",
			"4480 end_of_turn released 0-4480 held",
		}},
		{"speech that goes on after a release in open mode opens a turn", []step{press, say(30), release, say(20), hush(40)}, []string{
			"0 speech_started from 0 start 0 held",
			"960 speech_stopped end 960 held",
			"960 end_of_turn released 0-960 held",
			"1280 speech_started from 960 start 960",
			"1824 speech_stopped end 1600",
			"2208 end_of_turn silence 960-1600",
		}},
		{"a mode switch ends what was said", []step{say(30), ptt, say(30), hush(40)}, []string{
			"96 speech_started from 0 start 0",
			"960 speech_stopped end 960",
			"960 end_of_turn released 0-960",
		}},
		{"opening the microphone in mid-speech hears it from there", []step{ptt, say(30), mode(OpenMic), say(20), hush(40)}, []string{
			"1280 speech_started from 960 start 960",
			"1824 speech_stopped end 1600",
			"2208 end_of_turn silence 960-1600",
		}},
		{"opening the microphone ends a hold", []step{ptt, press, say(30), mode(OpenMic), hush(40), release}, []string{
			"0 speech_started from 0 start 0 held",
			"960 speech_stopped end 960 held",
			"960 end_of_turn released 0-960 held",
		}},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, play(Config{}, c.steps...), c.want...) })
	}
}

// late is a detector that shows an onset 40 ms and an end 100 ms after the fact.
type late struct{ scripted }

func (*late) Lag() (onset, offset time.Duration) { return 40 * ms, 100 * ms }

func TestEdgesAreBackDatedByTheDetectorsLag(t *testing.T) {
	d := &late{}
	e := New(d, Config{})
	var got []Event
	pcm := make([]int16, 512)
	for i := range 100 {
		d.p = 0
		if i >= 20 && i < 50 {
			d.p = 1
		}
		got = append(got, e.Write(pcm)...)
	}
	expect(t, got,
		"736 speech_started from 300 start 600",
		"1728 speech_stopped end 1500",
		"2112 end_of_turn silence 600-1500",
	)
}

// wavering is a policy that returns what a model in doubt, or at fault, might.
type wavering struct{ seen []PauseFeatures }

func (w *wavering) Hazard(f PauseFeatures) float64 {
	w.seen = append(w.seen, f)
	return []float64{0.2, 0, 0.3, math.NaN(), -1, 0.2, 0.9}[(len(w.seen)-1)%7]
}

func TestPauseIsScoredEveryStepAndOnlyGrows(t *testing.T) {
	w := &wavering{}
	got := play(Config{Policy: w}, say(10), hush(10), say(10), hush(60))
	last := got[len(got)-1]
	if last.Kind != EndOfTurn || last.Reason != Silence || last.At != 1568*ms {
		t.Errorf("ended by %v", line(last))
	}
	if want := 1 - 0.7*0.8*0.1; math.Abs(float64(last.Probability)-want) > 1e-6 {
		t.Errorf("probability %v, want %v", last.Probability, want)
	}
	first := w.seen[0]
	if first != (PauseFeatures{Silence: 200 * ms, Turn: 320 * ms, Segment: 320 * ms}) {
		t.Errorf("first score on %+v", first)
	}
	if s := w.seen[1].Silence; s != 300*ms {
		t.Errorf("second score at %v", s)
	}
	second := w.seen[2]
	if second != (PauseFeatures{Silence: 200 * ms, Turn: 960 * ms, Segment: 320 * ms, Pauses: 1, LongestPause: 320 * ms}) {
		t.Errorf("score after the pause on %+v", second)
	}
}

func TestCurveEndsAnOrdinaryTurnAfterSixHundredMilliseconds(t *testing.T) {
	left, last := 1.0, 0.0
	for s := 200 * ms; s <= 2*time.Second; s += 100 * ms {
		h := Curve{}.Hazard(PauseFeatures{Silence: s})
		if h < last || h < 0 || h > 1 {
			t.Errorf("hazard %v at %v", h, s)
		}
		last = h
		left *= 1 - h
		if over := 1-left >= 0.5; over != (s >= 600*ms) {
			t.Errorf("after %v the turn is over with probability %.2f", s, 1-left)
		}
	}
}

// counting is a detector that hears speech in its windows 15 to 46.
type counting struct {
	scripted
	n int
}

func (d *counting) Probability([]int16) float32 {
	d.n++
	if d.n > 15 && d.n <= 47 {
		return 0.9
	}
	return 0.01
}

func TestWritesOfAnySizeHearTheSame(t *testing.T) {
	for _, size := range []int{1, 77, 160, 320, 512, 960, 48000} {
		e := New(&counting{}, Config{})
		var out []Event
		written := 0
		for ; written < 3*vad.SampleRate; written += size {
			out = append(out, e.Write(make([]int16, size))...)
		}
		expect(t, out,
			"576 speech_started from 180 start 480",
			"1728 speech_stopped end 1504",
			"2112 end_of_turn silence 480-1504",
		)
		if want := time.Duration(written) * time.Second / vad.SampleRate; e.Pos() != want {
			t.Errorf("writes of %d: position %v, want %v", size, e.Pos(), want)
		}
	}
}

// quick is a detector of windows of 10 ms.
type quick struct{ counting }

func (*quick) WindowSamples() int { return 160 }

func TestDetectorWithOtherWindows(t *testing.T) {
	e := New(&quick{}, Config{})
	var out []Event
	for range 100 {
		out = append(out, e.Write(make([]int16, 320))...)
	}
	expect(t, out,
		"250 speech_started from 0 start 150",
		"670 speech_stopped end 470",
		"1070 end_of_turn silence 150-470",
	)
}

func TestLevel(t *testing.T) {
	e := New(&scripted{}, Config{})
	if e.Level() != -100 {
		t.Errorf("level of nothing %v", e.Level())
	}
	pcm := make([]int16, 320)
	for i := range pcm {
		pcm[i] = int16(3277 * (1 - 2*(i/16%2)))
	}
	for range 100 {
		e.Write(pcm)
	}
	if l := e.Level(); l < -20.1 || l > -19.9 {
		t.Errorf("level of a square wave at a tenth of full scale: %v dBFS", l)
	}
	for range 100 {
		e.Write(make([]int16, 320))
	}
	if l := e.Level(); l != -100 && l > -90 {
		t.Errorf("level two seconds after: %v", l)
	}
}

func TestNoAllocation(t *testing.T) {
	d := &scripted{}
	e := New(d, Config{})
	pcm := make([]int16, 320)
	events, i := 0, 0
	n := testing.AllocsPerRun(2000, func() {
		e.AssistantSpeaking(i%100 > 50)
		d.p = 0.9
		if i%100 > 60 {
			d.p = 0.01
		}
		i++
		events += len(e.Write(pcm))
	})
	if n != 0 || events < 50 {
		t.Errorf("%v allocations per frame, %d events", n, events)
	}
}
