package socket

import (
	"context"
	"math/rand/v2"
	"time"

	"hovor/gateway/provider"
)

// Backoff is how an opening that was refused for a moment is tried again.
type Backoff struct {
	Tries int           // at most; 0 = 3
	First time.Duration // before the second try; doubled each time, and varied by a quarter; 0 = 250 ms
}

// Retry calls try until it succeeds, until its error is one that will not pass by itself, or until there is no time left
// before ctx ends for the wait that is due; a provider's Retry-After is kept. It gives the last error.
func Retry(ctx context.Context, b Backoff, try func(ctx context.Context) error) error {
	if b.Tries == 0 {
		b.Tries = 3
	}
	if b.First == 0 {
		b.First = 250 * time.Millisecond
	}
	wait := b.First
	for n := 1; ; n++ {
		err := try(ctx)
		e := provider.AsError(err)
		if err == nil || n == b.Tries || !passing(e) || ctx.Err() != nil {
			return err
		}
		due := wait + time.Duration((rand.Float64()-0.5)/2*float64(wait)) // spreads load, guards nothing
		due = max(due, e.RetryAfter)
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= due {
			return err
		}
		timer := time.NewTimer(due)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		wait *= 2
	}
}

// passing tells whether a failure may be gone at the next try.
func passing(e *provider.Error) bool {
	switch e.Class {
	case provider.Unreachable, provider.Overloaded, provider.Lost, provider.Timeout:
		return true
	case provider.RateLimited:
		return e.Code != "insufficient_quota" // that is a bill, not a moment
	default:
		return false
	}
}
