package clip

import (
	"errors"
	"math"
	"testing"
	"time"

	"hovor/cmd/hovor-load/internal/wav"
	"hovor/sfu/opus"
)

// tone is silence, a 400 Hz tone, silence.
func tone(rate int, before, sound, after time.Duration) *wav.Audio {
	n := func(d time.Duration) int { return int(d * time.Duration(rate) / time.Second) }
	pcm := make([]int16, n(before), n(before+sound+after))
	for i := range n(sound) {
		pcm = append(pcm, int16(8000*math.Sin(float64(i)*2*math.Pi*400/float64(rate))))
	}
	return &wav.Audio{Rate: rate, PCM: append(pcm, make([]int16, n(after))...)}
}

func TestMarkersExcludeSilence(t *testing.T) {
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		c, err := Encode("tone", tone(rate, 300*time.Millisecond, 700*time.Millisecond, 500*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if c.Start != 300*time.Millisecond || c.End != time.Second || len(c.Packets) != 75 {
			t.Fatalf("%d Hz: speech %v..%v in %d packets", rate, c.Start, c.End, len(c.Packets))
		}
	}
}

func TestMarkersExcludeNoiseAndClicks(t *testing.T) {
	a := tone(16000, 500*time.Millisecond, time.Second, 800*time.Millisecond)
	for i := range a.PCM {
		a.PCM[i] += int16((i*7919%200 - 100)) // noise at about -55 dBFS
	}
	for i := range 80 {
		a.PCM[1000+i] = 20000 // a click of 5 ms
	}
	start, end, ok := Speech(a.PCM, a.Rate)
	if !ok || start != 500*time.Millisecond || end != 1500*time.Millisecond {
		t.Fatalf("speech %v..%v", start, end)
	}
}

func TestSilentRecordingIsRefused(t *testing.T) {
	if _, err := Encode("nothing", &wav.Audio{Rate: 16000, PCM: make([]int16, 16000)}); !errors.Is(err, ErrSilent) {
		t.Fatal(err)
	}
}

func TestBuiltinSentence(t *testing.T) {
	c, err := Load(Builtin)
	if err != nil {
		t.Fatal(err)
	}
	if c.Start < 200*time.Millisecond || c.Start > 400*time.Millisecond || c.End < time.Second || c.End > c.Length()-200*time.Millisecond {
		t.Fatalf("speech %v..%v of %v", c.Start, c.End, c.Length())
	}
	if len(story) > 150<<10 {
		t.Fatalf("%d bytes", len(story))
	}
}

func TestRoomIsInaudible(t *testing.T) {
	room, err := Room()
	if err != nil {
		t.Fatal(err)
	}
	if l := decodedLevel(t, room); l > -55 || l < -90 {
		t.Fatalf("room noise decodes to %.1f dBFS", l)
	}
}

func decodedLevel(t *testing.T, packets [][]byte) float64 {
	t.Helper()
	dec, err := opus.NewDecoder(16000)
	if err != nil {
		t.Fatal(err)
	}
	var all []int16
	pcm := make([]int16, 1920)
	for _, p := range packets {
		n, err := dec.Decode(p, pcm)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pcm[:n]...)
	}
	return Level(all)
}

func TestMarkedPacketsSoundTheSame(t *testing.T) {
	c, err := Load(Builtin)
	if err != nil {
		t.Fatal(err)
	}
	marked := MarkableAll(c.Packets, 120)
	if len(marked) != len(c.Packets) {
		t.Fatalf("%d of %d packets can be marked", len(marked), len(c.Packets))
	}
	for i, p := range marked {
		want := Mark{Stream: 7, Number: uint32(i), Sent: time.Duration(i) * Frame}
		want.Put(p)
		if got, ok := ReadMark(p); !ok || got != want {
			t.Fatalf("packet %d: %+v, %v", i, got, ok)
		}
		if len(p) < 120 {
			t.Fatalf("packet %d has %d bytes", i, len(p))
		}
		if opus.Duration(p) != Frame {
			t.Fatalf("packet %d lasts %v", i, opus.Duration(p))
		}
	}
	if a, b := decodedLevel(t, c.Packets), decodedLevel(t, marked); a != b {
		t.Fatalf("%.2f dBFS became %.2f", a, b)
	}
	if _, ok := ReadMark(c.Packets[10]); ok {
		t.Fatal("a mark where none was put")
	}
}

func TestPutAllocatesNothing(t *testing.T) {
	p := make([]byte, 120)
	if n := testing.AllocsPerRun(100, func() { Mark{1, 2, 3}.Put(p) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
