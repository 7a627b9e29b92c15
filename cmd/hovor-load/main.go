package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"hovor/cmd/hovor-load/internal/report"
	"hovor/gateway/telemetry"
)

const description = `Speak to a Hovor gateway (or any server of the Realtime protocol over WebRTC) as many people at once, and say what they would have felt.

Exit codes: 0 all is well; 1 the run failed; 2 bad usage; 98 the tester itself was the bottleneck, so the result is not to be trusted; 99 a threshold is broken.`

type cli struct {
	Run       runCmd       `cmd:"" help:"Open sessions, speak, measure, print a table."`
	Bench     benchCmd     `cmd:"" help:"Compare the gateway with a bare two-legged Pion relay, in one run."`
	BareRelay bareRelayCmd `cmd:"" hidden:"" help:"The bare relay that bench compares with."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

type versionCmd struct{}

func (versionCmd) Run(std stdio) error {
	_, err := fmt.Fprintln(std.out, "hovor-load "+telemetry.BuildVersion())
	return err
}

// stdio is where a command writes: results and progress.
type stdio struct{ out, err io.Writer }

// errUsage marks what the person at the command line can put right.
var errUsage = errors.New("bad usage")

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errUsage, fmt.Errorf(format, args...))
}

// exitError carries the exit code of a run that ended as it should, with a bad result that has been printed already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends at once
	}()
	os.Exit(run(ctx, os.Args[1:], stdio{os.Stdout, os.Stderr}))
}

// run is main without the process: it gives the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	var c cli
	left := -1 // set when kong wants to leave, after --help
	parser, err := kong.New(&c, kong.Name("hovor-load"), kong.Description(description), kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { left = code }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(std), kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		fmt.Fprintln(std.err, "hovor-load: "+err.Error())
		return report.ExitRuntime
	}
	k, err := parser.Parse(args)
	if left >= 0 {
		return left
	}
	if err != nil {
		fmt.Fprintf(std.err, "hovor-load: %v\n(hovor-load --help)\n", err)
		return report.ExitUsage
	}
	return exitCode(k.Run(), std)
}

func exitCode(err error, std stdio) int {
	var code exitError
	switch {
	case err == nil:
		return report.ExitOK
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errUsage):
		fmt.Fprintln(std.err, "hovor-load: "+err.Error())
		return report.ExitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(std.err, "hovor-load: interrupted")
		return report.ExitRuntime
	}
	fmt.Fprintln(std.err, "hovor-load: "+err.Error())
	return report.ExitRuntime
}
