package calltest_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/call/calltest"
	"hovor/signaling/realtime"
)

// attach hangs a sideband on a call for as long as both live.
func attach(w *calltest.World, c call.Live) *calltest.Wire {
	s := w.NewWire()
	var over sync.WaitGroup
	over.Go(func() {
		if err := c.Attach(context.Background(), s, realtime.GA, nil); err != nil {
			w.TB.Errorf("attach: %v", err)
		}
	})
	w.TB.Cleanup(over.Wait)
	return s
}

func TestRow6_23_ASidebandMayAttachBeforeTheMediaStands(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		b, err := w.TryDial() // 201 is written, nothing is connected
		if err != nil {
			t.Fatal(err)
		}
		c, err := w.Manager.Get("alice", b.CallID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Manager.Get("bob", b.CallID()); err == nil {
			t.Error("another person found the call")
		}
		s := attach(w, c)
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		text := "speak slowly"
		s.Tell(&realtime.SessionUpdate{EventID: "side_1", Session: realtime.Session{Type: "realtime", Instructions: &text}})
		for _, who := range []calltest.Client{s, b} {
			if u := calltest.Await[*realtime.SessionUpdated](who, time.Second, nil); *u.Session.Instructions != text {
				t.Errorf("session %+v", u.Session)
			}
		}
		if types := s.Types(); slices.Contains(types, "session.created") || slices.Contains(types, "hovor.call") {
			t.Errorf("a sideband starts silent, this one with %v", types)
		}
		s.Say(`{"type":"conversation.item.delete","event_id":"side_2"}`) // not valid
		s.Tell(&realtime.InputAudioBufferAppend{EventID: "side_3", Audio: "AAAA"})
		s.Tell(&realtime.ResponseCancel{EventID: "side_4"})
		w.Within(time.Second, "three errors", func() bool { return len(calltest.Of[*realtime.ErrorEvent](s)) == 3 })
		if e := calltest.Of[*realtime.ErrorEvent](b); len(e) > 0 {
			t.Errorf("the page was told of a sideband's fault: %+v", e[0].Error)
		}
		b.Speak(time.Second)
		calltest.Await[*realtime.ResponseDone](s, 5*time.Second, nil)
		if len(calltest.Of[*realtime.ResponseOutputAudioDelta](s)) > 0 {
			t.Error("a sideband was sent audio")
		}
	})
}

func TestRow6_5_TheEndOfTheCallEndsItsSidebandsAndTheProvider(t *testing.T) {
	live(t, calltest.Options{Link: near, Upstream: near}, func(t *testing.T, w *calltest.World) {
		b := w.Dial()
		calltest.Await[*realtime.HovorProvider](b, 3*time.Second, nil)
		c, err := w.Manager.Get("", b.CallID())
		if err != nil {
			t.Fatal(err)
		}
		s := attach(w, c)
		b.Leave() // the tab is closed; nobody sends a hang-up
		w.Within(3*time.Second, "the sideband is closed", func() bool { code, _ := s.Closed(); return code != 0 })
		if code, reason := s.Closed(); code != 1000 || reason != "client_gone" {
			t.Errorf("closed with %d %q", code, reason)
		}
		w.Within(3*time.Second, "the provider is left", w.Provider.Last().Ended)
		if err := c.Attach(context.Background(), w.NewWire(), realtime.GA, nil); err == nil {
			t.Error("attached to a call that is over")
		}
	})
}
