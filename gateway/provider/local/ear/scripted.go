package ear

import (
	"context"
	"sync"
)

// Scripted is an Ear for tests: every utterance is heard as the next text of a list, whatever it sounds like. When the
// list is used up nothing is understood.
type Scripted struct {
	mu    sync.Mutex
	texts []string
	heard int
}

// NewScripted makes an ear that hears these texts in order. An empty text is an utterance that is not understood.
func NewScripted(texts ...string) *Scripted { return &Scripted{texts: texts} }

// Recognize implements Ear.
func (s *Scripted) Recognize(_ context.Context, pcm []int16) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard++
	if len(s.texts) == 0 {
		return Result{}, nil
	}
	text := s.texts[0]
	s.texts = s.texts[1:]
	if text == "" {
		return Result{}, nil
	}
	return Result{Text: text, Confidence: 1}, nil
}

// Heard is the number of utterances so far.
func (s *Scripted) Heard() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}
