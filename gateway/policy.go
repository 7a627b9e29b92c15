package gateway

import (
	"slices"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/config"
)

// policyOf is how much of an assistant its clients may change.
func policyOf(a *config.Assistant) call.Policy {
	switch {
	case a.Locked:
		return call.Locked
	case a.Policy != "":
		return call.Policy(a.Policy)
	}
	return call.Merge
}

// narrow gives what both lists hold; nil is everything.
func narrow(all, some []string) []string {
	switch {
	case some == nil:
		return all
	case all == nil:
		return some
	}
	out := []string{}
	for _, s := range some {
		if slices.Contains(all, s) {
			out = append(out, s)
		}
	}
	return out
}

// shorter is the shorter of two bounds; zero is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// nilIfEmpty makes a list that a file leaves out the list of everything.
func nilIfEmpty(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}
