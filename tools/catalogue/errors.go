package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrLoad is wrapped by every *LoadError.
var ErrLoad = errors.New("catalogue does not load")

// Problem is one thing that is wrong with a catalogue file, and what to do about it.
type Problem struct {
	File    string
	Line    int    // 1 is the first
	Tool    string // the entry's name, when the problem is inside one that has a name
	Message string
	Fix     string
}

// String is "file:line: tool: message; fix: …".
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: ", p.File, p.Line)
	if p.Tool != "" {
		fmt.Fprintf(&b, "tool %s: ", p.Tool)
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString("; fix: ")
		b.WriteString(p.Fix)
	}
	return b.String()
}

// LoadError lists every problem of a file, in the file's order.
type LoadError struct{ Problems []Problem }

// Error has one problem on each line.
func (e *LoadError) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	lines = append(lines, fmt.Sprintf("%v: %d problem(s)", ErrLoad, len(e.Problems)))
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.Is(err, ErrLoad) true.
func (e *LoadError) Unwrap() error { return ErrLoad }

func loadError(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return &LoadError{Problems: problems}
}
