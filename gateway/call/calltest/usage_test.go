package calltest_test

import (
	"sync"
	"testing"
	"time"

	"hovor/gateway/call/calltest"
	"hovor/gateway/provider"
	"hovor/gateway/usage"
	"hovor/signaling/realtime"
)

// books keep everything in memory.
type books struct {
	mu        sync.Mutex
	calls     []usage.Call
	responses map[string]usage.Response
}

func (b *books) PutCall(c usage.Call) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, c)
	return nil
}

func (b *books) PutResponse(r usage.Response) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.responses == nil {
		b.responses = make(map[string]usage.Response)
	}
	b.responses[string(r.Kind)+" "+r.ID] = r
	return nil
}

func TestRow6_15_WhatACallCostsIsWrittenDownAlsoWhatWasCutAndLost(t *testing.T) {
	b := &books{}
	live(t, calltest.Options{Link: near, Upstream: near, Books: b}, func(t *testing.T, w *calltest.World) {
		cost := &realtime.Usage{TotalTokens: 120, InputTokens: 80, OutputTokens: 40,
			InputTokenDetails:  realtime.InputTokenDetails{TextTokens: 30, AudioTokens: 50, CachedTokens: 20, CachedTokensDetails: realtime.CachedDetails{TextTokens: 20}},
			OutputTokenDetails: realtime.OutputTokenDetails{TextTokens: 10, AudioTokens: 30}}
		w.Provider.Will(calltest.Script{Think: 100 * time.Millisecond, Text: "One.", Audio: time.Second, Usage: cost},
			calltest.Script{Think: 100 * time.Millisecond, Text: "Two is much longer than one and is cut.", Audio: 10 * time.Second, Usage: cost},
			calltest.Script{Think: 100 * time.Millisecond, Text: "Three never ends.", Audio: 60 * time.Second, Usage: cost})
		br := w.Dial()
		calltest.Await[*realtime.HovorProvider](br, 3*time.Second, nil)
		br.Speak(time.Second)
		calltest.Await[*realtime.OutputAudioBufferStopped](br, 5*time.Second, nil)
		br.Speak(time.Second)
		time.Sleep(3 * time.Second)
		br.Speak(time.Second) // over the second
		time.Sleep(3 * time.Second)
		c, err := w.Manager.Get("", br.CallID())
		if err != nil {
			t.Fatal(err)
		}
		w.Provider.Last().Close() // in the middle of the third
		<-c.Done()
	})
	if len(b.calls) != 1 {
		t.Fatalf("%d records of one call", len(b.calls))
	}
	c := b.calls[0]
	if c.Reason != "provider_lost" || c.Person != "alice" || c.Responses != 3 || c.Untold != 1 || c.Total != 240+3*7 {
		t.Errorf("call %+v", c)
	}
	if c.Input.Audio != 100+3*5 || c.Input.Text != 60 || c.Cached.Text != 40 || c.Output.Audio != 60 || c.Output.Text != 20+3*2 {
		t.Errorf("tokens %+v %+v %+v", c.Input, c.Cached, c.Output)
	}
	if c.AudioIn < 8*time.Second || c.AudioOut < 5*time.Second || c.Heard > c.AudioOut || c.Heard < 4*time.Second {
		t.Errorf("in %v, out %v, heard %v", c.AudioIn, c.AudioOut, c.Heard)
	}
	status := map[string]int{}
	for _, r := range b.responses {
		if r.Kind == provider.UsageResponse {
			status[r.Status]++
			if r.Status == "completed" && (r.Sent != time.Second || r.Heard != time.Second) {
				t.Errorf("of a second, %v was sent and %v heard", r.Sent, r.Heard)
			}
		}
	}
	if status["completed"] != 1 || status["cancelled"] != 1 || status["lost"] != 1 {
		t.Errorf("statuses %v", status)
	}
}
