// Package call is one conversation between a person and an assistant, from the offer to the last word.
//
// It owns the call's actor: one goroutine that reads one bounded mailbox, steps the pure conversation and executes what
// it asks for. It owns the two legs, the ear's wiring, the registry of live calls and the closed set of reasons why a call
// ends. It never does media work on the actor, never waits for a disk or a socket there, and never runs a tool.
package call
