package host

import (
	"os"
	"testing"
	"time"
)

func TestStatSurvivesAHostileName(t *testing.T) {
	got, err := parseStat("42 (a) R 9 9) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 5 0 100 1000 10")
	if err != nil || got != 2*time.Second {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := parseStat("42 (a"); err == nil {
		t.Fatal("half a line was read")
	}
}

func TestQuota(t *testing.T) {
	for s, want := range map[string]float64{"150000 100000\n": 1.5, "max 100000": 0, "-1 100000": 0, "": 0, "100000 0": 0} {
		if got, _ := parseCPUMax(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
	if Quota() <= 0 {
		t.Error("no quota")
	}
}

func TestOwnFigures(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc on this system")
	}
	if _, err := CPU(os.Getpid()); err != nil {
		t.Error(err)
	}
	if rss, err := RSS(os.Getpid()); err != nil || rss < 1<<20 {
		t.Errorf("%d bytes, %v", rss, err)
	}
	if OwnCPU() <= 0 || HostTicks().All == 0 {
		t.Error("no CPU time")
	}
	if _, err := CPU(-1); err == nil {
		t.Error("a process that does not exist was read")
	}
	if (Ticks{}).Since(Ticks{}) != -1 || (Ticks{Busy: 5, All: 10}).Since(Ticks{}) != 0.5 {
		t.Error("share of busy time")
	}
}
