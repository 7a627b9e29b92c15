package openaiws

import (
	"context"
	"encoding/base64"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/gateway/provider/playback"
	"hovor/gateway/provider/recall"
	"hovor/gateway/provider/socket"
	"hovor/sfu/bridge"
	"hovor/signaling/realtime"
)

const (
	// setupID names our own session.update, so that its answer is known for what it is.
	setupID = "hovor_setup"
	// pastID begins the event ids of the items that carry the conversation so far.
	pastID = "hovor_past_"
	// historyID begins the ids of the items that come from an earlier call.
	historyID = "hist_"
	// hush is how long the person must have been quiet for a change of the connection.
	hush = time.Second
	// loud is the level above which a frame counts as speech for that: mean magnitude of a sample, some -40 dBFS.
	loud = 300
)

// leg is one open call.
type leg struct {
	cfg   Config
	model string
	sink  provider.Sink
	log   *slog.Logger
	line  *socket.Line
	out   *playback.Output
	mic   *playback.Input
	past  *recall.Store

	spoke   atomic.Int64 // when the person was loud last, unix nanoseconds
	audioIn atomic.Int64 // nanoseconds of audio sent since the last usage record

	mu      sync.Mutex // guards what follows
	session realtime.Session
	refused []string          // fields of a session that the provider does not know
	active  []string          // responses that are not done
	ended   []string          // responses that were done lately
	sent    journal           // what nothing has confirmed yet
	seen    recent            // event ids that came lately
	told    map[string]bool   // ids of items that were handed over on the present connection
	version uint64            // of past, when it was handed over last
	bad     int               // messages in a row that were not of the protocol
	waits   map[string]string // audio items whose transcript is missing, by id
}

func newLeg(cfg Config, s provider.Setup, sink provider.Sink) (*leg, error) {
	l := &leg{cfg: cfg, model: s.Model, sink: sink, log: cfg.Logger.With("call", s.CallID), past: &recall.Store{}, session: s.Session, told: map[string]bool{}}
	if l.model == "" {
		l.model = cfg.Model
	}
	var err error
	if l.out, err = playback.NewOutput(s.Codec, l.emit, sink.ProviderPacket); err != nil {
		return nil, err
	}
	if l.mic, err = playback.NewInput(s.Codec, pcm.Rate, l.hear, l.do, l.undone); err != nil {
		l.out.Close()
		return nil, err
	}
	for i, it := range s.History {
		it.ID = historyID + s.CallID[max(0, len(s.CallID)-12):] + "_" + itoa(i)
		l.past.Put(it, nil)
	}
	l.line = socket.NewLine(socket.LineConfig{Open: l.open, Handle: l.handle, Quiet: l.quiet, Same: l.same, Lost: l.lost, Resume: l.resume,
		Notice: func(n provider.Notice) { provider.ReportNotice(sink, n) }, Limit: max(cfg.Limit, 0), Connect: cfg.Connect, Fixed: cfg.Fixed, Logger: l.log})
	return l, nil
}

// Run keeps the leg until ctx ends or the provider is gone.
func (l *leg) Run(ctx context.Context) error {
	err := l.line.Run(ctx)
	if err != nil {
		l.lost(provider.AsError(err)) // what was begun has an end and a record
	}
	l.close()
	if late, lost := l.out.Late(), l.line.Lost(); late > 0 || lost > 0 || l.mic.Concealed() > 0 {
		l.log.Info("provider audio", "late_ms", late.Milliseconds(), "dropped_up", lost, "concealed", l.mic.Concealed())
	}
	l.sink.ProviderClosed(err)
	return err
}

// SetPlayout tells how much audio waits in the client.
func (l *leg) SetPlayout(d time.Duration) { l.out.SetPlayout(d) }

// WriteRTP takes one packet of the person's audio.
func (l *leg) WriteRTP(p *rtp.Packet) error {
	l.mic.Push(p)
	return nil
}

const (
	appendHead = `{"type":"input_audio_buffer.append","audio":"`
	appendTail = `"}`
)

// close ends both ways of the sound.
func (l *leg) close() {
	l.mic.Close()
	l.out.Close()
}

// undone: an event that was taken cannot be done.
func (l *leg) undone(ev realtime.Event, err error) {
	l.log.Warn("an event did not reach the provider", "type", ev.EventType(), "error", err)
}

// hear takes audio from the microphone and sends it.
func (l *leg) hear(c bridge.Chunk) {
	var sum int64
	for _, v := range c.PCM {
		sum += int64(max(v, -v))
	}
	if len(c.PCM) > 0 && sum/int64(len(c.PCM)) > loud {
		l.spoke.Store(time.Now().UnixNano())
	}
	n := base64.StdEncoding.EncodedLen(len(c.Data))
	raw := make([]byte, len(appendHead)+n+len(appendTail))
	copy(raw, appendHead)
	base64.StdEncoding.Encode(raw[len(appendHead):], c.Data)
	copy(raw[len(appendHead)+n:], appendTail)
	l.audioIn.Add(int64(len(c.PCM)) * int64(time.Second) / int64(pcm.Rate))
	l.mu.Lock()
	l.sent.add(entry{kind: "audio", raw: raw})
	l.mu.Unlock()
	l.line.Audio(raw)
}

// Send queues one event, or does here what the transport has no event for.
func (l *leg) Send(ev realtime.Event) error {
	if _, ok := ev.(*realtime.OutputAudioBufferClear); ok {
		l.out.Clear(false) // waits for nothing
		return nil
	}
	return l.mic.Send(ev)
}

// do sends one event, in its order.
func (l *leg) do(ev realtime.Event) error {
	switch ev := ev.(type) {
	case *realtime.ResponseCancel:
		l.out.Cancel(ev.ResponseID)
		l.confirm("create", "")
	case *realtime.ConversationItemTruncate:
		return l.truncate(ev)
	case *realtime.ConversationItemDelete:
		l.past.Delete(ev.ItemID)
	case *realtime.SessionUpdate:
		l.mu.Lock()
		l.session = l.session.Merge(ev.Session)
		refused := l.refused
		l.mu.Unlock()
		raw, err := without(&realtime.SessionUpdate{EventID: ev.EventID, Session: l.shaped(ev.Session, false)}, refused)
		if err != nil {
			return err
		}
		return l.line.Write(raw)
	case *realtime.InputAudioBufferCommit:
		return l.surely(ev, "commit", ev.EventID)
	case *realtime.InputAudioBufferClear:
		return l.surely(ev, "clear", ev.EventID)
	case *realtime.ResponseCreate:
		return l.surely(ev, "create", ev.EventID)
	case *realtime.ConversationItemCreate:
		if ev.Item.ID == "" { // it must be known by one name over all connections
			named := *ev
			named.Item.ID = realtime.NewID("item")
			ev = &named
		}
		return l.surely(ev, "item", ev.Item.ID)
	}
	raw, err := realtime.Encode(ev)
	if err != nil {
		return err
	}
	return l.line.Write(raw)
}

// SendRaw queues one event as it is; one that this transport has no use for is done here.
func (l *leg) SendRaw(raw []byte) error {
	if ev, err := realtime.Decode(realtime.FromClient, raw); err == nil {
		if _, audio := ev.(*realtime.InputAudioBufferAppend); !audio {
			return l.Send(ev)
		}
	}
	return l.line.Write(raw)
}

// surely sends an event and remembers it until it is confirmed.
func (l *leg) surely(ev realtime.Event, kind, id string) error {
	raw, err := realtime.Encode(ev)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.sent.add(entry{kind, id, raw})
	l.mu.Unlock()
	return l.line.Write(raw)
}

// confirm takes an event off the list of what is unsure.
func (l *leg) confirm(kind, id string) { l.mu.Lock(); l.sent.confirm(kind, id); l.mu.Unlock() }

// truncate cuts an item upstream at what was asked for, but not behind what was played or what was received, and not at all
// when there is nothing to cut: providers answer that with errors, and models with repetition.
func (l *leg) truncate(ev *realtime.ConversationItemTruncate) error {
	cut, known := l.out.Lookup(ev.ItemID)
	_, ours := l.past.Get(ev.ItemID)
	l.mu.Lock()
	words := l.told[ev.ItemID] // on this connection it is a text
	l.mu.Unlock()
	if !known && !ours {
		raw, err := realtime.Encode(ev)
		if err != nil {
			return err
		}
		return l.line.Write(raw)
	}
	end := min(time.Duration(ev.AudioEndMS)*time.Millisecond, cut.Played)
	l.past.Cut(ev.ItemID, end, cut.Received)
	if words || !known || end >= cut.Received {
		l.event(&realtime.ConversationItemTruncated{EventID: realtime.NewID("event"), ItemID: ev.ItemID, ContentIndex: ev.ContentIndex, AudioEndMS: ms(end)})
		return nil
	}
	return l.sendTruncate(ev.EventID, cut, end)
}

func (l *leg) sendTruncate(eventID string, cut playback.Cut, end time.Duration) error {
	raw, err := realtime.Encode(&realtime.ConversationItemTruncate{EventID: eventID, ItemID: cut.ItemID, ContentIndex: cut.Content, AudioEndMS: ms(end)})
	if err != nil {
		return err
	}
	return l.line.Write(raw)
}

// interrupted: the provider heard the person and stops. It cannot know what was heard; we do.
func (l *leg) interrupted() {
	for _, cut := range l.out.Clear(true) {
		end := cut.Heard
		l.past.Cut(cut.ItemID, end, cut.Received)
		if err := l.sendTruncate("hovor_cut_"+cut.ItemID, cut, end); err != nil {
			l.log.Warn("truncation not sent", "error", err)
		}
	}
}

// emit hands an event of ours to the sink. Its callers hold the output's lock, which orders it with all others.
func (l *leg) emit(ev realtime.Event) {
	raw, err := realtime.Encode(ev)
	if err != nil {
		l.log.Error("an event of ours is not of the protocol", "type", ev.EventType(), "error", err)
		return
	}
	if decoded, err := realtime.Decode(realtime.FromServer, raw); err == nil {
		ev = decoded // with its event_id
	}
	l.sink.ProviderEvent(raw, ev)
}

func (l *leg) event(ev realtime.Event) { l.out.Do(func() { l.emit(ev) }) }

func ms(d time.Duration) int { return int(d / time.Millisecond) }

func ours(eventID string) bool {
	return eventID == setupID || strings.HasPrefix(eventID, pastID) || strings.HasPrefix(eventID, "hovor_cut_")
}
