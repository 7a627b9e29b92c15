//go:build race

package conversation

// sequences is how many random lives the property test lives: fewer under the race detector, which is ten times slower.
const sequences = 4_000
