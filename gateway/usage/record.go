package usage

import (
	"time"

	"hovor/gateway/provider"
)

// Response is what one answer of the model, or one transcription, cost, and how much of it there was to hear.
type Response struct {
	provider.Usage
	CallID string
	Sent   time.Duration // audio given to the client
	Heard  time.Duration // of that, what the person heard
	At     time.Time     // of the last change
}

// Call is one call.
type Call struct {
	ID        string
	Person    string // the person's id
	Assistant string
	Provider  string
	Model     string
	AudioPath string // relay, direct
	ThreadID  string
	Reason    string // of the end
	Began     time.Time
	Lasted    time.Duration
	Turns     int
	Sums
}

// Sums are those of a call.
type Sums struct {
	Responses int // answers, also those that were cancelled, cut or lost
	Untold    int // answers and transcriptions of which the provider never told the cost
	Input     provider.Tokens
	Cached    provider.Tokens // the share of Input that came from a cache
	Output    provider.Tokens
	Total     int64
	AudioIn   time.Duration // received from the person
	AudioOut  time.Duration // given to the client
	Heard     time.Duration // of that, what the person heard
}

// Ledger gathers the records of one call. It is not safe for concurrent use.
type Ledger struct {
	call  string
	order []*Response
	byID  map[string]*Response
}

// NewLedger begins the account of a call.
func NewLedger(call string) *Ledger { return &Ledger{call: call, byID: make(map[string]*Response)} }

// maxRecords bounds an account; what is more counts in no sum, and there is no call of that kind.
const maxRecords = 20_000

func (l *Ledger) of(kind provider.UsageKind, id string) *Response {
	key := string(kind) + " " + id
	r := l.byID[key]
	if r == nil {
		r = &Response{CallID: l.call, Usage: provider.Usage{Kind: kind, ID: id}}
		if len(l.order) < maxRecords {
			l.byID[key] = r
			l.order = append(l.order, r)
		}
	}
	return r
}

// Told notes what the provider told; a later word about the same thing replaces an earlier one, but not by less.
func (l *Ledger) Told(u provider.Usage) Response {
	r := l.of(u.Kind, u.ID)
	if r.Told && !u.Told {
		return *r
	}
	r.Usage = u
	return *r
}

// Spoke notes how much of a response was given to the client, and heard. Parts of one response add up.
func (l *Ledger) Spoke(response string, sent, heard time.Duration) Response {
	r := l.of(provider.UsageResponse, response)
	r.Sent += sent
	r.Heard += heard
	return *r
}

// Running are the responses that were begun and have not ended.
func (l *Ledger) Running() []Response {
	var list []Response
	for _, r := range l.order {
		if r.Kind == provider.UsageResponse && (r.Status == "in_progress" || r.Status == "") {
			list = append(list, *r)
		}
	}
	return list
}

// Sum adds up.
func (l *Ledger) Sum() (s Sums) {
	for _, r := range l.order {
		if r.Kind == provider.UsageResponse {
			s.Responses++
		}
		if !r.Told {
			s.Untold++
		}
		s.Input, s.Cached, s.Output = plus(s.Input, r.Input), plus(s.Cached, r.Cached), plus(s.Output, r.Output)
		s.Total += r.Total
		s.AudioOut += r.Sent
		s.Heard += r.Heard
	}
	return s
}

func plus(a, b provider.Tokens) provider.Tokens {
	return provider.Tokens{Text: a.Text + b.Text, Audio: a.Audio + b.Audio, Image: a.Image + b.Image}
}
