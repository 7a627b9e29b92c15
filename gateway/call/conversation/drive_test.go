package conversation

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"hovor/signaling/realtime"
	"hovor/vad/turn"
)

// drive is a conversation under test with a clock of its own. Cuts are answered as the call answers them.
type drive struct {
	t     *testing.T
	s     State
	at    time.Duration
	media Media
	heard time.Duration // what a cut finds heard
	all   []Effect      // since the last take
}

func newDrive(t *testing.T, change func(*Config)) *drive {
	t.Helper()
	cfg := Config{CallID: "rtc_test", PersonID: "alice", Ear: true, Seed: "seed", SessionID: "sess_test", Epoch: time.Unix(0, 0),
		Assistant: Assistant{Name: "demo", Instructions: "be kind", Tools: []realtime.Tool{{Type: "function", Name: "open_document", Description: "ours"}},
			Session: realtime.Session{Audio: &realtime.Audio{Input: &realtime.AudioInput{
				TurnDetection: realtime.Some(realtime.TurnDetection{Type: realtime.ServerVAD})}}}}}
	if change != nil {
		change(&cfg)
	}
	d := &drive{t: t}
	d.s, d.all = Start(cfg)
	return d
}

// ready is a drive whose client and provider are there.
func ready(t *testing.T, change func(*Config)) *drive {
	d := newDrive(t, change)
	d.do(ChannelOpened{})
	d.do(ProviderReady{})
	d.take()
	return d
}

func (d *drive) do(what Happening) {
	next := []Happening{what}
	for len(next) > 0 {
		var out []Effect
		d.s, out = Step(d.s, Input{At: d.at, Media: d.media, What: next[0]})
		next = next[1:]
		d.all = append(d.all, out...)
		for _, e := range out {
			if _, cut := e.(Cut); cut {
				next = append([]Happening{WasCut{Heard{ItemID: d.s.play.item, Epoch: d.s.epoch, Sent: d.heard + 80*time.Millisecond, Heard: d.heard}}}, next...)
			}
		}
	}
}

func (d *drive) wait(dt time.Duration) {
	end := d.at + dt
	for {
		due, ok := d.s.Deadline()
		if !ok || due > end {
			break
		}
		d.at = max(due, d.at)
		d.do(Tick{})
	}
	d.at = end
}

func (d *drive) client(ev realtime.Event) { d.do(ClientEvent{Event: ev}) }

func (d *drive) provider(ev realtime.Event) {
	raw, err := realtime.Encode(ev)
	if err != nil {
		d.t.Fatalf("encode %s: %v", ev.EventType(), err)
	}
	d.do(ProviderEvent{Event: ev, Raw: raw})
}

func (d *drive) ear(kind turn.Kind, overlap bool) {
	d.do(EarEvent{Event: turn.Event{Kind: kind, Overlap: overlap, Start: d.at - 200*time.Millisecond, End: d.at - 100*time.Millisecond},
		Onset: d.at - 200*time.Millisecond, SpeechEnd: d.at - 100*time.Millisecond})
}

// speak is a whole spoken turn up to its commit.
func (d *drive) speak() {
	d.at += 300 * time.Millisecond
	d.media.Received += 300 * time.Millisecond
	d.ear(turn.SpeechStarted, false)
	d.at += time.Second
	d.media.Received += time.Second
	d.ear(turn.SpeechStopped, false)
	d.ear(turn.EndOfTurn, false)
}

// answer lets the provider begin a spoken answer.
func (d *drive) answer(resp, item string) {
	d.provider(&realtime.ResponseCreated{Response: realtime.Response{ID: resp, Status: "in_progress"}})
	d.provider(&realtime.ResponseOutputItemAdded{ResponseID: resp, Item: realtime.Item{ID: item, Type: "message", Role: "assistant", Status: "in_progress"}})
	d.provider(&realtime.ResponseContentPartAdded{ResponseID: resp, ItemID: item, Part: realtime.Part{Type: "audio"}})
	d.provider(&realtime.OutputAudioBufferStarted{ResponseID: resp})
	d.provider(&realtime.ResponseOutputAudioTranscriptDelta{ResponseID: resp, ItemID: item, Delta: "One two three four five six seven eight nine ten eleven twelve."})
	d.do(FirstAudio{Epoch: d.s.epoch, Came: d.at, Sent: d.at})
	d.media.ProviderPacket = d.at
}

func (d *drive) done(resp, status string) {
	d.provider(&realtime.ResponseDone{Response: realtime.Response{ID: resp, Status: status}})
}

// take gives what was told to both sides since the last take, as "c:type" and "p:type", effects as their own names.
func (d *drive) take() []string {
	var out []string
	for _, e := range d.all {
		switch e := e.(type) {
		case ToClient:
			out = append(out, "c:"+e.Event.EventType())
		case ToClientRaw:
			out = append(out, "c:"+e.Type)
		case ToProvider:
			out = append(out, "p:"+e.Event.EventType())
		case Cut:
			out = append(out, "cut")
		case Flush:
			out = append(out, "flush")
		case Close:
			out = append(out, "close:"+string(e.Reason))
		}
	}
	d.all = nil
	return out
}

// want checks that the given things happened since the last take, in this order, others between them allowed.
func (d *drive) want(what ...string) {
	d.t.Helper()
	got := d.take()
	rest := got
	for _, w := range what {
		i := slices.Index(rest, w)
		if i < 0 {
			d.t.Fatalf("missing %q (in order) in\n  %s", w, strings.Join(got, "\n  "))
		}
		rest = rest[i+1:]
	}
}

// never checks that nothing of the kind happened since the last take; it does not take.
func (d *drive) never(what ...string) {
	d.t.Helper()
	kept := d.all
	got := d.take()
	d.all = kept
	for _, w := range what {
		if slices.Contains(got, w) {
			d.t.Fatalf("unexpected %q in\n  %s", w, strings.Join(got, "\n  "))
		}
	}
}

// toClient finds the last event of type T that was told to the client since the last take.
func toClient[T realtime.Event](d *drive) T {
	d.t.Helper()
	for i := len(d.all) - 1; i >= 0; i-- {
		switch e := d.all[i].(type) {
		case ToClient:
			if ev, ok := e.Event.(T); ok {
				return ev
			}
		case ToClientRaw:
			if ev, err := realtime.Decode(realtime.FromServer, e.Raw); err == nil {
				if ev, ok := ev.(T); ok {
					return ev
				}
			}
		}
	}
	var none T
	d.t.Fatalf("the client was not told of a %T", none)
	return none
}

func toProvider[T realtime.Event](d *drive) T {
	d.t.Helper()
	for i := len(d.all) - 1; i >= 0; i-- {
		if e, ok := d.all[i].(ToProvider); ok {
			if ev, ok := e.Event.(T); ok {
				return ev
			}
		}
	}
	var none T
	d.t.Fatalf("the provider was not sent a %T", none)
	return none
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
