package effect

import (
	"fmt"
	"slices"
	"strings"
)

// Class says what a call of a tool really does, whatever the tool is called. The set is closed; the zero value is not
// a class, so a tool without one cannot be loaded.
type Class string

const (
	Read          Class = "read"           // looks something up; nobody is affected
	ReadSensitive Class = "read_sensitive" // looks up something that must not be said without consent
	Screen        Class = "screen"         // changes what the person's own page shows
	Local         Class = "local"          // changes something of the person's own that can be undone at once
	Shared        Class = "shared"         // changes something that others see and that can be undone
	External      Class = "external"       // leaves the house or reaches an audience
	Sensitive     Class = "sensitive"      // hard to undo: deletes, pays, grants, discloses
)

// Ceiling is the least that a person must do before a call of a tool may take effect. The set is closed and ordered:
// each ceiling asks for more than the one before it.
type Ceiling string

const (
	Free         Ceiling = "free"           // nothing
	Undo         Ceiling = "undo"           // nothing, and the effect can be taken back
	Voice        Ceiling = "voice"          // the spoken yes, or more
	Card         Ceiling = "card"           // the card on the page
	CardStepUp   Ceiling = "card_step_up"   // the card, after the person has proved themselves again
	NeverByVoice Ceiling = "never_by_voice" // no voice session can do it, whatever the person's rights
)

// Decision is what a class and a ceiling call for.
type Decision int

const (
	Never   Decision = iota // refuse; the zero value, so that a missing row refuses
	Confirm                 // prepare, show and wait for a person
	Run                     // run at once
)

var ceilings = []Ceiling{Free, Undo, Voice, Card, CardStepUp, NeverByVoice}

// The table. floor is the lowest ceiling of a class: an entry of the catalogue may ask for more and never for less.
var classes = []struct {
	class Class
	floor Ceiling
	reads bool // neither the world nor the page is changed
}{
	{Read, Free, true},
	{ReadSensitive, Voice, true},
	{Screen, Free, false},
	{Local, Undo, false},
	{Shared, Voice, false},
	{External, Voice, false},
	{Sensitive, NeverByVoice, false},
}

// Classes returns the closed set of classes, mildest first.
func Classes() []Class {
	out := make([]Class, len(classes))
	for i, row := range classes {
		out[i] = row.class
	}
	return out
}

// Ceilings returns the closed set of ceilings, lowest first.
func Ceilings() []Ceiling { return slices.Clone(ceilings) }

// ParseClass returns the class of that exact name.
func ParseClass(name string) (Class, error) {
	for _, row := range classes {
		if string(row.class) == name {
			return row.class, nil
		}
	}
	return "", fmt.Errorf("%w: want one of %s", ErrClass, join(Classes()))
}

// ParseCeiling returns the ceiling of that exact name.
func ParseCeiling(name string) (Ceiling, error) {
	if slices.Contains(ceilings, Ceiling(name)) {
		return Ceiling(name), nil
	}
	return "", fmt.Errorf("%w: want one of %s", ErrCeiling, join(ceilings))
}

// Floor returns the lowest ceiling of a class, and NeverByVoice for anything that is not a class.
func (c Class) Floor() Ceiling {
	for _, row := range classes {
		if row.class == c {
			return row.floor
		}
	}
	return NeverByVoice
}

// Reads reports whether a call of this class leaves both the world and the page as they were.
func (c Class) Reads() bool {
	for _, row := range classes {
		if row.class == c {
			return row.reads
		}
	}
	return false
}

// Raise returns the higher of two ceilings. It is the only way to combine ceilings, so a rule can make a tool stricter
// and nothing can make it laxer. Anything outside the closed set counts as NeverByVoice.
func (c Ceiling) Raise(to Ceiling) Ceiling {
	return ceilings[max(c.rank(), to.rank())]
}

// Below reports whether c asks less of the person than other.
func (c Ceiling) Below(other Ceiling) bool { return c.rank() < other.rank() }

func (c Ceiling) rank() int {
	if i := slices.Index(ceilings, c); i >= 0 {
		return i
	}
	return len(ceilings) - 1
}

// Decide says what a call of this class under this ceiling calls for. The ceiling is first raised to the class's floor.
// Only a read or a screen tool whose ceiling is Free runs at once; an undo channel does not exist yet, so Undo confirms.
func Decide(class Class, ceiling Ceiling) Decision {
	switch class.Floor().Raise(ceiling) {
	case Free:
		return Run
	case Undo, Voice, Card, CardStepUp:
		return Confirm
	default:
		return Never
	}
}

func join[T ~string](all []T) string {
	var b strings.Builder
	for i, one := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(one))
	}
	return b.String()
}
