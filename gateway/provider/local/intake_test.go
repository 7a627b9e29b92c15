package local

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hovor/gateway/provider/local/ear"
)

// TestAudioMayComeInAnyPieces: an event may end in the middle of a sample.
func TestAudioMayComeInAnyPieces(t *testing.T) {
	for _, f := range []form{formPCM, formPCMU, formPCMA} {
		octets := sound(t, f, 700*time.Millisecond, 310*time.Millisecond)
		listen := func(cut func(left int) int) (pcm []int16, sizes []int, kept int) {
			in, err := newIntake(f)
			if err != nil {
				t.Fatal(err)
			}
			hear := func(frame []int16, pos time.Duration) {
				if want := time.Duration(len(pcm)) * time.Second / ear.Rate; pos != want {
					t.Fatalf("a frame stands at %v, want %v", pos, want)
				}
				pcm, sizes = append(pcm, frame...), append(sizes, len(frame))
			}
			for rest := octets; len(rest) > 0; {
				n := cut(len(rest))
				in.add(rest[:n:n], hear)
				rest = rest[n:]
			}
			in.flush(hear)
			return pcm, sizes, len(in.record.take(time.Hour))
		}
		whole, sizes, kept := listen(func(left int) int { return left })
		if len(whole) != ear.Rate*1010/1000 || kept != len(octets) {
			t.Errorf("form %d: %d samples of 1010 ms, %d of %d octets kept", f, len(whole), kept, len(octets))
		}
		if n := len(sizes); n != 51 || sizes[n-1] != frameAtEar/2 || slices.ContainsFunc(sizes[:n-1], func(s int) bool { return s != frameAtEar }) {
			t.Errorf("form %d: frames of %v", f, sizes)
		}
		seed := rand.New(rand.NewPCG(1, uint64(f)))
		pieces, _, _ := listen(func(left int) int { return 1 + seed.IntN(min(left, 999)) })
		if !slices.Equal(whole, pieces) {
			t.Errorf("form %d: what is heard depends on the pieces", f)
		}
	}
}

// TestARecordForgetsTheOldest keeps a long silence before the first word out of memory.
func TestARecordForgetsTheOldest(t *testing.T) {
	r := record{octets: 8}
	for range 90 {
		r.add(make([]byte, 8000))
	}
	r.begin(80 * time.Second)
	if got := r.take(85 * time.Second); len(got) != 5*8000 {
		t.Errorf("%d octets of the five seconds", len(got))
	}
	if got := r.take(time.Hour); len(got) != 5*8000 {
		t.Errorf("%d octets of the five seconds behind them", len(got))
	}
	for range 90 {
		r.add(make([]byte, 8000))
	}
	if got := r.take(time.Hour); len(got) != 60*8000 {
		t.Errorf("%d octets are remembered of 90 s", len(got))
	}
}

// TestAConversationForgetsTheOldestSound bounds what a session remembers for conversation.item.retrieve.
func TestAConversationForgetsTheOldestSound(t *testing.T) {
	c := newConversation()
	var entries []*entry
	for range 5 {
		e := &entry{sound: make([]byte, 1<<20)}
		entries = append(entries, e)
		c.remember(e)
	}
	total := 0
	for _, e := range entries {
		total += len(e.sound)
	}
	if entries[0].sound != nil || entries[4].sound == nil || total > maxSound {
		t.Errorf("%d octets are remembered", total)
	}
}
