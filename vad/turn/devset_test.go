package turn

import (
	"errors"
	"slices"
	"testing"
	"time"

	"hovor/vad/internal/devset"
	"hovor/vad/silero"
)

const repository = "../../"

func model(t testing.TB) *silero.Model {
	t.Helper()
	m, err := silero.Load(repository + silero.DefaultPath)
	if errors.Is(err, silero.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// overhear plays a clip to an ear in frames of 20 ms and returns the events of each kind.
func overhear(t *testing.T, m *silero.Model, c devset.Clip, config Config, assistant func(at time.Duration) bool) map[Kind][]Event {
	t.Helper()
	pcm, err := c.PCM()
	if err != nil {
		t.Fatal(err)
	}
	e := New(m.Stream(), config)
	out := map[Kind][]Event{}
	for ; len(pcm) >= 320; pcm = pcm[320:] {
		e.AssistantSpeaking(assistant(e.Pos()))
		for _, v := range e.Write(pcm[:320]) {
			out[v.Kind] = append(out[v.Kind], v)
		}
	}
	return out
}

func always(time.Duration) bool { return true }
func nobody(time.Duration) bool { return false }

// delays collects durations; nearest adds what follows from the first event within 600 ms of an edge.
type delays []time.Duration

func (d *delays) nearest(events []Event, edge, before time.Duration, of, added func(Event) time.Duration) {
	for _, v := range events {
		if late := of(v) - edge; late > -before && late < 600*ms {
			*d = append(*d, added(v)-edge)
			return
		}
	}
}

func (d delays) at(q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(d))[int(q*float64(len(d)-1))].Round(ms)
}

func at(v Event) time.Duration    { return v.At }
func start(v Event) time.Duration { return v.Start }
func end(v Event) time.Duration   { return v.End }

// TestEdgesOnTheDevelopmentSet measures how soon the ear knows, and how true its back-dated edges are, on recordings
// of real speakers talking over an assistant without echo.
func TestEdgesOnTheDevelopmentSet(t *testing.T) {
	m := model(t)
	type figures struct {
		known, yield, onset, end delays
		falseYields              int
		length                   time.Duration
	}
	all := map[string]*figures{}
	for _, c := range devset.VAD(t, repository) {
		if c.Speech == nil {
			continue
		}
		f := all[c.Folder()]
		if f == nil {
			f = &figures{}
			all[c.Folder()] = f
		}
		v := overhear(t, m, c, Config{}, always)
		begun := append(slices.Clone(v[SpeechStarted]), v[Resumed]...)
		slices.SortFunc(begun, func(a, b Event) int { return int(a.At - b.At) })
		f.length += c.Length()
		if len(c.Speech) == 0 {
			f.falseYields += len(v[Yield])
		}
		for i, s := range c.Speech {
			if i == 0 || s.Start()-c.Speech[i-1].End() >= 300*ms {
				f.known.nearest(begun, s.Start(), 0, at, at)
				f.onset.nearest(begun, s.Start(), 0, at, start)
				f.yield.nearest(v[Yield], s.Start(), 0, at, at)
			}
			if i+1 == len(c.Speech) || c.Speech[i+1].Start()-s.End() >= 300*ms {
				f.end.nearest(v[SpeechStopped], s.End(), 250*ms, end, end)
			}
		}
	}
	for _, name := range []string{"real-clean", "noisy"} {
		f := all[name]
		if f == nil {
			t.Fatalf("no clips in %s", name)
		}
		t.Logf("%-10s started p50 %v p90 %v, yield p50 %v p95 %v (%d), onset error p10 %v p50 %v p90 %v, end error p10 %v p50 %v p90 %v (%d)", name,
			f.known.at(0.5), f.known.at(0.9), f.yield.at(0.5), f.yield.at(0.95), len(f.yield),
			f.onset.at(0.1), f.onset.at(0.5), f.onset.at(0.9), f.end.at(0.1), f.end.at(0.5), f.end.at(0.9), len(f.end))
	}
	noise := all["noise"]
	perMinute := float64(noise.falseYields) / noise.length.Minutes()
	t.Logf("noise      %.1f false yields per minute over %v", perMinute, noise.length.Round(time.Second))

	clean := all["real-clean"]
	for what, c := range map[string]struct{ got, most time.Duration }{
		"yield p50":       {clean.yield.at(0.5), 200 * ms},
		"yield p95":       {clean.yield.at(0.95), 250 * ms},
		"onset error p50": {max(clean.onset.at(0.5), -clean.onset.at(0.5)), 30 * ms},
		"end error p50":   {max(clean.end.at(0.5), -clean.end.at(0.5)), 40 * ms},
	} {
		if c.got > c.most {
			t.Errorf("%s is %v, want at most %v", what, c.got, c.most)
		}
	}
	if perMinute > 6 {
		t.Errorf("%.1f false yields per minute of noise", perMinute)
	}
}

// TestEndsOfTurnOnTheDevelopmentSet measures the curve against the fixed silence of server_vad's default.
func TestEndsOfTurnOnTheDevelopmentSet(t *testing.T) {
	m := model(t)
	for _, part := range []string{"real-spliced", "synth-turns"} {
		clips := devset.TurnsAudio(t, repository, part)
		for name, config := range map[string]Config{
			"curve":  {},
			"500 ms": Config{}.ServerVAD(0.5, 300*ms, 500*ms),
		} {
			holds, cut, ends, missed := 0, 0, 0, 0
			var latency delays
			for _, c := range clips {
				v := overhear(t, m, c, config, nobody)[EndOfTurn]
				for _, p := range c.Pauses {
					i := slices.IndexFunc(v, func(v Event) bool { return v.At > p.Start() && v.At <= p.End() })
					switch {
					case p.Type == "hold":
						holds++
						if i >= 0 {
							cut++
						}
					case i < 0:
						ends++
						missed++
					default:
						ends++
						latency = append(latency, v[i].At-p.Start())
					}
				}
			}
			t.Logf("%-12s %-7s %d of %d pauses cut off, ends of turn noticed after p50 %v p90 %v, %d of %d missed",
				part, name, cut, holds, latency.at(0.5), latency.at(0.9), missed, ends)
			if missed*20 > ends {
				t.Errorf("%s, %s: %d of %d ends of turn missed", part, name, missed, ends)
			}
			if p := latency.at(0.5); p < 400*ms || p > 800*ms {
				t.Errorf("%s, %s: ends of turn noticed after %v", part, name, p)
			}
		}
	}
}

// BenchmarkWrite is the cost of the whole ear for 20 ms of audio of one participant.
func BenchmarkWrite(b *testing.B) {
	e := New(model(b).Stream(), Config{})
	pcm := make([]int16, 320)
	for i := range pcm {
		pcm[i] = int16(i * 7919 % 2001)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Write(pcm)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*50/1e6, "ms/s")
}
