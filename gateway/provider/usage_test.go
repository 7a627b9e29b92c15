package provider_test

import (
	"testing"
	"time"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

func TestARecordTellsTokensApart(t *testing.T) {
	u, ok := provider.UsageOf(&realtime.ResponseDone{Response: realtime.Response{ID: "resp_1", Status: realtime.StatusCancelled, Usage: &realtime.Usage{
		TotalTokens: 260, InputTokens: 140, OutputTokens: 120,
		InputTokenDetails:  realtime.InputTokenDetails{TextTokens: 100, AudioTokens: 30, CachedTokens: 64, CachedTokensDetails: realtime.CachedDetails{TextTokens: 64}},
		OutputTokenDetails: realtime.OutputTokenDetails{TextTokens: 30, AudioTokens: 90}}}}, "m")
	want := provider.Usage{Kind: provider.UsageResponse, ID: "resp_1", Model: "m", Status: "cancelled", Told: true, Total: 260,
		Input: provider.Tokens{Text: 110, Audio: 30}, Cached: provider.Tokens{Text: 64}, Output: provider.Tokens{Text: 30, Audio: 90}}
	if !ok || u != want {
		t.Errorf("got  %+v\nwant %+v", u, want)
	}
}

func TestAResponseWithoutACountHasARecordToo(t *testing.T) {
	u, ok := provider.UsageOf(&realtime.ResponseDone{Response: realtime.Response{ID: "resp_1", Status: realtime.StatusFailed}}, "m")
	if !ok || u.Told || u.ID != "resp_1" {
		t.Errorf("%+v", u)
	}
}

func TestATranscriptionIsBilledByTimeOrTokens(t *testing.T) {
	u, ok := provider.UsageOf(&realtime.ConversationItemInputAudioTranscriptionCompleted{ItemID: "item_1", Usage: &realtime.TranscriptionUsage{Type: "duration", Seconds: 2.5}}, "m")
	if !ok || u.Kind != provider.UsageTranscription || u.Duration != 2500*time.Millisecond || u.ID != "item_1" {
		t.Errorf("%+v", u)
	}
	u, ok = provider.UsageOf(&realtime.ConversationItemInputAudioTranscriptionCompleted{ItemID: "item_1", Usage: &realtime.TranscriptionUsage{Type: "tokens",
		TotalTokens: 48, InputTokens: 32, OutputTokens: 16, InputTokenDetails: &realtime.TranscriptionInputUsage{TextTokens: 2, AudioTokens: 30}}}, "m")
	if !ok || u.Input != (provider.Tokens{Text: 2, Audio: 30}) || u.Output.Text != 16 || u.Total != 48 {
		t.Errorf("%+v", u)
	}
	if _, ok = provider.UsageOf(&realtime.ConversationItemInputAudioTranscriptionCompleted{ItemID: "item_1"}, "m"); ok {
		t.Error("a record without a cost")
	}
}
