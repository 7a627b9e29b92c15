package person

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hovor/cmd/hovor-load/internal/measure"
)

// Board is where all people of a run put their figures. The zero value is ready. All of it may be used by any number of people at once.
type Board struct {
	// Setup, in milliseconds, once per session.
	Mint      measure.Series // client secret asked for → given
	Signaling measure.Series // offer sent → answer received
	ICE       measure.Series // answer applied → ICE connected
	DTLS      measure.Series // answer applied → DTLS done
	Channel   measure.Series // answer applied → event channel open
	FirstRTP  measure.Series // answer applied → first packet received; a gateway that sends nothing in silence makes this the first answer
	Setup     measure.Series // begin of the dial, secret excluded → connected and event channel open

	// Turns, in milliseconds.
	Answer          measure.Series // end of speech → first audible sample of the answer
	AnswerInterrupt measure.Series // the same for the speech that interrupted
	LeadSilence     measure.Series // first packet of the answer → first audible sample, where the answer is a packet stream of its own
	Committed       measure.Series // end of speech → input_audio_buffer.committed received
	Yield           measure.Series // onset of the interrupting speech → last audible sample of the assistant

	// Line.
	Jitter      measure.Series // per session, RFC 3550, milliseconds
	Loss        measure.Series // per session, lost / expected
	RTT         measure.Series // per session, milliseconds
	Lateness    measure.Hist   // the tester's own packets against their schedule
	ArrivalLate measure.Hist   // packets received, against the line's clock

	Sent, Received, Lost, Late, Duplicate, Undecodable, Stalls atomic.Uint64

	Connected, Failed, Dropped                              atomic.Int64 // sessions: up; never up; lost before their end
	Spoken, Answered, Missed, Early                         atomic.Int64 // turns
	Interruptions, Yielded, NotYielded, Silent, EndedItself atomic.Int64

	mu     sync.Mutex
	errors map[string]int
}

// Error counts one failure by its text. Texts are bounded; whatever comes after is "other".
func (b *Board) Error(text string) {
	const most = 32
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.errors == nil {
		b.errors = map[string]int{}
	}
	if _, known := b.errors[text]; !known && len(b.errors) >= most {
		text = "other"
	}
	b.errors[text]++
}

// ErrorCount is one kind of failure.
type ErrorCount struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Errors are all failures, most frequent first.
func (b *Board) Errors() []ErrorCount {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []ErrorCount{}
	for t, n := range b.errors {
		out = append(out, ErrorCount{t, n})
	}
	slices.SortFunc(out, func(x, y ErrorCount) int {
		if x.Count != y.Count {
			return y.Count - x.Count
		}
		if x.Text < y.Text {
			return -1
		}
		return 1
	})
	return out
}

// HangUp adds what one ear heard over its whole call, and the line's round trip; 0 is unknown.
func (b *Board) HangUp(s EarStats, rtt time.Duration) {
	if rtt > 0 {
		b.RTT.AddDuration(rtt)
	}
	b.Received.Add(s.Received)
	b.Lost.Add(s.Lost)
	b.Late.Add(s.Late)
	b.Duplicate.Add(s.Duplicate)
	b.Undecodable.Add(s.Undecodable)
	b.Stalls.Add(s.Stalls)
	if n := s.Received + s.Lost; n > 0 {
		b.Loss.Add(float64(s.Lost) / float64(n))
		b.Jitter.AddDuration(s.Jitter)
	}
}

// Metric is one figure of a run as the table, the file and the thresholds know it.
type Metric struct {
	Name, Help string
	Dist       measure.Distribution // nil for a plain number
	Value      float64
}

// Figures lists every metric by name, in the order of the report.
func (b *Board) Figures() []Metric {
	n := func(v int64) float64 { return float64(v) }
	u := func(v uint64) float64 { return float64(v) }
	return []Metric{
		{Name: "mint_ms", Help: "client secret", Dist: &b.Mint},
		{Name: "signaling_ms", Help: "offer → answer", Dist: &b.Signaling},
		{Name: "ice_ms", Help: "answer → ICE connected", Dist: &b.ICE},
		{Name: "dtls_ms", Help: "answer → DTLS done", Dist: &b.DTLS},
		{Name: "channel_ms", Help: "answer → event channel open", Dist: &b.Channel},
		{Name: "first_rtp_ms", Help: "answer → first packet back", Dist: &b.FirstRTP},
		{Name: "setup_ms", Help: "dial → connected, channel open", Dist: &b.Setup},
		{Name: "answer_ms", Help: "end of speech → audible answer", Dist: &b.Answer},
		{Name: "committed_ms", Help: "end of speech → committed", Dist: &b.Committed},
		{Name: "lead_silence_ms", Help: "answer's leading silence", Dist: &b.LeadSilence},
		{Name: "yield_ms", Help: "interruption → last audible", Dist: &b.Yield},
		{Name: "answer_interrupt_ms", Help: "interrupting speech → answer", Dist: &b.AnswerInterrupt},
		{Name: "jitter_ms", Help: "interarrival jitter", Dist: &b.Jitter},
		{Name: "arrival_late_ms", Help: "packet against the line's clock", Dist: &b.ArrivalLate},
		{Name: "loss_ratio", Help: "packets lost per session", Dist: &b.Loss},
		{Name: "rtt_ms", Help: "round trip (RTCP)", Dist: &b.RTT},
		{Name: "send_lateness_ms", Help: "the tester's own packets", Dist: &b.Lateness},
		{Name: "sessions_connected", Value: n(b.Connected.Load())},
		{Name: "sessions_failed", Value: n(b.Failed.Load())},
		{Name: "sessions_dropped", Value: n(b.Dropped.Load())},
		{Name: "turns", Value: n(b.Spoken.Load())},
		{Name: "answered_turns", Value: n(b.Answered.Load())},
		{Name: "missed_turns", Value: n(b.Missed.Load())},
		{Name: "early_answers", Value: n(b.Early.Load())},
		{Name: "interruptions", Value: n(b.Interruptions.Load())},
		{Name: "yielded", Value: n(b.Yielded.Load())},
		{Name: "not_yielded", Value: n(b.NotYielded.Load())},
		{Name: "silent_at_onset", Value: n(b.Silent.Load())},
		{Name: "ended_by_itself", Value: n(b.EndedItself.Load())},
		{Name: "packets_sent", Value: u(b.Sent.Load())},
		{Name: "packets_received", Value: u(b.Received.Load())},
		{Name: "packets_lost", Value: u(b.Lost.Load())},
		{Name: "packets_late", Value: u(b.Late.Load())},
		{Name: "packets_duplicate", Value: u(b.Duplicate.Load())},
		{Name: "packets_undecodable", Value: u(b.Undecodable.Load())},
		{Name: "stalls", Value: u(b.Stalls.Load())},
	}
}
