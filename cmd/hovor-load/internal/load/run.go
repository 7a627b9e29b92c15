package load

import (
	"context"
	"sync"
	"time"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/cmd/hovor-load/internal/person"
)

// run is what all sessions share.
type run struct {
	Config
	board *person.Board
	room  [][]byte
	stop  chan struct{} // closed when no new turn may begin
}

// Run opens the sessions at their pace, lets all talk for the duration after the last was begun, lets running turns end, and hangs up. What
// was measured is on the board. It ends early, with the context's error, when ctx ends, and when all have had their turns.
func Run(ctx context.Context, c Config, b *person.Board) error {
	room, err := clip.Room()
	if err != nil {
		return err
	}
	r := &run{Config: c, board: b, room: room, stop: make(chan struct{})}
	ramp := time.Duration(float64(c.Sessions-1) / c.Ramp * float64(time.Second))
	start := time.Now()
	stop := time.AfterFunc(ramp+c.Duration, func() { close(r.stop) })
	defer stop.Stop()

	var wg sync.WaitGroup
	for i := range c.Sessions {
		// The schedule is absolute: a slow start of one session never delays the next.
		if !sleep(ctx, time.Until(start.Add(time.Duration(float64(i)/c.Ramp*float64(time.Second))))) {
			break
		}
		wg.Go(func() { r.session(ctx) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.Connected.Load() == 0 {
		return ErrNobodyConnected
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
