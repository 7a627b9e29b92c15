package openaiws

import (
	"context"
	"strconv"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/socket"
	"hovor/signaling/realtime"
)

func itoa(n int) string { return strconv.Itoa(n) }

// maxRefusals is how many fields a provider may refuse one after the other before we believe that it refuses us.
const maxRefusals = 12

// open makes a connection, configures the session and hands the conversation so far over.
func (l *leg) open(ctx context.Context, again bool) (*socket.Conn, error) {
	header, err := l.cfg.header(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := socket.Dial(ctx, socket.Config{URL: l.cfg.target(l.model), Header: header, Net: l.cfg.Net, TLS: l.cfg.TLS, Logger: l.log})
	if err != nil {
		return nil, err
	}
	if err := l.configure(ctx, conn, again); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (l *leg) configure(ctx context.Context, conn *socket.Conn, again bool) error {
	l.mu.Lock()
	session := l.session
	l.mu.Unlock()
	version := l.past.Version()
	said := l.past.Said()
	told := make(map[string]bool, len(said))
	update, err := l.update(session)
	if err != nil {
		return &provider.Error{Class: provider.Rejected, Err: err}
	}
	write := [][]byte{update}
	for i, it := range said {
		told[it.ID] = true
		raw, err := realtime.Encode(&realtime.ConversationItemCreate{EventID: pastID + itoa(i), Item: it})
		if err != nil {
			l.log.Warn("an item cannot be handed over", "error", err)
			continue
		}
		write = append(write, raw)
	}
	refusals := 0
	err = conn.Exchange(ctx, write, func(raw []byte) (bool, error) {
		ev, err := realtime.Decode(realtime.FromServer, raw)
		if err != nil {
			return false, nil // what we do not know is no answer
		}
		switch ev := ev.(type) {
		case *realtime.SessionCreated:
			l.expires(ev.Session.ExpiresAt)
			if !again {
				l.out.Do(func() { l.sink.ProviderEvent(raw, ev) })
			}
		case *realtime.SessionUpdated:
			l.expires(ev.Session.ExpiresAt)
			if !again {
				l.out.Do(func() { l.sink.ProviderEvent(raw, ev) })
			}
			return true, nil
		case *realtime.ErrorEvent:
			if ev.Error == nil || ours(ev.Error.EventID) && ev.Error.EventID != setupID {
				return false, nil
			}
			field := refusedField(ev.Error)
			if refusals++; field == "" || refusals > maxRefusals {
				return false, refusalOf(ev.Error)
			}
			l.mu.Lock()
			l.refused = append(l.refused, field)
			l.mu.Unlock()
			l.log.Info("the provider does not know a field of the session", "field", field)
			update, err := l.update(session)
			if err != nil {
				return false, &provider.Error{Class: provider.Rejected, Err: err}
			}
			if err := conn.Say(update); err != nil {
				return false, &provider.Error{Class: provider.Lost}
			}
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.told, l.version = told, version
	l.mu.Unlock()
	return nil
}

func (l *leg) update(s realtime.Session) ([]byte, error) {
	l.mu.Lock()
	refused := l.refused
	l.mu.Unlock()
	return without(&realtime.SessionUpdate{EventID: setupID, Session: l.shaped(s, true)}, refused)
}

// refusalOf names an error event that stands where a session should.
func refusalOf(e *realtime.Error) *provider.Error {
	out := &provider.Error{Class: provider.Rejected, Code: e.Code}
	switch {
	case e.Code == "session_expired":
		out.Class = provider.Expired
	case e.Code == "insufficient_quota", e.Code == "rate_limit_exceeded", e.Type == realtime.TypeRateLimit:
		out.Class = provider.RateLimited
	case e.Code == "invalid_api_key", e.Type == realtime.TypeAuthentication, e.Type == realtime.TypePermission:
		out.Class = provider.Unauthorized
	case e.Type == realtime.TypeServer:
		out.Class = provider.Overloaded
	}
	return out
}

// expires notes when the provider means to end the session.
func (l *leg) expires(at int64) {
	if at > 0 {
		if in := time.Until(time.Unix(at, 0)); in > 0 {
			l.line.Expire(in)
		}
	}
}

// quiet: nobody speaks, nothing is being made, nothing waits for an answer.
func (l *leg) quiet() bool {
	l.mu.Lock()
	busy := len(l.active) > 0 || l.sent.waits() || len(l.waits) > 0
	l.mu.Unlock()
	return !busy && l.out.Quiet() && time.Since(time.Unix(0, l.spoke.Load())) > hush
}

func (l *leg) same() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version == l.past.Version()
}

// lost ends what was being answered: nothing more comes of it. What was received is played.
func (l *leg) lost(cause *provider.Error) {
	l.mu.Lock()
	active := l.active
	l.active, l.waits = nil, nil
	l.mu.Unlock()
	for _, id := range active {
		l.finish(id)
		done := &realtime.ResponseDone{EventID: realtime.NewID("event"), Response: realtime.Response{ID: id, Object: "realtime.response", Status: realtime.StatusFailed,
			Output: []realtime.Item{}, StatusDetails: &realtime.StatusDetails{Type: realtime.StatusFailed,
				Error: &realtime.StatusError{Type: realtime.TypeServer, Code: "connection_" + string(cause.Class), Message: cause.Sentence()}}}}
		l.event(done)
		l.account(done)
		l.out.Done(id)
	}
}

// resume is what the new connection is told first: the audio that was never committed, and what was never confirmed.
func (l *leg) resume() []socket.Pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent.again(l.told)
}
