// Package conversation is a call as a pure function: a state and an input give a state and the effects to carry out.
//
// It owns whose turn it is, what is asked of the provider and when, what the client is told, which events pass the gate,
// what was heard, and the order of the thread. It reads no clock (inputs carry their time), starts nothing, locks nothing and
// keeps no reference to what it was given. The same inputs always give the same effects.
package conversation
