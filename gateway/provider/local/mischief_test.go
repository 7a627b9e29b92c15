package local

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"hovor/gateway/provider/local/brain"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
	"hovor/signaling/socket"
)

// broken is a brain that answers shortly, and misbehaves as yaml says.
func broken(t *testing.T, yaml string) brain.Brain {
	t.Helper()
	return scriptedBrain(t, "responses: [[{say: One two.}]]\nthen: again\n"+yaml)
}

func TestTheDoorRefusesAsOftenAsTheScriptSays(t *testing.T) {
	const door = `door:
  - {at: mint, status: 429, retry_after: 3s}
  - {at: open, status: 503, retry_after: 2s, times: 2}
  - {at: open, wait: 1500ms}
  - {at: upgrade, status: 401}
  - {at: upgrade, status: 500, code: odd, message: Odd.}
  - {at: upgrade, wait: 2s}
`
	inHouse(t, broken(t, door), nil, func(t *testing.T, h *house) {
		mint := func() error {
			_, err := client.MintSecret(t.Context(), h.http, baseURL, testKey, realtime.ClientSecretRequest{})
			return err
		}
		call := func() error {
			p, err := dial(t, client.Config{BaseURL: baseURL, Token: testKey, Engine: h.engine, HTTP: h.http})
			if err == nil {
				p.hang()
			}
			return err
		}
		sock := func() error {
			d, err := h.dialSocket()
			if err == nil {
				next[*realtime.SessionCreated](d)
				d.hang()
			}
			return err
		}
		for i, step := range []struct {
			knock         func() error
			status, retry int
			code          string
			wait          time.Duration
		}{
			{mint, 429, 3, "rate_limit_exceeded", 0}, {mint, 0, 0, "", 0},
			{call, 503, 2, "server_error", 0}, {call, 503, 2, "server_error", 0}, {call, 0, 0, "", 1500 * time.Millisecond}, {call, 0, 0, "", 0},
			{sock, 401, 0, "invalid_api_key", 0}, {sock, 500, 0, "odd", 0}, {sock, 0, 0, "", 2 * time.Second}, {sock, 0, 0, "", 0},
		} {
			begin := time.Now()
			err := step.knock()
			took := time.Since(begin)
			if took < step.wait || took > step.wait+time.Second {
				t.Errorf("knock %d took %v, want %v", i, took, step.wait)
			}
			if step.status == 0 {
				if err != nil {
					t.Errorf("knock %d: %v", i, err)
				}
				continue
			}
			var e *realtime.Error
			if !errors.As(err, &e) || e.Status != step.status || e.RetryAfter != step.retry || e.Code != step.code || e.Message == "" {
				t.Errorf("knock %d: %v %+v, want %d", i, err, e, step.status)
			}
		}
	})
}

// sane is how a written answer to a typed message looks when nothing goes wrong.
var sane = []string{
	"session.created", "conversation.item.added", "conversation.item.done", "response.created", "rate_limits.updated", "response.output_item.added",
	"conversation.item.added", "response.content_part.added", "response.output_text.delta", "response.output_text.done", "response.content_part.done",
	"response.output_item.done", "conversation.item.done", "response.done",
}

// saneUpdated is sane with the session.update that makes the session a written one.
func saneUpdated() []string { return append([]string{sane[0], "session.updated"}, sane[1:]...) }

func written() *realtime.SessionUpdate {
	s := manual()
	s.OutputModalities = []string{"text"}
	return &realtime.SessionUpdate{Session: *s}
}

func TestEventsAreBentOnTheirWay(t *testing.T) {
	without := func(list []string, name string) (out []string) {
		for _, x := range list {
			if x != name {
				out = append(out, x)
			}
		}
		return out
	}
	swapped := saneUpdated()
	swapped[12], swapped[13] = swapped[13], swapped[12]
	late := time.Duration(0)
	for name, c := range map[string]struct {
		fault string
		want  []string
		check func(t *testing.T, d *desk)
	}{
		"none":       {"wait: 0s", saneUpdated(), nil},
		"drop":       {"drop: response.output_item.done", without(saneUpdated(), "response.output_item.done"), nil},
		"drop twice": {"drop: {event: conversation.item.done, times: 2}", without(saneUpdated(), "conversation.item.done"), nil},
		"reorder":    {"reorder: response.output_item.done", swapped, nil},
		"duplicate": {"duplicate: response.created", saneUpdated(), func(t *testing.T, d *desk) {
			twice := every[*realtime.ResponseCreated](d)
			if len(twice) != 2 || twice[0].EventID != twice[1].EventID {
				t.Errorf("%d times response.created", len(twice))
			}
		}},
		"delay": {"delay: {event: response.created, for: 3s}", saneUpdated(), func(t *testing.T, d *desk) {
			events, _, unlock := d.history()
			defer unlock()
			for i, e := range events {
				if i >= 4 && e.at.Sub(events[3].at) < 3*time.Second-50*time.Millisecond {
					t.Errorf("%s came %v behind %s", e.EventType(), e.at.Sub(events[3].at), events[3].EventType())
				}
			}
			late = events[len(events)-1].at.Sub(events[3].at)
		}},
		"garble": {"garble: response.created", without(saneUpdated(), "response.created"), func(t *testing.T, d *desk) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if raw := d.raw[4]; !strings.HasPrefix(raw, "{") || strings.HasSuffix(raw, "}}") {
				t.Errorf("the garbled event is %s", raw)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, broken(t, "sessions: [[{"+c.fault+"}]]"), nil, func(t *testing.T, h *house) {
				d := h.open()
				d.send(written(), typedText("hello"), &realtime.ResponseCreate{})
				next[*realtime.ResponseDone](d)
				time.Sleep(time.Second)
				d.hang()
				compare(t, d.order(), c.want)
				if c.check != nil {
					c.check(t, d)
				}
			})
		})
	}
	if late == 0 {
		t.Error("nothing was late")
	}
}

func TestAStalledServerReadsLater(t *testing.T) {
	inHouse(t, broken(t, "sessions: [[{stall: 5s}]]"), nil, func(t *testing.T, h *house) {
		d := h.open()
		next[*realtime.SessionCreated](d)
		time.Sleep(100 * time.Millisecond)
		begin := time.Now()
		for range 50 { // more than it holds: the network has to keep them
			d.send(written())
		}
		for range 50 {
			next[*realtime.SessionUpdated](d)
		}
		if took := time.Since(begin); took < 4800*time.Millisecond || took > 5200*time.Millisecond {
			t.Errorf("answered after %v", took)
		}
		d.hang()
	})
}

func TestASocketEndsInEveryWay(t *testing.T) {
	for name, c := range map[string]struct {
		fault  string
		code   int
		reason string
		within time.Duration
		said   string // code of an error event before it
	}{
		"with a farewell":  {"[{wait: 2s}, {close: {code: 1011, reason: internal_error}}]", 1011, "internal_error", 3 * time.Second, ""},
		"cut":              {"[{wait: 2s}, {close: true}]", socket.CodeNone, "", 3 * time.Second, ""},
		"expired":          {"[{expires: 30s}]", socket.CodeGoingAway, "session_expired", 31 * time.Second, "session_expired"},
		"expired too soon": {"[{wait: 5s}, {expire: true}]", socket.CodeGoingAway, "session_expired", 6 * time.Second, "session_expired"},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, broken(t, "sessions: ["+c.fault+"]"), nil, func(t *testing.T, h *house) {
				begin := time.Now()
				d := h.open()
				created := next[*realtime.SessionCreated](d).Session
				if left := time.Unix(created.ExpiresAt, 0).Sub(begin); name == "expired" && (left < 29*time.Second || left > 31*time.Second) {
					t.Errorf("expires_at is %v away", left)
				}
				<-d.ended
				if took := time.Since(begin); took > c.within {
					t.Errorf("ended after %v", took)
				}
				var bye *socket.CloseError
				if !errors.As(d.sock.Conn().Err(), &bye) || bye.Code != c.code || bye.Code != socket.CodeNone && bye.Reason != c.reason {
					t.Errorf("ended with %v", d.sock.Conn().Err())
				}
				if failed := every[*realtime.ErrorEvent](d); c.said == "" && len(failed) > 0 || c.said != "" && (len(failed) != 1 || failed[0].Error.Code != c.said) {
					t.Errorf("%d error events", len(failed))
				}
			})
		})
	}
}

func TestAHungSocketFallsSilentAndStays(t *testing.T) {
	inHouse(t, broken(t, "sessions: [[{wait: 2s}, {hang: true}], []]"), nil, func(t *testing.T, h *house) {
		d := h.open()
		next[*realtime.SessionCreated](d)
		time.Sleep(3 * time.Second)
		d.send(written())
		begin := time.Now()
		<-d.ended
		if !errors.Is(d.err, socket.ErrHalfOpen) || time.Since(begin) < 30*time.Second {
			t.Errorf("ended after %v with %v", time.Since(begin), d.err)
		}
		if got := d.order(); len(got) != 1 {
			t.Errorf("a hung socket said %v", got)
		}
		again := h.open() // the second session is sound
		again.send(written())
		next[*realtime.SessionUpdated](again)
		time.Sleep(5 * time.Second)
		again.hang()
	})
}

func TestACallOverWebRTCIsBentTheSameWay(t *testing.T) {
	inHouse(t, broken(t, "sessions: [[{duplicate: session.updated}, {wait: 4s}, {expire: true}], [{wait: 1s}, {close: true}], [{expires: 5s}]]"), nil, func(t *testing.T, h *house) {
		for i, want := range []string{"session.created session.updated error", "session.created session.updated", "session.created session.updated error"} {
			begin := time.Now()
			p := h.call(manual())
			<-p.ended
			p.cancel()
			if took := time.Since(begin); took > 6*time.Second {
				t.Errorf("call %d ended after %v", i, took)
			}
			if got := strings.Join(p.order(), " "); got != want {
				t.Errorf("call %d was told %s", i, got)
			}
			if n := len(all[*realtime.SessionUpdated](p)); i == 0 && n != 2 {
				t.Errorf("%d times session.updated", n)
			}
		}
	})
}

func TestASlowReaderOfASocketLosesIt(t *testing.T) {
	inHouse(t, scriptedBrain(t, longAnswer), nil, func(t *testing.T, h *house) {
		stuck := make(chan struct{})
		d := h.open(func(c *client.SocketConfig) {
			read := c.Event
			c.Event = func(raw []byte, ev realtime.Event) {
				read(raw, ev)
				if _, ok := ev.(*realtime.ResponseOutputAudioDelta); ok {
					<-stuck
				}
			}
		})
		for range 200 { // 4.8 s of speech each: 60 MB in base64, of which 16 may wait
			d.send(&realtime.SessionUpdate{Session: *manual()}, typedText("go"), &realtime.ResponseCreate{})
			time.Sleep(2 * time.Second)
			if h.server.Sessions() == 0 {
				break
			}
		}
		if h.server.Sessions() != 0 {
			t.Error("the session lives on")
		}
		close(stuck)
		<-d.ended
	})
}

func TestWhatNobodyTookOverStaysHTTP(t *testing.T) {
	inHouse(t, broken(t, ""), nil, func(t *testing.T, h *house) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, baseURL+"?model=x", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUpgradeRequired {
			t.Errorf("GET without an upgrade is answered %d", res.StatusCode)
		}
	})
}
