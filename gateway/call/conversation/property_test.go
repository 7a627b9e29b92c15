package conversation

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"hovor/signaling/realtime"
	"hovor/vad/turn"
)

// life is one random conversation: a client, an ear and a provider that do anything at any time, the provider also things
// that it should not do.
type life struct {
	rng   *rand.Rand
	s     State
	at    time.Duration
	media Media
	log   []string
	tell  bool // keep a log
	steps int

	creates  []string // sent and not begun, by event id
	begun    []string // begun and not done, by response id
	sounding []string // done or not, not stopped
	commits  int
	clears   int
	resp     int

	renewing bool // a second leg was asked for

	open        map[string]bool // client creates without a fate, by event id
	outstanding int             // creates sent, not ended as far as the conversation can know
	speech      bool            // since the last commit of ours
	audible     bool
}

var raw = []byte(`{"response":{}}`)

func (l *life) step(what Happening) error {
	next := []Happening{what}
	for len(next) > 0 {
		if l.steps++; l.tell {
			l.log = append(l.log, fmt.Sprintf("%v %T%s", l.at, next[0], brief(next[0])))
		}
		var out []Effect
		before := l.s
		l.s, out = Step(before, Input{At: l.at, Media: l.media, What: next[0]})
		next = next[1:]
		for _, e := range out {
			if _, cut := e.(Cut); cut {
				next = append([]Happening{WasCut{Heard{ItemID: l.s.play.item, Sent: time.Second, Heard: time.Duration(l.rng.IntN(1000)) * time.Millisecond}}}, next...)
			}
			if _, renew := e.(Renew); renew {
				l.renewing = true
			}
			if err := l.judge(e, before); err != nil {
				return err
			}
		}
	}
	return nil
}

func brief(h Happening) string {
	switch h := h.(type) {
	case ProviderEvent:
		return " " + h.Event.EventType() + " " + responseOf(h.Event)
	case ClientEvent:
		return " " + h.Event.EventType() + " " + EventID(h.Event)
	case EarEvent:
		return " " + h.Event.Kind.String()
	}
	return ""
}

// judge holds an effect against what must never happen.
func (l *life) judge(e Effect, before State) error {
	switch e := e.(type) {
	case ToProvider:
		switch ev := e.Event.(type) {
		case *realtime.ResponseCreate:
			l.outstanding++
			if l.outstanding > 1 {
				return fmt.Errorf("two responses at once")
			}
			l.creates = append(l.creates, ev.EventID)
			delete(l.open, ev.EventID)
		case *realtime.InputAudioBufferCommit:
			if strings.HasPrefix(ev.EventID, ours) { // the client may commit what it likes
				if !l.speech {
					return fmt.Errorf("a commit without speech")
				}
				l.speech = false
			}
			l.commits++
		case *realtime.InputAudioBufferClear:
			l.clears++
		}
	case ToClient:
		switch ev := e.Event.(type) {
		case *realtime.ErrorEvent:
			delete(l.open, ev.Error.EventID)
			if ev.Error.Code == realtime.CodeTimeout {
				l.outstanding--
			}
		case *realtime.ResponseDone: // the conversation gave up on it
			l.outstanding--
		}
	case Swap:
		if e.Take && !l.s.quiet() {
			return fmt.Errorf("the leg was changed in the middle of something")
		}
	case AssistantAudible:
		if e.On == l.audible {
			return fmt.Errorf("audible twice: %v", e.On)
		}
		l.audible = e.On
	}
	return nil
}

func (l *life) providerSays(ev realtime.Event) error {
	switch ev := ev.(type) {
	case *realtime.ResponseDone:
		if l.s.gen.stage == running && l.s.gen.id == ev.Response.ID {
			l.outstanding--
		}
	case *realtime.ErrorEvent:
		if l.s.gen.stage == requested && l.s.gen.eventID == ev.Error.EventID {
			l.outstanding--
		}
		delete(l.open, ev.Error.EventID)
	}
	return l.step(ProviderEvent{Event: ev, Raw: raw})
}

func pick(rng *rand.Rand, list []string) (string, int) {
	if len(list) == 0 || rng.IntN(12) == 0 {
		return "stranger", -1
	}
	i := rng.IntN(len(list))
	return list[i], i
}

func cutAt(list []string, i int) []string {
	if i < 0 {
		return list
	}
	return append(append([]string(nil), list[:i]...), list[i+1:]...)
}

// provider does one random thing.
func (l *life) provider() error {
	switch l.rng.IntN(10) {
	case 0, 1, 2:
		if len(l.creates) == 0 {
			return nil
		}
		id := l.creates[0]
		l.creates = l.creates[1:]
		if l.rng.IntN(6) == 0 {
			return l.providerSays(&realtime.ErrorEvent{Error: &realtime.Error{Code: "nope", EventID: id}})
		}
		l.resp++
		r := fmt.Sprintf("resp_%d", l.resp)
		l.begun, l.sounding = append(l.begun, r), append(l.sounding, r)
		return l.providerSays(&realtime.ResponseCreated{Response: realtime.Response{ID: r}})
	case 3:
		r, _ := pick(l.rng, l.begun)
		return l.providerSays(&realtime.ResponseContentPartAdded{ResponseID: r, ItemID: "item_" + r, Part: realtime.Part{Type: "audio"}})
	case 4:
		r, _ := pick(l.rng, l.sounding)
		return l.providerSays(&realtime.OutputAudioBufferStarted{ResponseID: r})
	case 5:
		r, i := pick(l.rng, l.begun)
		l.begun = cutAt(l.begun, i)
		return l.providerSays(&realtime.ResponseDone{Response: realtime.Response{ID: r, Status: []string{"completed", "cancelled", "failed", "incomplete"}[l.rng.IntN(4)]}})
	case 6:
		r, i := pick(l.rng, l.sounding)
		l.sounding = cutAt(l.sounding, i)
		if l.rng.IntN(2) == 0 {
			return l.providerSays(&realtime.OutputAudioBufferCleared{ResponseID: r})
		}
		return l.providerSays(&realtime.OutputAudioBufferStopped{ResponseID: r})
	case 7:
		if l.commits > 0 || l.rng.IntN(20) == 0 {
			l.commits--
			return l.providerSays(&realtime.InputAudioBufferCommitted{ItemID: fmt.Sprintf("u%d", l.at)})
		}
		return l.providerSays(&realtime.InputAudioBufferCleared{})
	case 8:
		r, _ := pick(l.rng, l.begun)
		return l.providerSays(&realtime.ResponseOutputItemDone{ResponseID: r, Item: realtime.Item{Type: "function_call", Status: "completed", CallID: fmt.Sprintf("call_%d", l.rng.IntN(5))}})
	default:
		return l.step(FirstAudio{Epoch: l.s.epoch, Came: l.at, Sent: l.at})
	}
}

// client does one random thing.
func (l *life) client() error {
	id := "c" + strconv.Itoa(l.steps)
	var ev realtime.Event
	switch l.rng.IntN(10) {
	case 9:
		ev = &realtime.ConversationItemTruncate{EventID: id, ItemID: fmt.Sprintf("item_resp_%d", l.resp), AudioEndMS: l.rng.IntN(2000)}
	case 0, 1:
		l.open[id] = true
		ev = &realtime.ResponseCreate{EventID: id}
	case 2:
		ev = &realtime.ResponseCancel{EventID: id}
	case 3:
		ev = &realtime.OutputAudioBufferClear{EventID: id}
	case 4:
		ev = &realtime.InputAudioBufferClear{EventID: id}
	case 5:
		ev = &realtime.InputAudioBufferCommit{EventID: id}
	case 6:
		ev = &realtime.ConversationItemCreate{EventID: id, Item: realtime.UserText("hi")}
	case 7:
		ev = &realtime.ConversationItemCreate{EventID: id, Item: realtime.FunctionCallOutput(fmt.Sprintf("call_%d", l.rng.IntN(5)), "{}")}
	default:
		td := realtime.Null[realtime.TurnDetection]()
		if l.rng.IntN(2) == 0 {
			off := l.rng.IntN(3) > 0
			td = realtime.Some(realtime.TurnDetection{Type: realtime.ServerVAD, CreateResponse: &off, InterruptResponse: &off})
		}
		ev = &realtime.SessionUpdate{EventID: id, Session: realtime.Session{Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: td}}}}
	}
	return l.step(ClientEvent{Event: ev})
}

func (l *life) ear(kind turn.Kind) error {
	if kind == turn.SpeechStarted || kind == turn.Yield {
		l.speech = true
	}
	return l.step(EarEvent{Event: turn.Event{Kind: kind, Overlap: l.rng.IntN(3) == 0}, Onset: max(0, l.at-time.Second), SpeechEnd: l.at})
}

// rest lets time pass until nothing is due but the hygiene of the input buffer.
func (l *life) rest(until time.Duration) error {
	for range 500 {
		due, ok := l.s.Deadline()
		if !ok || due > until {
			l.at = until
			return nil
		}
		l.at = max(due, l.at)
		if err := l.step(Tick{}); err != nil {
			return err
		}
	}
	return fmt.Errorf("time stands still: something is due for ever")
}

// lives is one random conversation and its end.
func lives(seed uint64, tell bool) (log []string, err error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	l := &life{rng: rng, open: map[string]bool{}, tell: tell}
	defer func() { log = l.log }()
	td := realtime.Some(realtime.TurnDetection{Type: realtime.ServerVAD})
	limits := Limits{Idle: -1, Duration: -1, Setup: -1, BufferClear: time.Hour}
	if seed%5 == 0 {
		limits.Session = 20 * time.Second
	}
	l.s, _ = Start(Config{Ear: true, Socket: seed%2 == 1, Seed: "s", Limits: limits,
		Assistant: Assistant{Session: realtime.Session{Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: td}}}}})
	steps := 10 + rng.IntN(40)
	for range steps {
		dt := time.Duration(rng.IntN(400)) * time.Millisecond
		if rng.IntN(25) == 0 {
			dt = time.Duration(rng.IntN(20)) * time.Second
		}
		if err = l.rest(l.at + dt); err != nil {
			return
		}
		l.media.Received += dt
		l.media.ProviderPacket = l.at
		if l.renewing && rng.IntN(4) == 0 {
			if err = l.renewal(); err != nil {
				return
			}
		}
		switch rng.IntN(12) {
		case 0:
			err = l.step(ChannelOpened{})
		case 1:
			err = l.step(ProviderReady{})
		case 2, 3, 4, 5:
			err = l.provider()
		case 6, 7, 8:
			err = l.client()
		case 9:
			err = l.step(Flushed{Barrier: l.s.barrier.n})
		default:
			err = l.ear(turn.Kind(1 + rng.IntN(6)))
		}
		if err != nil {
			return
		}
	}
	return l.log, l.settle()
}

// renewal brings the second leg, or not.
func (l *life) renewal() error {
	l.renewing = false
	if l.rng.IntN(3) == 0 {
		return l.step(RenewFailed{})
	}
	return l.step(RenewReady{})
}

// settle lets both sides be there and silent; everything must come to rest.
func (l *life) settle() error {
	if err := l.step(ChannelOpened{}); err != nil {
		return err
	}
	if err := l.step(ProviderReady{}); err != nil {
		return err
	}
	for range 8 {
		if err := l.rest(l.at + 2*time.Minute); err != nil {
			return err
		}
		if l.renewing {
			if err := l.renewal(); err != nil {
				return err
			}
		}
		if err := l.ear(turn.Dismissed); err != nil {
			return err
		}
	}
	s := &l.s
	switch {
	case s.gen.stage != idle, s.queued.waiting, s.play.live, len(s.later) > 0, s.barrier.n != 0, s.floor != free, s.cut.under, len(s.calls) > 0:
		return fmt.Errorf("stuck: gen %+v queued %+v play %+v later %d floor %d calls %d", s.gen, s.queued.waiting, s.play, len(s.later), s.floor, len(s.calls))
	case len(s.behind) > 0:
		return fmt.Errorf("%s was never told", s.behind[0].what)
	case s.unheard() >= 0:
		return fmt.Errorf("nobody said what was heard of %s", s.played[s.unheard()].item)
	case l.audible:
		return fmt.Errorf("the ear still believes that the assistant speaks")
	case len(l.open) > 0:
		return fmt.Errorf("a client's response.create was neither sent nor refused: %v", l.open)
	case s.Snapshot().Phase != "listening":
		return fmt.Errorf("at rest the phase is %q", s.Snapshot().Phase)
	}
	return nil
}

func TestWhateverHappensInWhateverOrder(t *testing.T) {
	n := sequences
	if testing.Short() {
		n /= 10
	}
	for seed := range uint64(n) {
		if _, err := lives(seed, false); err != nil {
			log, _ := lives(seed, true)
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(log[max(0, len(log)-40):], "\n"))
		}
	}
}
