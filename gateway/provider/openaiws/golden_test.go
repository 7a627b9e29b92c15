package openaiws_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"hovor/gateway/provider/conformance/fake"
	"hovor/gateway/provider/openaiws"
)

func TestTheTranscripts(t *testing.T) {
	files, err := filepath.Glob("../conformance/golden/openai_*.jsonl")
	if err != nil || len(files) < 3 {
		t.Fatalf("transcripts %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r, in := fake.NewReplay(t, string(text)), &fake.Sink{}
				leg, err := openaiws.New(openaiws.Config{BaseURL: "ws://provider/v1/realtime", Net: r.Net.Dial}).Dial(t.Context(), setup(manual()), in)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				wg.Go(func() { _ = leg.Run(ctx) })
				defer wg.Wait()
				defer cancel()
				r.Play(leg, in)
			})
		})
	}
}
