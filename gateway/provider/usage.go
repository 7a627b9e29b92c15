package provider

import (
	"time"

	"hovor/signaling/realtime"
)

// UsageKind says what a Usage was for.
type UsageKind string

// The kinds.
const (
	UsageResponse      UsageKind = "response"      // one answer of the model, whatever became of it
	UsageTranscription UsageKind = "transcription" // the text of one item of the person
)

// Tokens is a count by kind. What a provider does not tell apart stands under Text.
type Tokens struct{ Text, Audio, Image int64 }

// Sum is all of them.
func (t Tokens) Sum() int64 { return t.Text + t.Audio + t.Image }

// Usage is what one response or one transcription cost. There is one for every response that was begun, also for those that
// were cancelled or lost with their connection; Told is false when the provider never gave a count.
type Usage struct {
	Kind   UsageKind
	ID     string // of the response; of the item for a transcription
	Model  string
	Status string // of the response: completed, cancelled, incomplete, failed

	Told     bool
	Input    Tokens // all that was read, the cached share included
	Cached   Tokens // the share of Input that came from a cache
	Output   Tokens
	Total    int64         // as told; it may hold what no kind holds, such as thoughts
	Duration time.Duration // of audio, for a transcription that is billed by time

	AudioIn  time.Duration // the person's audio sent upstream since the record before; 0 where it is not counted
	AudioOut time.Duration // audio received for the response; 0 where it is not counted
}

// UsageSink is a Sink that wants to know what a call costs. Like the rest of a Sink it does not block.
type UsageSink interface{ ProviderUsage(u Usage) }

// ReportUsage gives u to the sink if it wants it.
func ReportUsage(s Sink, u Usage) {
	if s, ok := s.(UsageSink); ok {
		s.ProviderUsage(u)
	}
}

// UsageOf reads the record from the event that carries it: response.done, or a finished transcription that tells its cost.
func UsageOf(ev realtime.Event, model string) (Usage, bool) {
	switch ev := ev.(type) {
	case *realtime.ResponseDone:
		u := Usage{Kind: UsageResponse, ID: ev.Response.ID, Model: model, Status: ev.Response.Status}
		if t := ev.Response.Usage; t != nil {
			in, cached, out := t.InputTokenDetails, t.InputTokenDetails.CachedTokensDetails, t.OutputTokenDetails
			u.Told, u.Total = true, t.TotalTokens
			u.Input = rest(Tokens{in.TextTokens, in.AudioTokens, in.ImageTokens}, t.InputTokens)
			u.Cached = rest(Tokens{cached.TextTokens, cached.AudioTokens, cached.ImageTokens}, in.CachedTokens)
			u.Output = rest(Tokens{Text: out.TextTokens, Audio: out.AudioTokens}, t.OutputTokens)
		}
		return u, true
	case *realtime.ConversationItemInputAudioTranscriptionCompleted:
		t := ev.Usage
		if t == nil {
			return Usage{}, false
		}
		u := Usage{Kind: UsageTranscription, ID: ev.ItemID, Model: model, Status: realtime.StatusCompleted, Told: true, Total: t.TotalTokens,
			Duration: time.Duration(t.Seconds * float64(time.Second))}
		if d := t.InputTokenDetails; d != nil {
			u.Input = Tokens{Text: d.TextTokens, Audio: d.AudioTokens}
		}
		u.Input = rest(u.Input, t.InputTokens)
		u.Output = Tokens{Text: t.OutputTokens}
		return u, true
	}
	return Usage{}, false
}

// rest puts what the details leave of the sum under Text.
func rest(t Tokens, sum int64) Tokens {
	if left := sum - t.Sum(); left > 0 {
		t.Text += left
	}
	return t
}
