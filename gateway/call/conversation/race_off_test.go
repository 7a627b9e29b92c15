//go:build !race

package conversation

// sequences is how many random lives the property test lives.
const sequences = 100_000
