package person

import (
	"context"
	"time"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/signaling/realtime"
)

// Habits is how a person talks. All durations must be above zero.
type Habits struct {
	Mode         Mode
	Speech       *clip.Clip
	Interrupt    *clip.Clip    // nil: never interrupts
	InterruptAt  time.Duration // after the first audible sample of the answer
	Turns        int           // 0: until the end of the run
	Pause        time.Duration // silence of the assistant before the person speaks again
	AnswerWithin time.Duration // a turn without an answer for so long is missed
}

const (
	// yieldGap is the silence from which the assistant counts as fallen silent; shorter ones lie between words.
	yieldGap = 300 * time.Millisecond
	// yieldWithin is how long after the onset the assistant may go on before it counts as not having yielded at all.
	yieldWithin = 3 * time.Second
)

// Line is one call as a person sees it.
type Line interface {
	Sender
	Send(realtime.Event) error
}

// Person is one simulated person on a line that is up.
type Person struct {
	habits Habits
	line   Line
	ear    *Ear
	mouth  *Mouth
	board  *Board
	log    events
}

// New makes a person. The owner of the line feeds the ear with packets and Event with events, and runs the mouth.
func New(h Habits, l Line, e *Ear, m *Mouth, b *Board) *Person {
	return &Person{habits: h, line: l, ear: e, mouth: m, board: b}
}

// Event notes an event of the server at the time it arrived. It never blocks.
func (p *Person) Event(eventType string, at time.Time) {
	if took, ok := p.log.note(eventType, at); ok {
		p.board.Committed.AddDuration(took)
	}
}

// Converse takes turns until the habit's number of turns is reached, ctx ends, or stop is closed; a turn that has begun when stop is closed
// is finished. Who interrupts does so once a turn, and takes the answer to the interruption for the next turn's answer, so that nobody has to
// hear a long story to its end. It returns the line's error when one occurred.
func (p *Person) Converse(ctx context.Context, stop <-chan struct{}) error {
	var answer *Span // one that runs
	for turn := 0; p.habits.Turns == 0 || turn < p.habits.Turns; turn++ {
		var err error
		if answer == nil {
			if !p.quiet(ctx, stop) {
				return nil
			}
			answer, err = p.turn(ctx)
		}
		if err == nil && answer != nil {
			if closed(stop) {
				return nil
			}
			answer, err = p.interrupt(ctx, answer)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
	return nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// quiet waits until the assistant has been silent for the habit's pause.
func (p *Person) quiet(ctx context.Context, stop <-chan struct{}) bool {
	since := time.Now()
	for {
		if last := p.ear.LastAudible(); last.After(since) {
			since = last
		}
		wait := time.Until(since.Add(p.habits.Pause))
		if wait <= 0 {
			return true
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-stop:
			timer.Stop()
			return false
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}

// turn speaks once, when the assistant is silent, and gives the answer, nil for none.
func (p *Person) turn(ctx context.Context) (*Span, error) {
	s, err := p.speak(ctx, p.habits.Speech)
	if err != nil {
		return nil, err
	}
	first, err := p.answer(ctx, s, s.onset)
	if err != nil || first == nil {
		return nil, err
	}
	p.board.Answer.AddDuration(first.Start.Sub(s.end))
	if first.Stream.After(s.end) {
		p.board.LeadSilence.AddDuration(first.Start.Sub(first.Stream))
	}
	return first, nil
}

// speech is one utterance as it was really spoken.
type speech struct {
	claim      time.Time // when the person took the turn: the button by push-to-talk, else the first audible sample
	onset, end time.Time // first and last audible sample
}

// speak says a clip and returns when its last audible sample has left; by push-to-talk the turn is closed then.
func (p *Person) speak(ctx context.Context, c *clip.Clip) (speech, error) {
	pressed := time.Now()
	if p.habits.Mode == PTT {
		if err := p.press(); err != nil {
			return speech{}, err
		}
	}
	u := p.mouth.Say(c)
	began, err := u.Began(ctx)
	if err != nil {
		return speech{}, err
	}
	select {
	case <-u.Spoken():
	case <-ctx.Done():
		return speech{}, ctx.Err()
	}
	s := speech{claim: began.Add(c.Start), onset: began.Add(c.Start), end: began.Add(c.End)}
	p.log.awaitCommit(s.end)
	if p.habits.Mode == PTT {
		s.claim = pressed
		for _, e := range []realtime.Event{&realtime.InputAudioBufferCommit{}, &realtime.ResponseCreate{}} {
			if err := p.line.Send(e); err != nil {
				return speech{}, err
			}
		}
	}
	return s, nil
}

// press is what a client does when the button goes down: silence the assistant if it speaks, forget what the microphone heard before.
func (p *Person) press() error {
	var events []realtime.Event
	if time.Since(p.ear.LastAudible()) < yieldGap {
		events = append(events, &realtime.ResponseCancel{}, &realtime.OutputAudioBufferClear{})
	}
	events = append(events, &realtime.InputAudioBufferClear{})
	for _, e := range events {
		if err := p.line.Send(e); err != nil {
			return err
		}
	}
	return nil
}

// answer waits for the first audible sample after the speech, and counts the turn. What was audible at heard is not the answer. One that
// begins within the sentence is no answer either: there is no honest latency for it.
func (p *Person) answer(ctx context.Context, s speech, heard time.Time) (*Span, error) {
	p.board.Spoken.Add(1)
	var first Span
	ok, err := p.await(ctx, s.end.Add(p.habits.AnswerWithin), func() bool {
		spans := p.ear.Since(heard)
		if len(spans) > 0 {
			first = spans[0]
		}
		return len(spans) > 0
	})
	switch {
	case err != nil:
		return nil, err
	case !ok:
		p.board.Missed.Add(1)
		return nil, nil
	case first.Start.Before(s.end):
		p.board.Early.Add(1)
		return nil, nil
	}
	p.board.Answered.Add(1)
	return &first, nil
}

// interrupt speaks over an answer, when that is the habit, measures how long the assistant goes on, and gives the answer to the
// interruption, nil for none.
func (p *Person) interrupt(ctx context.Context, answer *Span) (*Span, error) {
	if p.habits.Interrupt == nil {
		return nil, nil
	}
	at := answer.Start.Add(p.habits.InterruptAt)
	if p.habits.Mode == Open {
		at = at.Add(-p.habits.Interrupt.Start) // the recording's own leading silence interrupts nobody
	}
	if _, err := p.await(ctx, at, func() bool { return false }); err != nil {
		return nil, err
	}
	s, err := p.speak(ctx, p.habits.Interrupt)
	if err != nil {
		return nil, err
	}
	p.board.Interruptions.Add(1)
	last := s.claim
	if !p.speaking(s.claim) {
		p.board.Silent.Add(1)
	} else if yielded, err := p.yield(ctx, s, &last); err != nil || !yielded {
		return nil, err
	}
	next, err := p.answer(ctx, s, last)
	if next != nil {
		p.board.AnswerInterrupt.AddDuration(next.Start.Sub(s.end))
	}
	return next, err
}

// yield waits until the assistant, speaking when the person took the turn, is silent, and says when it was last audible.
func (p *Person) yield(ctx context.Context, s speech, last *time.Time) (bool, error) {
	silent, err := p.await(ctx, s.claim.Add(yieldWithin), func() bool {
		*last = p.lastBefore(s)
		return time.Since(*last) >= yieldGap && !time.Now().Before(s.end)
	})
	switch {
	case err != nil:
		return false, err
	case !silent:
		p.board.NotYielded.Add(1)
		return false, nil
	case p.endedByItself(s.claim):
		p.board.EndedItself.Add(1)
	default:
		p.board.Yielded.Add(1)
		p.board.Yield.AddDuration(last.Sub(s.claim))
	}
	return true, nil
}

// speaking says whether the assistant was speaking at t: audible, or in a pause between two words.
func (p *Person) speaking(t time.Time) bool {
	spans := p.ear.Since(t)
	return len(spans) > 0 && spans[0].Start.Sub(t) < yieldGap
}

// lastBefore is the end of the audio that was running when the person took the turn: the assistant is silent from there for at least yieldGap, or until
// well after the person's own speech, whichever is longer. A pause that ends while the person still speaks was none.
func (p *Person) lastBefore(s speech) time.Time {
	last := s.claim
	for _, span := range p.ear.Since(s.claim) {
		if span.Start.Sub(last) >= yieldGap && !span.Start.Before(s.end) {
			break
		}
		last = span.End
	}
	return last
}

// endedByItself says whether the interrupted answer was over by itself, so that its end proves nothing.
func (p *Person) endedByItself(onset time.Time) bool {
	_, cleared := p.log.after("output_audio_buffer.cleared", onset)
	_, stopped := p.log.after("output_audio_buffer.stopped", onset)
	return stopped && !cleared
}

// await waits until cond holds, looked at whenever packets came and at the end, or until the deadline.
func (p *Person) await(ctx context.Context, deadline time.Time, cond func() bool) (bool, error) {
	const step = clip.Frame
	timer := time.NewTimer(step)
	defer timer.Stop()
	for !cond() {
		left := time.Until(deadline)
		if left <= 0 {
			return false, nil
		}
		timer.Reset(min(left, step))
		select {
		case <-timer.C:
		case <-p.ear.Changed():
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return true, nil
}
