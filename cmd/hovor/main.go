package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"hovor/gateway/config"
	"hovor/gateway/telemetry"
)

// Exit codes. A script can tell a bad configuration from a gateway that failed.
const (
	exitFailed = 1   // it ran and failed, or could not start
	exitConfig = 2   // the configuration or the flags are refused
	exitAtOnce = 130 // a second signal: nothing was waited for
)

type cli struct {
	Serve    serveCmd    `cmd:"" help:"Run the gateway. Without --config: the quickstart, which needs no key and no account."`
	Check    checkCmd    `cmd:"" help:"Say everything that is wrong with a configuration file, or nothing."`
	Provider providerCmd `cmd:"" help:"Run the embedded Realtime provider alone."`
	Version  versionCmd  `cmd:"" help:"Print the version."`
}

func main() {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("hovor"),
		kong.Description("A realtime voice gateway between people's browsers and a speech-to-speech model."),
		kong.UsageOnError(),
		kong.Exit(func(code int) {
			if code != 0 {
				code = exitConfig
			}
			os.Exit(code)
		}))
	if err != nil {
		panic(err)
	}
	ctx, err := parser.Parse(os.Args[1:])
	parser.FatalIfErrorf(err)
	if err := ctx.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "hovor: "+err.Error())
		if errors.Is(err, config.ErrInvalid) {
			os.Exit(exitConfig)
		}
		os.Exit(exitFailed)
	}
}

type versionCmd struct{}

func (versionCmd) Run() error {
	fmt.Println("hovor " + telemetry.BuildVersion())
	return nil
}

type checkCmd struct {
	File            string `arg:"" optional:"" help:"The configuration file."`
	Print           bool   `help:"Print the effective configuration, defaults filled in and secrets hidden."`
	PrintQuickstart bool   `help:"Print the quickstart's own file, to start from."`
}

func (c checkCmd) Run() error {
	if c.PrintQuickstart {
		_, err := os.Stdout.Write(config.QuickstartFile())
		return err
	}
	cfg, err := load(c.File)
	if err != nil {
		return err
	}
	if !c.Print {
		fmt.Println("nothing is wrong with it")
		return nil
	}
	out, err := cfg.Print()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(out)
	return err
}

func load(file string) (*config.Config, error) {
	if file == "" {
		return config.Quickstart()
	}
	return config.Load(file)
}
