package ear

import (
	"context"
	"sync"
)

// Scripted is an Ear for tests: every new utterance is heard as the next text of a list, whatever it sounds like. When the
// list is used up nothing is understood.
type Scripted struct {
	mu    sync.Mutex // guards what follows
	texts []string
	given map[string]string // by utterance
}

// NewScripted makes an ear that hears these texts in order. An empty text is an utterance that is not understood.
func NewScripted(texts ...string) *Scripted {
	return &Scripted{texts: texts, given: map[string]string{}}
}

// Recognize implements Ear. An utterance that is listened to again is heard as before.
func (s *Scripted) Recognize(_ context.Context, u Utterance) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, again := s.given[u.ID]
	if !again {
		if len(s.texts) > 0 {
			text, s.texts = s.texts[0], s.texts[1:]
		}
		s.given[u.ID] = text
	}
	if text == "" {
		return Result{}, nil
	}
	return Result{Text: text, Confidence: 1}, nil
}

// Heard is the number of utterances so far.
func (s *Scripted) Heard() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.given)
}
