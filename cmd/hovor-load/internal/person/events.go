package person

import (
	"sync"
	"time"
)

// events remembers when the server last sent an event of the few kinds that help to read what was heard.
type events struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func (e *events) note(eventType string, at time.Time) {
	switch eventType {
	case "input_audio_buffer.committed", "output_audio_buffer.cleared", "output_audio_buffer.stopped":
	default:
		return
	}
	e.mu.Lock()
	if e.last == nil {
		e.last = map[string]time.Time{}
	}
	e.last[eventType] = at
	e.mu.Unlock()
}

// after gives when the event last came, if that was not before t.
func (e *events) after(eventType string, t time.Time) (time.Time, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, ok := e.last[eventType]
	return at, ok && !at.Before(t)
}
