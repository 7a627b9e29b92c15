package g711

import (
	"math"
	"testing"
)

// voiced is a buzz with three harmonics whose pitch drifts, roughly as a voice does.
func voiced(n int) []int16 {
	pcm := make([]int16, n)
	phase := 0.0
	for i := range pcm {
		phase += 2 * math.Pi * (120 + 15*math.Sin(float64(i)/3000)) / Rate
		pcm[i] = int16(5000*math.Sin(phase) + 2500*math.Sin(2*phase+1) + 1200*math.Sin(5*phase))
	}
	return pcm
}

func TestConcealmentIsNearerToTheVoiceThanSilence(t *testing.T) {
	const frame = 160
	voice := voiced(frame * 200)
	var c Concealer
	var guessed, silent float64
	for i := 0; i < len(voice); i += frame {
		real := voice[i : i+frame]
		if i/frame%10 != 9 {
			c.Received(append([]int16(nil), real...))
			continue
		}
		var made [frame]int16
		c.Conceal(made[:])
		for j, v := range real {
			guessed += math.Pow(float64(v)-float64(made[j]), 2)
			silent += float64(v) * float64(v)
		}
	}
	if db := 10 * math.Log10(silent/guessed); db < 3 {
		t.Errorf("a concealed frame is only %.1f dB nearer to the voice than silence", db)
	}
}

func TestALongLossFadesToSilence(t *testing.T) {
	var c Concealer
	c.Received(voiced(800))
	var made [160]int16
	level := func() (e float64) {
		c.Conceal(made[:])
		for _, v := range made {
			e += float64(v) * float64(v)
		}
		return math.Sqrt(e / 160)
	}
	first, second, third, fourth := level(), level(), level(), level()
	if first < 2000 || second >= first || third >= second || fourth != 0 {
		t.Errorf("levels %.0f %.0f %.0f %.0f", first, second, third, fourth)
	}
}

func TestTheSeamsDoNotClick(t *testing.T) {
	voice := voiced(1600)
	largest := 0
	for i := range voice[1:] {
		largest = max(largest, abs(int(voice[i+1])-int(voice[i])))
	}
	var c Concealer
	c.Received(append([]int16(nil), voice[:800]...))
	made := make([]int16, 320)
	c.Conceal(made[:160])
	copy(made[160:], voice[960:1120])
	c.Received(made[160:])
	last := int(voice[799])
	for i, v := range made {
		if step := abs(int(v) - last); step > 2*largest {
			t.Fatalf("a step of %d at sample %d; the voice's own largest is %d", step, i, largest)
		}
		last = int(v)
	}
}

func TestConcealmentOfNothingIsSilence(t *testing.T) {
	var c Concealer
	made := []int16{1, 2, 3}
	c.Conceal(made)
	if made[0] != 0 || made[2] != 0 {
		t.Error("a guess without a past")
	}
	if a := testing.AllocsPerRun(50, func() { c.Conceal(made); c.Received(made) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func abs(v int) int { return max(v, -v) }
