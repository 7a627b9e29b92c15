package effect

import (
	"errors"
	"testing"
)

func TestEveryClassHasAFloorAndADecision(t *testing.T) {
	want := map[Class]struct {
		floor    Ceiling
		decision Decision
		reads    bool
	}{
		Read:          {Free, Run, true},
		ReadSensitive: {Voice, Confirm, true},
		Screen:        {Free, Run, false},
		Local:         {Undo, Confirm, false},
		Shared:        {Voice, Confirm, false},
		External:      {Voice, Confirm, false},
		Sensitive:     {NeverByVoice, Never, false},
	}
	if len(Classes()) != len(want) {
		t.Fatalf("%d classes, want %d", len(Classes()), len(want))
	}
	for _, c := range Classes() {
		w := want[c]
		if c.Floor() != w.floor || Decide(c, c.Floor()) != w.decision || c.Reads() != w.reads {
			t.Errorf("%s: floor %s, decision %d, reads %v; want %+v", c, c.Floor(), Decide(c, c.Floor()), c.Reads(), w)
		}
	}
}

func TestNothingLowersACeiling(t *testing.T) {
	for _, class := range append(Classes(), "", "made_up") {
		for _, asked := range append(Ceilings(), "", "made_up") {
			got := class.Floor().Raise(asked)
			if got.Below(class.Floor()) {
				t.Errorf("%q raised to %q fell below its floor: %s", class, asked, got)
			}
			if Decide(class, asked) > Decide(class, class.Floor()) {
				t.Errorf("%q under %q is decided more freely than under its floor", class, asked)
			}
		}
	}
}

func TestWhatIsNotInTheTableIsRefused(t *testing.T) {
	for _, name := range []string{"", "Read", "READ", "read ", "write", "réad"} {
		if _, err := ParseClass(name); !errors.Is(err, ErrClass) {
			t.Errorf("class %q: %v", name, err)
		}
		if Decide(Class(name), Free) != Never {
			t.Errorf("class %q would be decided as something else than never", name)
		}
	}
	if _, err := ParseCeiling("Free"); !errors.Is(err, ErrCeiling) {
		t.Errorf("ceiling Free: %v", err)
	}
	if Decide(Read, "made_up") != Never {
		t.Error("a read under a made-up ceiling would run")
	}
	for _, c := range Ceilings() {
		if got, err := ParseCeiling(string(c)); err != nil || got != c {
			t.Errorf("ceiling %s: %v", c, err)
		}
	}
}
