//go:build race

package devset

// Race says that the race detector is on, under which code that only computes is ten times slower.
const Race = true
