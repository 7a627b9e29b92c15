package person

import (
	"sync"
	"time"
)

// events remembers when the server last sent an event of the few kinds that help to read what was heard.
type events struct {
	mu     sync.Mutex
	last   map[string]time.Time
	spoken time.Time // end of speech that no commit has followed yet
}

// note remembers an event. For the first commit after the end of speech it gives how long that took.
func (e *events) note(eventType string, at time.Time) (took time.Duration, ok bool) {
	switch eventType {
	case "input_audio_buffer.committed", "output_audio_buffer.cleared", "output_audio_buffer.stopped":
	default:
		return 0, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		e.last = map[string]time.Time{}
	}
	e.last[eventType] = at
	if eventType != "input_audio_buffer.committed" || e.spoken.IsZero() {
		return 0, false
	}
	took = at.Sub(e.spoken)
	e.spoken = time.Time{}
	return took, true
}

// awaitCommit says when a speech ended.
func (e *events) awaitCommit(end time.Time) {
	e.mu.Lock()
	e.spoken = end
	e.mu.Unlock()
}

// after gives when the event last came, if that was not before t.
func (e *events) after(eventType string, t time.Time) (time.Time, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, ok := e.last[eventType]
	return at, ok && !at.Before(t)
}
