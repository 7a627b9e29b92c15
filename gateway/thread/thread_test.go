package thread

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a store that writes, and a function that stops it in good order.
func running(t *testing.T, path string) (*Store, func()) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Run(ctx) })
	stop := sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return s, stop
}

func item(id string, seq float64, role Role, text string) Item {
	return Item{ID: id, Seq: seq, Role: role, Kind: Spoken, Text: Words(text), Complete: true, CallID: "rtc_1", At: time.UnixMilli(1000)}
}

func put(t *testing.T, h *Handle, items ...Item) {
	t.Helper()
	for _, it := range items {
		if err := h.Put(it); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func words(th *Thread) string {
	var b strings.Builder
	for _, it := range th.Items {
		fmt.Fprintf(&b, "%s:%s|", it.Role, string(it.Text))
	}
	return b.String()
}

func TestAThreadIsOrderedByItemAndSurvivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d.db")
	s, stop := running(t, path)
	h, err := s.Create(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	put(t, h, item("a1", 2, Assistant, "an ans"), item("u2", 3, User, "second"), item("u1", 1, User, "first, though it came last"), item("u3", 2.5, User, "between"))
	cut := item("a1", 99, Assistant, "an answer")
	cut.Complete, cut.Audio = false, 1234*time.Millisecond
	put(t, h, cut)
	stop()

	s, _ = running(t, path)
	th, err := s.Get(t.Context(), "alice", h.ID())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := words(th), "user:first, though it came last|assistant:an answer|user:between|user:second|"; got != want {
		t.Errorf("thread %s\nwant   %s", got, want)
	}
	if it := th.Items[1]; it.Complete || it.Audio != 1234*time.Millisecond || it.CallID != "rtc_1" || !it.At.Equal(time.UnixMilli(1000)) || it.Seq != 2 {
		t.Errorf("item %+v", it)
	}
	again, err := s.Resume(t.Context(), "alice", h.ID())
	if err != nil {
		t.Fatal(err)
	}
	if again.Base() != 3 {
		t.Errorf("base %v", again.Base())
	}
	if hist := again.History(2, 1000); len(hist) != 2 || hist[1].ID != "u2" {
		t.Errorf("history %+v", hist)
	}
	if hist := again.History(10, 12); len(hist) != 1 {
		t.Errorf("history of at most 12 bytes: %+v", hist)
	}
}

func TestAThreadIsItsPersonsOnly(t *testing.T) {
	s, _ := running(t, ":memory:")
	h, err := s.Create(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	put(t, h, item("u1", 1, User, "a secret"))
	for _, c := range []struct{ person, id string }{{"bob", h.ID()}, {"", h.ID()}, {"alice", "thread_none"}, {"alice", "' OR 1=1 --"}} {
		if _, err := s.Get(t.Context(), c.person, c.id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q reads %q: %v", c.person, c.id, err)
		}
		if _, err := s.Resume(t.Context(), c.person, c.id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q resumes %q: %v", c.person, c.id, err)
		}
	}
	if l, err := s.List(t.Context(), "bob", 10); err != nil || len(l) != 0 {
		t.Errorf("bob lists %v, %v", l, err)
	}
	if l, err := s.List(t.Context(), "alice", 10); err != nil || len(l) != 1 || l[0].Items != 1 {
		t.Errorf("alice lists %v, %v", l, err)
	}
}

func TestASlowDiskNeverHoldsAConversation(t *testing.T) {
	s, err := Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h, err := s.Create(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	for i := range queueLen { // nobody writes
		if err := h.Put(item(fmt.Sprint("u", i), float64(i), User, "x")); err != nil {
			t.Fatalf("put %d: %v", i, err)
		}
	}
	if err := h.Put(item("more", 1, User, "x")); !errors.Is(err, ErrQueueFull) {
		t.Errorf("put into a full queue: %v", err)
	}
	if dropped, _ := s.Lost(); dropped != 1 {
		t.Errorf("dropped %d", dropped)
	}
}

func TestAnItemCanBeForgotten(t *testing.T) {
	s, _ := running(t, ":memory:")
	h, err := s.Create(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	put(t, h, item("a1", 1, Assistant, "never heard"))
	if err := h.Remove("a1"); err != nil {
		t.Fatal(err)
	}
	put(t, h, item("u1", 2, User, "hello"))
	th, err := s.Get(t.Context(), "alice", h.ID())
	if err != nil || words(th) != "user:hello|" {
		t.Errorf("%s, %v", words(th), err)
	}
}

func TestManyCallsWriteAtOnce(t *testing.T) {
	s, _ := running(t, filepath.Join(t.TempDir(), "t.db"))
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			h, err := s.Create(context.Background(), fmt.Sprint("p", c))
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 100 {
				if err := h.Put(item(fmt.Sprint("u", i), float64(i), User, "words")); err != nil {
					t.Error(err)
				}
			}
			if err := h.Flush(context.Background()); err != nil {
				t.Error(err)
			}
			if th, err := s.Get(context.Background(), fmt.Sprint("p", c), h.ID()); err != nil || len(th.Items) != 100 {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	if d, f := s.Lost(); d+f != 0 {
		t.Errorf("lost %d %d", d, f)
	}
}

func TestWhatIsNoItemIsRefused(t *testing.T) {
	s, _ := running(t, ":memory:")
	h, err := s.Create(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	for name, it := range map[string]Item{
		"no id":      item("", 1, User, "x"),
		"a stranger": item("x", 1, Role("system"), "x"),
		"no kind":    {ID: "x", Role: User},
		"too long":   item("x", 1, User, strings.Repeat("x", MaxText+1)),
	} {
		if err := h.Put(it); !errors.Is(err, ErrInvalidItem) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWordsPrintAsALength(t *testing.T) {
	it := item("u1", 1, User, "canary words")
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "words", it.Text)
	for _, s := range []string{fmt.Sprint(it.Text), fmt.Sprintf("%v %+v %#v %s %q", it, it, it.Text, it.Text, it.Text), log.String()} {
		if strings.Contains(s, "canary") {
			t.Errorf("what was said was printed: %s", s)
		}
	}
}

func TestOnlyItsOwnerMayReadTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	s, _ := running(t, path)
	h, err := s.Create(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	put(t, h, item("u1", 1, User, "words"))
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		f, err := os.Stat(name)
		if err != nil || f.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", filepath.Base(name), f.Mode(), err)
		}
	}
}

func TestACallThatDidNotComeAboutLeavesNoThread(t *testing.T) {
	s, _ := running(t, ":memory:")
	spoken, err := s.Create(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	put(t, spoken, item("u1", 1, User, "words"))
	silent, err := s.Create(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	if l, err := s.List(t.Context(), "alice", 10); err != nil || len(l) != 1 || l[0].ID != spoken.ID() {
		t.Errorf("the list holds a thread in which nobody spoke: %v, %v", l, err)
	}
	for _, h := range []*Handle{spoken, silent} {
		if err := s.Discard(t.Context(), h); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Get(t.Context(), "alice", silent.ID()); !errors.Is(err, ErrNotFound) {
		t.Errorf("the silent one: %v", err)
	}
	if th, err := s.Get(t.Context(), "alice", spoken.ID()); err != nil || words(th) != "user:words|" {
		t.Errorf("what was said is gone: %v", err)
	}
}

func TestWhatTheDiskRefusesIsTold(t *testing.T) {
	s, err := Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	var refused int
	s.Refused = func(err error, n int) {
		refused += n
		if strings.Contains(err.Error(), "words") {
			t.Errorf("the reason holds what was said: %v", err)
		}
	}
	h := &Handle{store: s, id: "thread_nobody_made"}
	if err := h.Put(item("u1", 1, User, "words")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := errors.Join(s.Run(ctx), s.Close()); err != nil || refused != 1 {
		t.Errorf("%d refused, %v", refused, err)
	}
}
