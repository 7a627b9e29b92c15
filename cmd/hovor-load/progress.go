package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"hovor/cmd/hovor-load/internal/person"
)

// showProgress says on w how the run goes: one living line on a terminal, else a line every ten seconds. The returned function ends it.
func showProgress(w io.Writer, b *person.Board, sessions int) (stop func()) {
	every, end := 10*time.Second, "\n"
	if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		every, end = 500*time.Millisecond, "\x1b[K\r"
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		begun := time.Now()
		for {
			select {
			case <-t.C:
				fmt.Fprintf(w, "%4.0f s  %d of %d up, %d failed, %d lost; %d turns, %d answered, %d missed%s", time.Since(begun).Seconds(),
					b.Connected.Load(), sessions, b.Failed.Load(), b.Dropped.Load(), b.Spoken.Load(), b.Answered.Load(), b.Missed.Load(), end)
			case <-done:
				if end != "\n" {
					fmt.Fprint(w, "\x1b[K")
				}
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
