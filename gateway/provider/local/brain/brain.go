package brain

import (
	"encoding/json"
	"time"
)

// Brain makes one Mind per session.
type Brain interface {
	Mind() Mind
}

// Mind answers the turns of one session, one at a time. It holds the session's memory and may be told things out of order.
type Mind interface {
	// Respond plans the answer to a turn. It returns at once; the session carries the steps out in order.
	Respond(t Turn) []Step
}

// Turn is what a Mind knows when it is asked to answer.
type Turn struct {
	Instructions string   // of the session or of this response
	Language     string   // language to answer in: "en", "cs", "de", "ru"
	Tools        []string // names of the functions the session has
	Input        Input    // the newest thing that was said, typed or returned by a tool
}

// Has reports whether the session has the function.
func (t Turn) Has(name string) bool {
	for _, n := range t.Tools {
		if n == name {
			return true
		}
	}
	return false
}

// Input is what a turn answers to.
type Input struct {
	Kind    InputKind
	Text    string   // what was typed or recognized; "" when speech was not understood
	Silent  bool     // with InputSpoken: the committed audio held no speech
	Outputs []Output // with InputOutputs: in the order they came
}

// InputKind says where an input comes from.
type InputKind int

// Kinds of input.
const (
	InputNone    InputKind = iota // response.create with nothing new in the conversation
	InputTyped                    // a user message with text
	InputSpoken                   // a committed audio buffer
	InputOutputs                  // one or more function_call_output
)

// Output is a tool's result as the client gave it back.
type Output struct {
	Name      string          // of the function that was called
	Arguments json.RawMessage // it was called with
	Output    string          // verbatim
}

// Step is one thing a session does: Say, Call, Wait or Fault.
type Step interface{ step() }

// Say speaks (or, in a text session, writes) a text.
type Say struct {
	Text     string
	Language string // "" = the turn's
}

// Call calls a function of the client.
type Call struct {
	Name      string
	Arguments json.RawMessage // a JSON object
}

// Wait does nothing for a while.
type Wait struct{ For time.Duration }

func (Say) step()   {}
func (Call) step()  {}
func (Wait) step()  {}
func (Fault) step() {}
