package turn

import "time"

// AssistantSpeaking tells whether the person hears the assistant now.
func (e *Ear) AssistantSpeaking(on bool) {
	t := &e.turn
	if on && !t.assistant {
		t.assistantFrom = e.Pos()
		t.yielded = false
		t.overlap = t.phase == userSpeaking
	}
	t.assistant = on
}

// mayYield gives the verdict on speech over the assistant, once per stretch: there is enough of it, and it goes on.
// A held button needs no speech.
func (e *Ear) mayYield(p float32, now, window time.Duration) {
	t, s := &e.turn, &e.physical
	if !t.assistant || t.yielded || t.phase != userSpeaking {
		return
	}
	enough := s.speaking && p >= e.config.Threshold && time.Duration(s.sum*float64(window)) >= e.config.YieldAfter
	if t.held || enough {
		e.yield(now)
	}
}

func (e *Ear) yield(now time.Duration) {
	t := &e.turn
	t.yielded, t.overlap, t.solid = true, true, true
	start := max(t.lastOnset, t.assistantFrom)
	if t.held {
		start = max(t.press, t.assistantFrom)
	}
	e.emit(Event{Kind: Yield, At: now, Start: start, From: t.from, Probability: e.physical.mean(), Overlap: true, Held: t.held})
}
