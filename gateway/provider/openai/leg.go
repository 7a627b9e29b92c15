package openai

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/sfu"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

const (
	// setupID names our first session.update, so that its refusal is known for what it is.
	setupID = "hovor_setup"
	// historyID begins the ids of the items that carry the history; nobody downstream is to see them come.
	historyID = "hist_"
	// hangupWait bounds the hang-up request; the closed connection tells the provider too.
	hangupWait = 2 * time.Second
)

// leg is one open call.
type leg struct {
	conn *client.Conn
	sink provider.Sink
	log  *slog.Logger

	model string
	shape func(realtime.Session) realtime.Session // nil: as it is

	lost     chan struct{} // closed when the far side has fallen silent
	lostOnce sync.Once
	setup    chan error // one verdict on our first session.update
}

// prepare waits until media and events flow, configures the session and hands the history over.
func (l *leg) prepare(ctx context.Context, s provider.Setup) error {
	if err := l.conn.Ready(ctx); err != nil {
		return classify(err)
	}
	if err := l.conn.Send(&realtime.SessionUpdate{EventID: setupID, Session: s.Session}); err != nil {
		return &provider.Error{Class: provider.BadAnswer, Err: err}
	}
	for i, it := range s.History {
		it.ID = historyID + s.CallID[max(0, len(s.CallID)-12):] + "_" + strconv.Itoa(i)
		if err := l.conn.Send(&realtime.ConversationItemCreate{Item: it}); err != nil {
			return &provider.Error{Class: provider.BadAnswer, Err: err}
		}
	}
	select {
	case err := <-l.setup:
		return err
	case <-l.lost:
		return &provider.Error{Class: provider.Lost}
	case <-ctx.Done():
		return classify(ctx.Err())
	}
}

// event passes an event on, but for what belongs to the adapter's own setup.
func (l *leg) event(raw []byte, ev realtime.Event) {
	switch ev := ev.(type) {
	case *realtime.SessionUpdated:
		l.verdict(nil)
	case *realtime.ErrorEvent:
		if ev.Error != nil && ev.Error.EventID == setupID {
			l.verdict(&provider.Error{Class: provider.Rejected, Code: ev.Error.Code})
			return
		}
	case *realtime.ConversationItemAdded:
		if strings.HasPrefix(ev.Item.ID, historyID) {
			return
		}
	case *realtime.ConversationItemDone:
		if strings.HasPrefix(ev.Item.ID, historyID) {
			return
		}
	case *realtime.ConversationItemCreated:
		if strings.HasPrefix(ev.Item.ID, historyID) {
			return
		}
	}
	l.sink.ProviderEvent(raw, ev)
	if u, ok := provider.UsageOf(ev, l.model); ok {
		provider.ReportUsage(l.sink, u)
	}
}

func (l *leg) verdict(err error) {
	select {
	case l.setup <- err:
	default:
	}
}

// state watches for silence: the engine calls an offering peer disconnected when it has heard nothing for two seconds, no
// packet, no report and no answer to the checks that go out all the time. A provider that is alive answers those.
func (l *leg) state(s sfu.State) {
	if s == sfu.StateDisconnected || s == sfu.StateFailed {
		l.lostOnce.Do(func() { close(l.lost) })
	}
}

// Send queues one event.
func (l *leg) Send(ev realtime.Event) error {
	if up, ok := ev.(*realtime.SessionUpdate); ok && l.shape != nil {
		ev = &realtime.SessionUpdate{EventID: up.EventID, Session: l.shape(up.Session)}
	}
	return l.conn.Send(ev)
}

// SendRaw queues one event as it is.
func (l *leg) SendRaw(raw []byte) error { return l.conn.SendRaw(raw) }

// WriteRTP forwards one packet.
func (l *leg) WriteRTP(p *rtp.Packet) error { return l.conn.WriteRTP(p) }

// Run keeps the leg until ctx ends or the provider is gone.
func (l *leg) Run(ctx context.Context) error {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	over := make(chan error, 1)
	go func() { over <- l.conn.Run(life) }()
	var err error
	select {
	case <-ctx.Done():
		l.hangup(ctx)
		end()
		<-over
	case <-l.lost:
		err = &provider.Error{Class: provider.Lost}
		l.sink.ProviderClosed(err) // at once: closing takes its time
		end()
		<-over
		return err
	case cause := <-over:
		err = &provider.Error{Class: provider.Lost, Err: cause}
	}
	l.sink.ProviderClosed(err)
	return err
}

// hangup tells the provider outright, so that nobody pays for a conversation without a person.
func (l *leg) hangup(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangupWait)
	defer cancel()
	if err := l.conn.Hangup(ctx); err != nil {
		l.log.Debug("hang-up not delivered", "error", err)
	}
}
