package recall_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hovor/gateway/provider/recall"
	"hovor/signaling/realtime"
)

func message(id, role, text string) realtime.Item {
	it := realtime.UserText(text)
	if role == realtime.RoleAssistant {
		it = realtime.AssistantText(text)
	}
	it.ID = id
	return it
}

func said(s *recall.Store) string {
	var out []string
	for _, it := range s.Said() {
		words := it.TextOf()
		if it.Type != realtime.ItemMessage {
			words = it.Type
		}
		out = append(out, it.ID+" "+words)
	}
	return strings.Join(out, ", ")
}

func TestItemsAreHandedOverInTheirOrder(t *testing.T) {
	var s recall.Store
	front, after := "root", "a"
	s.Put(message("a", realtime.RoleUser, "first"), nil)
	s.Put(message("c", realtime.RoleAssistant, "third"), nil)
	s.Put(message("b", realtime.RoleUser, "second"), &after)
	s.Put(message("z", realtime.RoleUser, "before all"), &front)
	s.Put(message("silent", realtime.RoleUser, ""), nil)
	if got := said(&s); got != "z before all, a first, b second, c third" {
		t.Error(got)
	}
	s.Text("silent", "what was said")
	s.Delete("b")
	if got := said(&s); got != "z before all, a first, c third, silent what was said" {
		t.Error(got)
	}
}

func TestWhatWasNotHeardIsNotHandedOver(t *testing.T) {
	var s recall.Store
	s.Put(message("a", realtime.RoleAssistant, ""), nil)
	s.Append("a", "one two three ")
	s.Append("a", "four five six")
	s.Cut("a", time.Second, 2*time.Second)
	s.Text("a", "one two three four five six seven") // the transcript comes whole, and late
	s.Put(message("a", realtime.RoleAssistant, "one two three four five six seven"), nil)
	if got := said(&s); got != "a one two" {
		t.Error(got)
	}
	s.Put(message("b", realtime.RoleAssistant, "žluťoučký kůň"), nil)
	s.Cut("b", 55*time.Millisecond, 100*time.Millisecond) // in the middle of a letter
	if got := said(&s); strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%q", got)
	}
}

func TestAnOutputGoesWithItsCallOnly(t *testing.T) {
	var s recall.Store
	call := realtime.Item{ID: "f", Type: realtime.ItemFunctionCall, CallID: "call_1", Name: "x", Arguments: "{}"}
	out := realtime.FunctionCallOutput("call_1", "{}")
	out.ID = "o"
	orphan := realtime.FunctionCallOutput("call_0", "{}")
	orphan.ID = "p"
	for _, it := range []realtime.Item{orphan, call, out} {
		s.Put(it, nil)
	}
	if got := said(&s); got != "f function_call, o function_call_output" {
		t.Error(got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var s recall.Store
	for i := range 10000 {
		s.Put(message(fmt.Sprint("i", i), realtime.RoleUser, strings.Repeat("x", 1000)), nil)
	}
	size := 0
	for _, it := range s.Said() {
		size += len(it.TextOf())
	}
	if size > 24<<10 || size < 20<<10 {
		t.Errorf("%d bytes are handed over", size)
	}
	if _, ok := s.Get("i0"); ok {
		t.Error("the oldest is still kept")
	}
}
