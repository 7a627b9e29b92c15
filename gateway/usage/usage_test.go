package usage

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"hovor/gateway/provider"
)

func TestALedgerHoldsEveryResponseOnce(t *testing.T) {
	l := NewLedger("rtc_1")
	l.Told(provider.Usage{Kind: provider.UsageResponse, ID: "r1", Status: "cancelled"})
	l.Spoke("r1", 3*time.Second, 2*time.Second)
	l.Told(provider.Usage{Kind: provider.UsageResponse, ID: "r1", Status: "cancelled", Told: true, Total: 30, Input: provider.Tokens{Text: 10, Audio: 5}, Output: provider.Tokens{Audio: 15}})
	l.Told(provider.Usage{Kind: provider.UsageResponse, ID: "r1", Status: "cancelled"}) // again, without a count
	l.Told(provider.Usage{Kind: provider.UsageResponse, ID: "r2", Status: "failed"})
	l.Told(provider.Usage{Kind: provider.UsageTranscription, ID: "r1", Told: true, Total: 4, Input: provider.Tokens{Audio: 3}, Output: provider.Tokens{Text: 1}})
	want := Sums{Responses: 2, Untold: 1, Input: provider.Tokens{Text: 10, Audio: 8}, Output: provider.Tokens{Text: 1, Audio: 15}, Total: 34,
		AudioOut: 3 * time.Second, Heard: 2 * time.Second}
	if got := l.Sum(); got != want {
		t.Errorf("sum %+v\nwant %+v", got, want)
	}
}

func TestRecordsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hovor.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); _ = s.Run(ctx) }()
	call := Call{ID: "rtc_1", Person: "alice", Assistant: "demo", Provider: "local", Model: "m", AudioPath: "relay", ThreadID: "thread_1", Reason: "hangup",
		Began: time.UnixMilli(1000), Lasted: 90 * time.Second, Turns: 3, Sums: Sums{Responses: 2, Untold: 1, Input: provider.Tokens{Text: 1, Audio: 2, Image: 3},
			Cached: provider.Tokens{Text: 4, Audio: 5, Image: 6}, Output: provider.Tokens{Text: 7, Audio: 8}, Total: 9, AudioIn: 10 * time.Second, AudioOut: 11 * time.Second, Heard: 12 * time.Second}}
	resp := Response{CallID: "rtc_1", Usage: provider.Usage{Kind: provider.UsageResponse, ID: "r1", Model: "m", Status: "cancelled", Told: true,
		Input: provider.Tokens{Text: 1, Audio: 2, Image: 3}, Cached: provider.Tokens{Text: 4, Audio: 5, Image: 6}, Output: provider.Tokens{Text: 7, Audio: 8}, Total: 9,
		Duration: time.Second, AudioIn: 2 * time.Second, AudioOut: 3 * time.Second}, Sent: 4 * time.Second, Heard: 5 * time.Second, At: time.UnixMilli(2000)}
	early := resp
	early.Status = "in_progress"
	for _, err := range []error{s.PutResponse(early), s.PutResponse(resp), s.PutCall(call), s.Flush(context.Background())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	<-over
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, ok, list, err := s.Of(context.Background(), "rtc_1")
	if err != nil || !ok || got != call || len(list) != 1 || !reflect.DeepEqual(list[0], resp) {
		t.Errorf("%v %v\n%+v\n%+v", err, ok, got, list)
	}
	if _, ok, list, err := s.Of(context.Background(), "rtc_2"); ok || len(list) != 0 || err != nil {
		t.Error("a call that never was")
	}
}

func TestASlowDiskLosesRecordsAndCountsThem(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "hovor.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for s.PutCall(Call{}) == nil {
		n++
	}
	if n != queueLen || s.Lost() != 1 {
		t.Errorf("%d records taken, %d lost", n, s.Lost())
	}
}
