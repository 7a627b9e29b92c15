package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that the first SIGINT or SIGTERM ends; the second ends the process at once.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-got
		fmt.Fprintln(os.Stderr, "\nhovor: ending: calls that are open may finish within limits.drain; once more ends at once")
		cancel()
		<-got
		os.Exit(exitAtOnce)
	}()
	return ctx, cancel
}
