package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hovor/gateway/config"
	"hovor/gateway/provider"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

func TestInDirectModeNotOnePacketReachesTheGateway(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *config.Config) { c.Assistants[0].Mode, c.Assistants[0].Policy = config.Direct, "locked" })
	// The gateway has no media sockets from here on: what reaches it, and what it would send, fails the call.
	if err := h.Server.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if about := get(t, h.PublicURL()+"/v1/about", ""); !strings.Contains(about, "straight to the voice service") {
		t.Errorf("about says %s", about)
	}
	c := h.call("demo-alice", "")
	id := c.CallID()
	found, err := h.door.calls.Get("alice", id)
	if err != nil {
		t.Fatalf("Location does not name our call: %v", err)
	}
	if !strings.HasPrefix(id, "rtc_n1_") {
		t.Errorf("call id %s", id)
	}
	created := c.until("session.created", is[*realtime.SessionCreated]).(*realtime.SessionCreated).Session
	if created.Instructions == nil || *created.Instructions != instructions["en"] || len(created.Tools) < 5 {
		t.Error("the provider was not given the assistant's session")
	}
	text := "I say what to do"
	_ = c.Send(&realtime.SessionUpdate{Session: realtime.Session{Type: "realtime", Instructions: &text}})
	c.until("the session put right", func(ev realtime.Event) bool {
		e, ok := ev.(*realtime.SessionUpdated)
		return ok && *e.Session.Instructions == instructions["en"]
	})
	c.types("hello")
	c.answered("hello")
	c.until("the end of the audio", is[*realtime.OutputAudioBufferStopped])
	if n := c.Peer().Stats().PacketsIn; n < 20 {
		t.Errorf("only %d packets came from the provider", n)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Hangup(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case <-found.Done():
	case <-ctx.Done():
		t.Fatal("the call did not end")
	}
	if err := h.Server.usage.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	record, ok, list, err := h.Server.usage.Of(ctx, id)
	if err != nil || !ok || record.AudioPath != "direct" || record.Reason != "hangup" || record.Responses < 1 || record.Person != "alice" {
		t.Errorf("the record: %v %+v", err, record)
	}
	told := 0
	for _, r := range list {
		if r.Kind == provider.UsageResponse && r.Told {
			told++
		}
	}
	if told == 0 {
		t.Errorf("nothing is known of what it cost: %+v", list)
	}
	if w, status := h.socket("model=gpt-realtime", "demo-alice"); status != 400 {
		t.Errorf("a WebSocket in direct mode: %d %v", status, w)
	}
}

func TestADirectCallEndsWithTheBrowsers(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *config.Config) { c.Assistants[0].Mode = config.Direct })
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(h.log.String())
		}
	})
	c := h.call("demo-alice", "")
	found, err := h.door.calls.Get("alice", c.CallID())
	if err != nil {
		t.Fatal(err)
	}
	c.until("session.created", is[*realtime.SessionCreated])
	for deadline := time.Now().Add(patience); !found.State().Ready; { // the control connection
		if time.Now().After(deadline) {
			t.Fatal("no control connection")
		}
		c.until("something", func(realtime.Event) bool { return true })
	}
	_ = c.Peer().Close()
	select {
	case <-found.Done():
	case <-time.After(patience):
		t.Fatal("the gateway did not notice")
	}
	if r := found.State().Reason; r != "client_gone" {
		t.Errorf("ended: %s", r)
	}
}

func TestWhatAProviderRefusesInDirectModeTheBrowserIsTold(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *config.Config) { c.Assistants[0].Mode = config.Direct })
	p := h.door.providers["embedded"]
	p.key = func() string { return "wrong" }
	h.door.providers["embedded"] = p
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := client.Dial(ctx, client.Config{BaseURL: h.PublicURL() + "/v1/realtime", Token: "demo-alice", Engine: h.engine})
	b, _ := json.Marshal(fmt.Sprint(err))
	if err == nil || !strings.Contains(string(b), "does not accept this server's credential") {
		t.Errorf("told %s", b)
	}
}
