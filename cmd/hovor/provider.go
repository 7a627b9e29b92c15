package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"hovor/gateway"
	"hovor/gateway/telemetry"
)

type providerCmd struct {
	Listen    string   `help:"Address of its API." default:"127.0.0.1:8090" placeholder:"HOST:PORT"`
	MediaPort int      `help:"UDP port for audio; 0 picks a free one." default:"0" placeholder:"PORT"`
	KeyEnv    string   `help:"Environment variable that holds the API key which clients must show." default:"HOVOR_PROVIDER_KEY" placeholder:"NAME"`
	Brain     string   `help:"dialogue, or the path of a script." default:"dialogue" placeholder:"BRAIN"`
	Origins   []string `name:"origin" help:"Origin of pages that may call it directly; * for any. May be given several times." placeholder:"URL"`
}

// Run serves the embedded provider alone until a signal.
func (c providerCmd) Run() error {
	key := os.Getenv(c.KeyEnv)
	if key == "" {
		return fmt.Errorf("the environment variable %s is empty; put a key of your choice there", c.KeyEnv)
	}
	ctx, cancel := untilSignal()
	defer cancel()
	return gateway.ServeEmbedded(ctx, gateway.Embedded{
		Listen: c.Listen, MediaPort: c.MediaPort, Key: key, Brain: c.Brain, Origins: c.Origins,
		Logger:  telemetry.NewLogger(os.Stderr, slog.LevelInfo),
		Started: func(_ context.Context, url string) { fmt.Printf("embedded provider on %s/v1/realtime\n", url) },
	})
}
