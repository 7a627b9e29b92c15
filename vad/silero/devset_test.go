package silero

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"hovor/vad/internal/devset"
)

// score counts 10 ms frames, a window's answer standing for all it covers.
type score struct {
	hit, miss, falseAlarm, silence int
	onset, end                     []time.Duration // delays, see edges
}

func (s *score) precision() float64 { return share(s.hit, s.falseAlarm) }
func (s *score) recall() float64    { return share(s.hit, s.miss) }
func (s *score) f1() float64        { return share(2*s.hit, s.miss+s.falseAlarm) }
func (s *score) alarms() float64    { return share(s.falseAlarm, s.silence) }

func share(part, rest int) float64 {
	if part+rest == 0 {
		return 0
	}
	return float64(part) / float64(part+rest)
}

const (
	frame  = 10 * time.Millisecond
	window = Window * time.Second / 16000
)

func (s *score) frames(p []float32, speech []devset.Span) {
	for at := time.Duration(0); at+frame <= time.Duration(len(p))*window; at += frame {
		mid := at + frame/2
		truth := slices.ContainsFunc(speech, func(v devset.Span) bool { return v.Start() <= mid && mid < v.End() })
		heard := p[mid/window] >= 0.5
		switch {
		case truth && heard:
			s.hit++
		case truth:
			s.miss++
		case heard:
			s.falseAlarm++
		default:
			s.silence++
		}
	}
}

// edges measures, around silences of at least 300 ms, the delay from a labelled onset to the start of the first
// window at or above 0.5, and from a labelled end to the start of the first window below 0.35.
func (s *score) edges(p []float32, speech []devset.Span) {
	const gap = 300 * time.Millisecond
	for i, v := range speech {
		if i == 0 || v.Start()-speech[i-1].End() >= gap {
			for w := max(0, int((v.Start()-100*time.Millisecond)/window)); w < len(p) && time.Duration(w)*window < v.End(); w++ {
				if p[w] >= 0.5 {
					s.onset = append(s.onset, time.Duration(w)*window-v.Start())
					break
				}
			}
		}
		if i+1 == len(speech) || speech[i+1].Start()-v.End() >= gap {
			for w := int((v.End() - 100*time.Millisecond) / window); w < len(p); w++ {
				if p[w] < 0.35 {
					s.end = append(s.end, time.Duration(w)*window-v.End())
					break
				}
			}
		}
	}
}

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[int(q*float64(len(d)-1))].Round(time.Millisecond)
}

// TestDevelopmentSet measures the bare detector at 0.5 on real recordings and holds it to floors somewhat below what
// was measured. The figures themselves are for reading.
func TestDevelopmentSet(t *testing.T) {
	m := model(t)
	scores := map[string]*score{}
	for _, c := range devset.VAD(t, repository) {
		if c.Speech == nil {
			continue
		}
		name := c.Folder()
		if c.SNR != nil {
			name = fmt.Sprintf("%s %2d dB", name, *c.SNR)
		}
		pcm, err := c.PCM()
		if err != nil {
			t.Fatal(err)
		}
		if scores[name] == nil {
			scores[name] = &score{}
		}
		p := listen(m.Stream(), pcm)
		scores[name].frames(p, c.Speech)
		scores[name].edges(p, c.Speech)
	}
	t.Logf("%-12s %6s %6s %6s %6s  onset p50/p90, end p50/p90, to the window's start", "condition", "F1", "P", "R", "FA")
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		s := scores[name]
		t.Logf("%-12s %6.3f %6.3f %6.3f %6.3f  %v/%v (%d), %v/%v (%d)", name, s.f1(), s.precision(), s.recall(), s.alarms(),
			quantile(s.onset, 0.5), quantile(s.onset, 0.9), len(s.onset), quantile(s.end, 0.5), quantile(s.end, 0.9), len(s.end))
	}
	for name, least := range map[string]float64{"real-clean": 0.95, "noisy 20 dB": 0.92, "noisy 10 dB": 0.91, "noisy  5 dB": 0.88, "noisy  0 dB": 0.92} {
		if s := scores[name]; s == nil {
			t.Errorf("no clips in condition %s", name)
		} else if s.f1() < least {
			t.Errorf("%s: F1 %.3f, want at least %.3f", name, s.f1(), least)
		}
	}
	if s := scores["noise"]; s == nil || s.alarms() > 0.12 {
		t.Errorf("noise is taken for speech more than 12 %% of the time")
	}
	if s := scores["real-clean"]; quantile(s.onset, 0.5) > 60*time.Millisecond {
		t.Errorf("onsets are noticed late: %v", quantile(s.onset, 0.5))
	}
}
