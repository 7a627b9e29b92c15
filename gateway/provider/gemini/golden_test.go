package gemini_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance/fake"
	"hovor/gateway/provider/gemini"
)

func TestTheTranscripts(t *testing.T) {
	files, err := filepath.Glob("../conformance/golden/gemini_*.jsonl")
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
				leg, err := gemini.New(gemini.Config{BaseURL: "ws://live", Model: "gemini-live", Net: r.Net.Dial}).Dial(t.Context(), provider.Setup{Session: manual(), CallID: "rtc_test"}, in)
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
