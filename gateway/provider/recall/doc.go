// Package recall is what a leg remembers of its conversation, so that a new connection can be told what the old one knew.
//
// It owns the items in their order, in the form in which any provider takes them again: words, calls and their outputs. It
// never keeps audio, and it is gone with the leg: the thread is kept elsewhere.
package recall
