package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"hovor/tools"
)

func TestARepeatedCallGetsTheRecordedResultAndRunsNothing(t *testing.T) {
	f := newService(t)
	once := f.do(t, alice, "call_1", "get_document", `{"id":"a","page":1}`)
	for _, same := range []string{`{"id":"a","page":1}`, ` { "page": 1, "id": "a" } `, `{"\u0069d":"a","page":1}`, `"{\"id\":\"a\",\"page\":1}"`} {
		if again := f.do(t, alice, "call_1", "get_document", same); *again != *once {
			t.Errorf("%s: %+v, want %+v", same, again, once)
		}
	}
	if f.backend.runs() != 1 {
		t.Fatalf("ran %d times", f.backend.runs())
	}
	if out, ok := f.RecordedOutput("scope-alice", "call_1"); !ok || out != once.Output {
		t.Fatalf("recorded %q", out)
	}
}

func TestAnotherCallUnderTheSameIDIsInvalidAndChangesNothing(t *testing.T) {
	f := newService(t)
	once := f.do(t, alice, "call_1", "get_document", `{"id":"a"}`)
	for _, other := range [][2]string{{"get_document", `{"id":"b"}`}, {"get_document", `{"id":"a","page":1}`}, {"list_all", `{}`},
		{"list_all", `{"id":"a"}`}, {"nothing", `{"id":"a"}`}, {"get_document", `{`}, {"delete_project", `{}`}, {"get_documen", `t{"id":"a"}`}} {
		r := f.do(t, alice, "call_1", other[0], other[1])
		if r.Status != tools.StatusInvalid || !strings.Contains(r.Output, "belongs to another call") {
			t.Errorf("%v: %s", other, r.Output)
		}
	}
	if out, _ := f.RecordedOutput("scope-alice", "call_1"); out != once.Output || f.backend.runs() != 1 {
		t.Fatalf("recorded %q after %d runs", out, f.backend.runs())
	}
}

func TestRefusedCallsAreRecordedToo(t *testing.T) {
	f := newService(t)
	for i, c := range [][2]string{{"nothing", `{}`}, {"get_document", `{`}, {"publish", `{"text":"x"}`}, {"delete_project", ``}} {
		id := fmt.Sprintf("call_%d", i)
		r := f.do(t, alice, id, c[0], c[1])
		if out, ok := f.RecordedOutput("scope-alice", id); !ok || out != r.Output {
			t.Errorf("%v: recorded %q", c, out)
		}
	}
}

func TestEqualCallsAtOnceRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newService(t)
		release := make(chan struct{})
		f.backend.answer = func(context.Context, tools.Request) tools.Outcome {
			<-release
			return tools.Outcome{Status: tools.StatusOK, Result: json.RawMessage(`1`)}
		}
		var all sync.WaitGroup
		results := make([]*tools.Result, 50)
		for i := range results {
			all.Go(func() {
				results[i], _ = f.Do(t.Context(), alice, tools.Call{CallID: "call_1", Name: "list_all"})
			})
		}
		synctest.Wait()
		if _, ok := f.RecordedOutput("scope-alice", "call_1"); ok {
			t.Error("an output is recorded before the call is over")
		}
		if r := f.do(t, alice, "call_1", "get_document", `{"id":"a"}`); r.Status != tools.StatusInvalid {
			t.Errorf("another call under a running id: %s", r.Output)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := f.Do(gone, alice, tools.Call{CallID: "call_1", Name: "list_all"}); !errors.Is(err, context.Canceled) {
			t.Errorf("somebody who left still waits: %v", err)
		}
		close(release)
		all.Wait()
		for _, r := range results {
			if r == nil || *r != *results[0] {
				t.Fatalf("got %+v and %+v", r, results[0])
			}
		}
		if f.backend.runs() != 1 {
			t.Fatalf("ran %d times", f.backend.runs())
		}
	})
}

func TestAReadGoesOnWhenItsCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newService(t)
		release := make(chan struct{})
		f.backend.answer = func(ctx context.Context, _ tools.Request) tools.Outcome {
			select {
			case <-release:
				return tools.Outcome{Status: tools.StatusOK, Result: json.RawMessage(`1`)}
			case <-ctx.Done():
				return tools.Outcome{Status: tools.StatusFailed}
			}
		}
		ctx, leave := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() { _, _ = f.Do(ctx, alice, tools.Call{CallID: "call_1", Name: "list_all"}) })
		synctest.Wait()
		leave()
		synctest.Wait()
		close(release)
		first.Wait()
		if out, ok := f.RecordedOutput("scope-alice", "call_1"); !ok || out != `{"status":"ok","result":1}` {
			t.Fatalf("recorded %q", out)
		}
	})
}

func TestABackendThatHangsFailsWithinTheToolsTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newService(t)
		f.backend.answer = func(ctx context.Context, _ tools.Request) tools.Outcome {
			<-ctx.Done()
			return tools.Outcome{Status: tools.StatusFailed, Detail: "timeout"}
		}
		if r := f.do(t, alice, "call_1", "list_all", ""); r.Status != tools.StatusFailed {
			t.Fatalf("got %s", r.Output)
		}
	})
}

func TestEndSessionForgetsEverythingForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newService(t)
		call := tools.Call{CallID: "call_1", Name: "list_all", Session: "sess-a"}
		if _, err := f.Do(t.Context(), alice, call); err != nil {
			t.Fatal(err)
		}
		f.backend.answer = func(ctx context.Context, _ tools.Request) tools.Outcome {
			<-ctx.Done()
			return tools.Outcome{Status: tools.StatusFailed}
		}
		var running sync.WaitGroup
		var r *tools.Result
		running.Go(func() {
			r, _ = f.Do(t.Context(), alice, tools.Call{CallID: "call_2", Name: "list_all", Session: "sess-a"})
		})
		synctest.Wait()
		f.EndSession("sess-a")
		running.Wait() // at once: the session's end cancels what runs in it
		if r == nil || r.Status != tools.StatusFailed {
			t.Fatalf("got %+v", r)
		}
		for _, id := range []string{"call_1", "call_2"} {
			if out, ok := f.RecordedOutput("sess-a", id); ok {
				t.Errorf("%s is still recorded: %s", id, out)
			}
		}
		if _, err := f.Do(t.Context(), alice, call); !errors.Is(err, tools.ErrSessionEnded) {
			t.Fatalf("an ended session took a call: %v", err)
		}
		f.EndSession("sess-a")
		f.EndSession("never-there")
	})
}

func TestASessionBelongsToOnePerson(t *testing.T) {
	everybody := sessionFunc(func(tools.Person, string) (string, string, error) { return "shared", "", nil })
	f := newService(t, func(c *tools.Config) { c.Sessions = everybody })
	f.do(t, alice, "call_1", "list_all", "")
	if _, err := f.Do(t.Context(), bob, tools.Call{CallID: "call_1", Name: "list_all"}); !errors.Is(err, tools.ErrSession) {
		t.Fatalf("bob was given alice's record: %v", err)
	}
}

type sessionFunc func(tools.Person, string) (string, string, error)

func (s sessionFunc) Session(p tools.Person, asked string) (string, string, error) {
	return s(p, asked)
}

func TestTheRecordIsBounded(t *testing.T) {
	f := newService(t, func(c *tools.Config) { c.Limits = tools.Limits{SessionCalls: 3, SessionIDs: 5} })
	for i := range 20 {
		f.do(t, alice, fmt.Sprintf("call_%d", i), "list_all", "")
	}
	kept := 0
	for i := range 20 {
		if _, ok := f.RecordedOutput("scope-alice", fmt.Sprintf("call_%d", i)); ok {
			kept++
		}
	}
	if kept != 3 {
		t.Fatalf("%d outputs kept, want 3", kept)
	}
	ran := f.backend.runs()
	r := f.do(t, alice, "call_16", "list_all", "")
	if r.Status != tools.StatusFailed || !strings.Contains(r.Output, "no longer kept") || f.backend.runs() != ran {
		t.Fatalf("a forgotten call: %s, %d runs", r.Output, f.backend.runs()-ran)
	}
}

func TestOutputsAreBoundedInBytes(t *testing.T) {
	f := newService(t, func(c *tools.Config) { c.Limits = tools.Limits{SessionBytes: 100} })
	f.backend.answer = func(context.Context, tools.Request) tools.Outcome {
		return tools.Outcome{Status: tools.StatusOK, Result: json.RawMessage(`"` + strings.Repeat("x", 60) + `"`)}
	}
	f.do(t, alice, "call_1", "list_all", "")
	f.do(t, alice, "call_2", "list_all", "")
	_, first := f.RecordedOutput("scope-alice", "call_1")
	_, second := f.RecordedOutput("scope-alice", "call_2")
	if first || !second {
		t.Fatalf("kept first %v, second %v", first, second)
	}
}

func TestSessionsAreBoundedAndTheOldestIdleOneMakesRoom(t *testing.T) {
	any := sessionFunc(func(_ tools.Person, asked string) (string, string, error) { return asked, "", nil })
	f := newService(t, func(c *tools.Config) { c.Sessions, c.Limits = any, tools.Limits{Sessions: 3} })
	for i := range 10 {
		if _, err := f.Do(t.Context(), alice, tools.Call{CallID: "c", Name: "list_all", Session: fmt.Sprint("s", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		if _, ok := f.RecordedOutput(fmt.Sprint("s", i), "c"); ok != (i >= 7) {
			t.Errorf("session %d kept: %v", i, ok)
		}
	}
}
