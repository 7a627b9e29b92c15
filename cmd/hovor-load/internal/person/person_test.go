package person

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/cmd/hovor-load/internal/wav"
	"hovor/sfu/opus"
	"hovor/signaling/realtime"
)

// A known assistant: it answers a known time after the speech, and falls silent a known time after an interruption begins.
type assistant struct {
	ear        *Ear
	person     *Person
	speech     *clip.Clip // what it believes the person says; nil: what the person does say
	interrupt  *clip.Clip
	answerIn   time.Duration // speech end → arrival of the first packet that holds sound
	yieldIn    time.Duration // onset of the interruption → arrival of the last packet
	lead       int           // silent packets before the sound
	length     time.Duration // of an answer
	byEvents   bool          // push-to-talk: turns are taken by events
	answers    int           // how often it answers; -1 always
	voice, mum []byte

	mu     sync.Mutex
	cut    time.Time
	events []string
	wg     sync.WaitGroup

	playing sync.Mutex
	seq     uint16
	ts      uint32
}

func (a *assistant) WriteRTP(p *rtp.Packet) error {
	now := time.Now()
	for _, c := range []*clip.Clip{a.speech, a.interrupt} {
		if c == nil {
			continue
		}
		// A packet leaves at the end of its 20 ms.
		if i := int(c.Start / clip.Frame); &p.Payload[0] == &c.Packets[i][0] && c == a.interrupt && !a.byEvents {
			onset := now.Add(-time.Duration(i+1) * clip.Frame).Add(c.Start)
			a.stopAt(onset.Add(a.yieldIn))
		}
		if i := int((c.End - 1) / clip.Frame); &p.Payload[0] == &c.Packets[i][0] && !a.byEvents {
			end := now.Add(-time.Duration(i+1) * clip.Frame).Add(c.End)
			a.answer(end.Add(a.answerIn))
		}
	}
	return nil
}

func (a *assistant) Send(e realtime.Event) error {
	now := time.Now()
	a.mu.Lock()
	a.events = append(a.events, e.EventType())
	a.mu.Unlock()
	switch e.EventType() {
	case "response.cancel":
		a.stopAt(now.Add(a.yieldIn))
	case "input_audio_buffer.commit":
		a.person.Event("input_audio_buffer.committed", now.Add(7*time.Millisecond))
	case "response.create":
		a.answer(now.Add(a.answerIn))
	}
	return nil
}

func (a *assistant) stopAt(t time.Time) {
	a.mu.Lock()
	a.cut = t
	a.mu.Unlock()
}

func (a *assistant) answer(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers == 0 {
		return
	}
	a.answers--
	a.wg.Go(func() { a.play(at) })
}

func (a *assistant) play(at time.Time) {
	time.Sleep(time.Until(at.Add(-time.Duration(a.lead) * clip.Frame)))
	a.playing.Lock() // one media goroutine at a time
	defer a.playing.Unlock()
	from := time.Now()
	a.ts += 48000
	for i := 0; time.Since(from) < a.length; i++ {
		a.mu.Lock()
		cut := a.cut
		a.mu.Unlock()
		if cut.After(from) && time.Now().After(cut) {
			a.person.Event("output_audio_buffer.cleared", time.Now())
			return
		}
		payload := a.voice
		if i < a.lead {
			payload = a.mum
		}
		a.seq, a.ts = a.seq+1, a.ts+960
		a.ear.Packet(&rtp.Packet{Header: rtp.Header{SequenceNumber: a.seq, Timestamp: a.ts, Marker: i == 0}, Payload: payload}, time.Now())
		time.Sleep(clip.Frame)
	}
	a.person.Event("output_audio_buffer.stopped", time.Now())
}

func tone(t *testing.T, before, sound, after time.Duration) *clip.Clip {
	t.Helper()
	const rate = 16000
	n := func(d time.Duration) int { return int(d * rate / time.Second) }
	pcm := make([]int16, n(before), n(before+sound+after))
	for i := range n(sound) {
		pcm = append(pcm, int16(8000*math.Sin(float64(i)*2*math.Pi*400/rate)))
	}
	c, err := clip.Encode("tone", &wav.Audio{Rate: rate, PCM: append(pcm, make([]int16, n(after))...)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// converse runs one person against the assistant in virtual time until its turns are over, and gives what was measured.
func converse(t *testing.T, h Habits, a *assistant) *Board {
	t.Helper()
	board := new(Board)
	synctest.Test(t, func(t *testing.T) {
		sound := tone(t, 0, 100*time.Millisecond, 0)
		a.interrupt = h.Interrupt
		if a.speech == nil {
			a.speech = h.Speech
		}
		a.voice = sound.Packets[2]
		a.mum = tone(t, 0, 20*time.Millisecond, 400*time.Millisecond).Packets[15]
		a.ear = newEar(t, board)
		mouth := NewMouth([][]byte{a.mum}, board)
		a.person = New(h, a, a.ear, mouth, board)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { mouth.Run(ctx, a) })
		if err := a.person.Converse(ctx, nil); err != nil {
			t.Error(err)
		}
		cancel()
		wg.Wait()
		a.wg.Wait()
		board.HangUp(a.ear.Stats(), 0)
	})
	return board
}

func newEar(t *testing.T, b *Board) *Ear {
	t.Helper()
	e, err := NewEar(func() (Decoder, error) { return opus.NewDecoder(16000) }, -50, b)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func near(t *testing.T, what string, got float64, want, within time.Duration) {
	t.Helper()
	w, in := float64(want)/1e6, float64(within)/1e6
	if math.IsNaN(got) || math.Abs(got-w) > in {
		t.Errorf("%s: %.1f ms, known to be %.1f", what, got, w)
	}
}

func habits(t *testing.T) Habits {
	return Habits{
		Mode: Open, Speech: tone(t, 310*time.Millisecond, 905*time.Millisecond, 400*time.Millisecond), Turns: 3,
		Pause: time.Second, AnswerWithin: 4 * time.Second,
	}
}

func TestAnswerLatencyIsTheKnownOne(t *testing.T) {
	for _, delay := range []time.Duration{0, 35 * time.Millisecond, 300 * time.Millisecond, 1777 * time.Millisecond} {
		b := converse(t, habits(t), &assistant{answerIn: delay, length: time.Second, answers: -1})
		if b.Answered.Load() != 3 || b.Missed.Load() != 0 || b.Early.Load() != 0 {
			t.Fatalf("%v: %d answered, %d missed, %d early", delay, b.Answered.Load(), b.Missed.Load(), b.Early.Load())
		}
		near(t, "answer", b.Answer.Quantile(0), delay, 10*time.Millisecond)
		near(t, "answer", b.Answer.Quantile(1), delay, 10*time.Millisecond)
	}
}

func TestLeadingSilenceOfTheAnswerIsCountedApart(t *testing.T) {
	b := converse(t, habits(t), &assistant{answerIn: 500 * time.Millisecond, lead: 9, length: time.Second, answers: -1})
	near(t, "answer", b.Answer.Quantile(0.5), 500*time.Millisecond, 10*time.Millisecond)
	near(t, "leading silence", b.LeadSilence.Quantile(0.5), 180*time.Millisecond, 10*time.Millisecond)
}

func TestTurnWithoutAnswerIsMissed(t *testing.T) {
	b := converse(t, habits(t), &assistant{answerIn: 200 * time.Millisecond, length: time.Second, answers: 1})
	if b.Spoken.Load() != 3 || b.Answered.Load() != 1 || b.Missed.Load() != 2 {
		t.Fatalf("%d spoken, %d answered, %d missed", b.Spoken.Load(), b.Answered.Load(), b.Missed.Load())
	}
}

func TestAnswerIntoTheSentenceIsNoLatency(t *testing.T) {
	h := habits(t)
	h.Turns = 1
	believed := *h.Speech
	believed.End -= 500 * time.Millisecond
	b := converse(t, h, &assistant{speech: &believed, length: 2 * time.Second, answers: 1})
	if b.Early.Load() != 1 || b.Answer.Count() != 0 || b.Missed.Load() != 0 {
		t.Fatalf("%d early, %d latencies, %d missed", b.Early.Load(), b.Answer.Count(), b.Missed.Load())
	}
}

func TestYieldIsTheKnownOne(t *testing.T) {
	for _, yield := range []time.Duration{60 * time.Millisecond, 245 * time.Millisecond, 450 * time.Millisecond, 1300 * time.Millisecond} {
		h := habits(t)
		h.Turns, h.AnswerWithin = 2, 6*time.Second
		h.Interrupt, h.InterruptAt = tone(t, 130*time.Millisecond, 605*time.Millisecond, 200*time.Millisecond), 800*time.Millisecond
		b := converse(t, h, &assistant{answerIn: 2 * time.Second, yieldIn: yield, length: 6 * time.Second, answers: -1})
		if b.Yielded.Load() != 2 || b.Interruptions.Load() != 2 {
			t.Fatalf("%v: %d of %d yielded (%d not, %d silent, %d by itself)", yield, b.Yielded.Load(), b.Interruptions.Load(),
				b.NotYielded.Load(), b.Silent.Load(), b.EndedItself.Load())
		}
		near(t, "yield", b.Yield.Quantile(0), yield, 20*time.Millisecond)
		near(t, "yield", b.Yield.Quantile(1), yield, 20*time.Millisecond)
	}
}

func TestYieldIsNotFlattered(t *testing.T) {
	interrupting := func(h Habits) Habits {
		h.Turns = 1
		h.Interrupt, h.InterruptAt = tone(t, 130*time.Millisecond, 605*time.Millisecond, 200*time.Millisecond), 800*time.Millisecond
		return h
	}
	t.Run("goes on speaking", func(t *testing.T) {
		b := converse(t, interrupting(habits(t)), &assistant{answerIn: 400 * time.Millisecond, yieldIn: time.Hour, length: 8 * time.Second, answers: 1})
		if b.NotYielded.Load() != 1 || b.Yield.Count() != 0 {
			t.Fatalf("%d not yielded, %d samples", b.NotYielded.Load(), b.Yield.Count())
		}
	})
	t.Run("was over before", func(t *testing.T) {
		b := converse(t, interrupting(habits(t)), &assistant{answerIn: 400 * time.Millisecond, yieldIn: time.Hour, length: 300 * time.Millisecond, answers: -1})
		if b.Silent.Load() != 1 || b.Yield.Count() != 0 {
			t.Fatalf("%d silent, %d samples", b.Silent.Load(), b.Yield.Count())
		}
	})
	t.Run("ends by itself meanwhile", func(t *testing.T) {
		b := converse(t, interrupting(habits(t)), &assistant{answerIn: 400 * time.Millisecond, yieldIn: time.Hour, length: 1200 * time.Millisecond, answers: 1})
		if b.EndedItself.Load() != 1 || b.Yield.Count() != 0 {
			t.Fatalf("%d by itself, %d samples", b.EndedItself.Load(), b.Yield.Count())
		}
	})
}

func TestPushToTalkSendsWhatAButtonSends(t *testing.T) {
	h := habits(t)
	h.Mode, h.Turns = PTT, 1
	h.Interrupt, h.InterruptAt = tone(t, 130*time.Millisecond, 605*time.Millisecond, 200*time.Millisecond), 800*time.Millisecond
	a := &assistant{byEvents: true, answerIn: 300 * time.Millisecond, yieldIn: 80 * time.Millisecond, length: 5 * time.Second, answers: -1}
	b := converse(t, h, a)
	want := []string{
		"input_audio_buffer.clear", "input_audio_buffer.commit", "response.create",
		"response.cancel", "output_audio_buffer.clear", "input_audio_buffer.clear", "input_audio_buffer.commit", "response.create",
	}
	if len(a.events) != len(want) {
		t.Fatalf("sent %v", a.events)
	}
	for i := range want {
		if a.events[i] != want[i] {
			t.Fatalf("sent %v", a.events)
		}
	}
	// The release follows the packet that holds the last audible sample, which is up to one packet later.
	near(t, "answer", b.Answer.Quantile(0.5), 310*time.Millisecond, 10*time.Millisecond)
	near(t, "committed", b.Committed.Quantile(0.5), 17*time.Millisecond, 10*time.Millisecond)
	near(t, "yield", b.Yield.Quantile(0.5), 80*time.Millisecond, 20*time.Millisecond)
	near(t, "answer to the interruption", b.AnswerInterrupt.Quantile(0.5), 310*time.Millisecond, 10*time.Millisecond)
}
