package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hovor/tools"
)

// showing is one open_document call under way.
type showing struct {
	request tools.ScreenRequest
	cancel  context.CancelFunc
	done    chan struct{}
	result  *tools.Result
	started time.Time
	took    time.Duration
}

// open starts a call and returns once its request has reached the page. It must run in a bubble.
func (f *fixture) open(t *testing.T, callID string) *showing {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &showing{cancel: cancel, done: make(chan struct{}), started: time.Now()}
	go func() {
		defer close(s.done)
		s.result, _ = f.Do(ctx, alice, tools.Call{CallID: callID, Name: "open_document", Session: "sess-a", Arguments: json.RawMessage(`{"id":"welcome"}`)})
		s.took = time.Since(s.started)
	}()
	synctest.Wait()
	s.request = f.page.last()
	return s
}

func (s *showing) wait(t *testing.T) *tools.Result {
	t.Helper()
	<-s.done
	s.cancel()
	checkOutput(t, s.result)
	return s.result
}

func (f *fixture) report(p tools.Person, s *showing, outcome tools.ScreenOutcome) error {
	return f.Outcome(context.Background(), p, tools.OutcomeReport{CallID: s.request.CallID, RequestID: s.request.RequestID, Outcome: outcome})
}

func inBubble(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newService(t)) })
}

func TestTheAssistantIsToldThatADocumentIsOpenOnlyAfterThePageSaidSo(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := f.open(t, "call_1")
		want := tools.ScreenRequest{RequestID: s.request.RequestID, CallID: "call_1", Epoch: 1, Tool: "open_document",
			Arguments: json.RawMessage(`{"id":"welcome"}`), ExpiresIn: 7 * time.Second}
		if fmt.Sprintf("%+v", s.request) != fmt.Sprintf("%+v", want) || len(s.request.RequestID) > 32 {
			t.Fatalf("asked for %+v", s.request)
		}
		time.Sleep(3 * time.Second)
		if _, ok := f.RecordedOutput("sess-a", "call_1"); ok {
			t.Fatal("an outcome is recorded before the page said anything")
		}
		if err := f.report(alice, s, tools.ScreenFound); err != nil {
			t.Fatal(err)
		}
		if r := s.wait(t); r.Output != `{"status":"ok","result":{"outcome":"found"}}` || s.took != 3*time.Second {
			t.Fatalf("%s after %v", r.Output, s.took)
		}
		if err := f.report(alice, s, tools.ScreenFound); err != nil {
			t.Errorf("the same report again: %v", err)
		}
		if err := f.report(alice, s, tools.ScreenNotFound); !errors.Is(err, tools.ErrOutcomeChanged) {
			t.Errorf("another report: %v", err)
		}
		if f.backend.runs() != 0 {
			t.Error("the backend was asked")
		}
	})
}

func TestAPageThatHasNoSuchThingSaysNotFound(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := f.open(t, "call_1")
		if err := f.report(alice, s, tools.ScreenNotFound); err != nil {
			t.Fatal(err)
		}
		if r := s.wait(t); r.Status != tools.StatusNotFound {
			t.Fatal(r.Output)
		}
	})
}

func TestSevenSecondsWithoutAnAnswerArePending(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := f.open(t, "call_1")
		r := s.wait(t)
		if r.Status != tools.StatusPending || s.took != 7*time.Second {
			t.Fatalf("%s after %v", r.Output, s.took)
		}
		if err := f.report(alice, s, tools.ScreenFound); !errors.Is(err, tools.ErrOutcomeLate) {
			t.Fatalf("late report: %v", err)
		}
		again := f.do(t, alice, "x", "list_all", "") // another call is untouched
		if again.Status != tools.StatusOK {
			t.Fatal(again.Output)
		}
		if out, ok := f.RecordedOutput("sess-a", "call_1"); !ok || out != r.Output {
			t.Fatalf("a late report changed the record to %s", out)
		}
	})
}

func TestAnAnswerJustInTimeCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := f.open(t, "call_1")
		time.Sleep(7*time.Second - time.Nanosecond)
		if err := f.report(alice, s, tools.ScreenFound); err != nil {
			t.Fatal(err)
		}
		if r := s.wait(t); r.Status != tools.StatusOK {
			t.Fatal(r.Output)
		}
	})
}

func TestACancelledRequestIsPending(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := f.open(t, "call_1")
		time.Sleep(time.Second)
		s.cancel()
		if r := s.wait(t); r.Status != tools.StatusPending || s.took != time.Second {
			t.Fatalf("%s after %v", r.Output, s.took)
		}
		if err := f.report(alice, s, tools.ScreenFound); !errors.Is(err, tools.ErrOutcomeLate) {
			t.Fatalf("report after cancel: %v", err)
		}
	})
}

func TestANewerRequestTakesThePageAndNeverTheOldersAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		older := f.open(t, "call_1")
		time.Sleep(time.Second)
		newer := f.open(t, "call_2")
		if r := older.wait(t); r.Status != tools.StatusPending || older.took != time.Second {
			t.Fatalf("the older one: %s after %v", r.Output, older.took)
		}
		if newer.request.Epoch <= older.request.Epoch || newer.request.RequestID == older.request.RequestID {
			t.Fatalf("epochs %d, %d", older.request.Epoch, newer.request.Epoch)
		}
		if err := f.report(alice, older, tools.ScreenFound); !errors.Is(err, tools.ErrOutcomeLate) {
			t.Fatalf("the older one's answer: %v", err)
		}
		mixed := tools.OutcomeReport{CallID: "call_2", RequestID: older.request.RequestID, Outcome: tools.ScreenFound}
		if err := f.Outcome(t.Context(), alice, mixed); !errors.Is(err, tools.ErrNoRequest) {
			t.Fatalf("the older request under the newer call: %v", err)
		}
		if r := newer.wait(t); r.Status != tools.StatusPending || newer.took != 7*time.Second {
			t.Fatalf("the newer one: %s after %v", r.Output, newer.took)
		}
	})
}

func TestTwoSessionsDoNotTakeEachOthersPage(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := f.open(t, "call_1")
		var other sync.WaitGroup
		other.Go(func() {
			_, _ = f.Do(t.Context(), bob, tools.Call{CallID: "call_1", Name: "open_document", Session: "sess-b", Arguments: json.RawMessage(`{"id":"x"}`)})
		})
		synctest.Wait()
		if err := f.report(alice, s, tools.ScreenFound); err != nil {
			t.Fatal(err)
		}
		if r := s.wait(t); r.Status != tools.StatusOK {
			t.Fatal(r.Output)
		}
		other.Wait()
	})
}

func TestOnlyTheSamePersonForTheSameCallCanReport(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := f.open(t, "call_1")
		id := s.request.RequestID
		for _, c := range []struct {
			name   string
			person tools.Person
			report tools.OutcomeReport
			want   error
		}{
			{"another person", bob, tools.OutcomeReport{CallID: "call_1", RequestID: id, Outcome: tools.ScreenFound}, tools.ErrNoRequest},
			{"nobody", tools.Person{}, tools.OutcomeReport{CallID: "call_1", RequestID: id, Outcome: tools.ScreenFound}, tools.ErrPerson},
			{"another call", alice, tools.OutcomeReport{CallID: "call_2", RequestID: id, Outcome: tools.ScreenFound}, tools.ErrNoRequest},
			{"another session", alice, tools.OutcomeReport{CallID: "call_1", RequestID: id, Session: "sess-a2", Outcome: tools.ScreenFound}, tools.ErrNoRequest},
			{"a guessed request", alice, tools.OutcomeReport{CallID: "call_1", RequestID: "scr_1", Outcome: tools.ScreenFound}, tools.ErrNoRequest},
			{"no request", alice, tools.OutcomeReport{CallID: "call_1", Outcome: tools.ScreenFound}, tools.ErrNoRequest},
			{"success by another word", alice, tools.OutcomeReport{CallID: "call_1", RequestID: id, Outcome: "ok"}, tools.ErrOutcome},
			{"no word", alice, tools.OutcomeReport{CallID: "call_1", RequestID: id}, tools.ErrOutcome},
		} {
			if err := f.Outcome(t.Context(), c.person, c.report); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if r := s.wait(t); r.Status != tools.StatusPending {
			t.Fatal(r.Output)
		}
	})
}

func TestTheEndOfTheSessionLeavesARequestPending(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := f.open(t, "call_1")
		f.EndSession("sess-a")
		if r := s.wait(t); r.Status != tools.StatusPending || s.took != 0 {
			t.Fatalf("%s after %v", r.Output, s.took)
		}
		if err := f.report(alice, s, tools.ScreenFound); !errors.Is(err, tools.ErrNoRequest) {
			t.Fatalf("report after the end: %v", err)
		}
	})
}

func TestAPageThatCannotBeReached(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.page.err = fmt.Errorf("channel: %w", tools.ErrNoPage)
		if r := f.open(t, "call_1").wait(t); r.Status != tools.StatusFailed || !strings.Contains(r.Output, "No page is connected") {
			t.Fatal(r.Output)
		}
		f.page.err = errors.New("half way out")
		if r := f.open(t, "call_2").wait(t); r.Status != tools.StatusPending {
			t.Fatal(r.Output)
		}
	})
}

func TestAPageThatAnswersBeforeSendingIsOverIsHeard(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.page.onShow = func(r tools.ScreenRequest) {
			if err := f.Outcome(context.Background(), alice, tools.OutcomeReport{CallID: r.CallID, RequestID: r.RequestID, Outcome: tools.ScreenFound}); err != nil {
				t.Error(err)
			}
		}
		if r := f.open(t, "call_1").wait(t); r.Status != tools.StatusOK {
			t.Fatal(r.Output)
		}
	})
}

// In random orders of everything that can happen to screen requests, a request ends as ok exactly when the right person
// reported found for it while it was the newest, unexpired and uncancelled.
func TestSuccessIsReachedFromNoOtherPath(t *testing.T) {
	for seed := range uint64(400) {
		synctest.Test(t, func(t *testing.T) {
			f := newService(t)
			rng := rand.New(rand.NewPCG(seed, 1))
			type open struct {
				*showing
				expires time.Time
				over    bool
				want    tools.Status
			}
			var all []*open
			current := func() *open {
				if len(all) == 0 {
					return nil
				}
				return all[len(all)-1]
			}
			end := func(o *open, as tools.Status) {
				if o != nil && !o.over {
					o.over, o.want = true, as
				}
			}
			for range 12 {
				if o := current(); o != nil && !time.Now().Before(o.expires) {
					end(o, tools.StatusPending)
				}
				pick := current()
				if len(all) > 0 && rng.IntN(2) == 0 {
					pick = all[rng.IntN(len(all))]
				}
				switch n := rng.IntN(8); {
				case n < 2 || pick == nil:
					end(current(), tools.StatusPending)
					s := f.open(t, fmt.Sprintf("call_%d", len(all)))
					all = append(all, &open{showing: s, expires: s.started.Add(7 * time.Second)})
				case n == 2:
					if f.report(alice, pick.showing, tools.ScreenFound) == nil && !pick.over {
						end(pick, tools.StatusOK)
					}
				case n == 3:
					if f.report(alice, pick.showing, tools.ScreenNotFound) == nil && !pick.over {
						end(pick, tools.StatusNotFound)
					}
				case n == 4:
					if f.report(bob, pick.showing, tools.ScreenFound) == nil {
						t.Error("bob's report was taken")
					}
				case n == 5:
					pick.cancel()
					synctest.Wait()
					end(pick, tools.StatusPending)
				case n == 6:
					stolen := tools.OutcomeReport{CallID: current().request.CallID, RequestID: pick.request.RequestID, Outcome: tools.ScreenFound}
					if pick != current() && f.Outcome(t.Context(), alice, stolen) == nil {
						t.Error("an older request's answer was taken for a newer call")
					}
				case n == 7:
					time.Sleep(time.Duration(rng.IntN(4500)) * time.Millisecond)
				}
				synctest.Wait()
			}
			for _, o := range all {
				end(o, tools.StatusPending)
				if r := o.wait(t); r.Status != o.want {
					t.Errorf("seed %d: %s ended as %s, want %s", seed, r.CallID, r.Status, o.want)
				}
				if out, _ := f.RecordedOutput("sess-a", o.request.CallID); out != o.result.Output {
					t.Errorf("seed %d: the record is %s", seed, out)
				}
			}
		})
	}
}
