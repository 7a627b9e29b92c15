// Package brain decides what a session answers.
//
// It owns the seam between a session and its brain: what the brain is told of a turn, and the steps it may answer with.
// It never waits, never speaks by itself and never runs a tool: it names one. Script plays a YAML scenario; the brain that converses is in dialogue.
package brain
