package ear

import (
	"context"
	"testing"
)

func TestScriptedHearsEachUtteranceOnce(t *testing.T) {
	e := NewScripted("one", "", "two")
	for i, want := range []struct{ id, text string }{{"a", "one"}, {"a", "one"}, {"b", ""}, {"c", "two"}, {"d", ""}, {"a", "one"}} {
		if got, err := e.Recognize(context.Background(), Utterance{ID: want.id}); err != nil || got.Text != want.text {
			t.Errorf("%d: heard %q, want %q (%v)", i, got.Text, want.text, err)
		}
	}
}
