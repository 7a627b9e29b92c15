package provider

import "testing"

func TestEveryClassHasASentence(t *testing.T) {
	for _, c := range Classes {
		if (&Error{Class: c}).Sentence() == "" {
			t.Errorf("%s has no sentence for the person", c)
		}
	}
	if len(sentences) != len(Classes) {
		t.Errorf("%d sentences for %d classes", len(sentences), len(Classes))
	}
	if AsError(nil) != nil {
		t.Error("no error became one")
	}
}
