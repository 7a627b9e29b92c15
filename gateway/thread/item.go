package thread

import (
	"fmt"
	"log/slog"
	"time"
)

// Role says whose words an item holds.
type Role string

// The two sides of a conversation.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Kind says how the words came about.
type Kind string

// Words are spoken or typed; the assistant's written answers are typed.
const (
	Spoken Kind = "spoken"
	Typed  Kind = "typed"
)

// MaxText bounds one item's words, in bytes. An hour of speech is about 60 kB.
const MaxText = 256 << 10

// Words is what a person or the assistant said. It prints as a length, so that no log holds it.
type Words string

// String prints a length, never the words.
func (w Words) String() string { return fmt.Sprintf("[%d bytes]", len(w)) }

// GoString prints a length, never the words.
func (w Words) GoString() string { return w.String() }

// LogValue logs a length, never the words.
func (w Words) LogValue() slog.Value { return slog.StringValue(w.String()) }

// Item is one utterance or one typed message.
type Item struct {
	ID       string        // the item id of the call in which it was said; unique within the thread
	Seq      float64       // place in the thread; items are ordered by it, not by arrival. Fractions insert between neighbours
	Role     Role          // whose words
	Kind     Kind          // spoken or typed
	Text     Words         // for the assistant: the heard words only
	Complete bool          // false: cut off (assistant), or still being transcribed (person)
	Audio    time.Duration // for spoken items of the assistant: how much was heard
	CallID   string        // the call in which it was said
	At       time.Time     // when the item came to be
}

func (it Item) validate() error {
	switch {
	case it.ID == "" || len(it.ID) > 128:
		return fmt.Errorf("%w: id of %d bytes", ErrInvalidItem, len(it.ID))
	case it.Role != User && it.Role != Assistant:
		return fmt.Errorf("%w: role", ErrInvalidItem)
	case it.Kind != Spoken && it.Kind != Typed:
		return fmt.Errorf("%w: kind", ErrInvalidItem)
	case len(it.Text) > MaxText:
		return fmt.Errorf("%w: %d bytes of text, at most %d", ErrInvalidItem, len(it.Text), MaxText)
	}
	return nil
}

// Thread is one conversation as a person may read it.
type Thread struct {
	ID        string
	Person    string
	CreatedAt time.Time
	UpdatedAt time.Time
	Items     []Item // in order
}
