package voice

import (
	"context"
	"math"
	"strings"
	"testing"
)

func TestSentencesJoinToTheTextAndStayShort(t *testing.T) {
	long := strings.Repeat("a long clause, which goes on and on ", 30) + "."
	for text, want := range map[string]int{
		"":                              0,
		"One.":                          1,
		"One. Two! Three? Four":         4,
		"The price is 3.50 euro. Done.": 2,
		"Am 3. Mai kam J. Novak. Gut.":  2,
		"Line one\nLine two":            2,
		"…and so on. ":                  1,
		"Ahoj. \n\n Tady Petr.":         2,
	} {
		got := Sentences(text)
		if strings.Join(got, "") != text {
			t.Errorf("%q becomes %q", text, got)
		}
		if len(got) != want {
			t.Errorf("%q: %d sentences: %q", text, len(got), got)
		}
	}
	got := Sentences(long)
	if strings.Join(got, "") != long || len(got) < 4 {
		t.Errorf("a long sentence becomes %d pieces", len(got))
	}
	for _, s := range got {
		if len(s) > maxSentence+1 {
			t.Errorf("a piece has %d bytes", len(s))
		}
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("One. Two, three.\n\nFour…")
	f.Fuzz(func(t *testing.T, text string) {
		if got := strings.Join(Sentences(text), ""); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

func TestResamplingKeepsATone(t *testing.T) {
	const hz = 1000
	in := make([]int16, 22050)
	for i := range in {
		in[i] = int16(10000 * math.Sin(2*math.Pi*hz*float64(i)/22050))
	}
	out := Resample(in, 22050, Rate)
	if n := len(out); n != Rate {
		t.Fatalf("a second has %d samples", n)
	}
	worst := 0.0
	for i := 100; i < len(out)-100; i++ {
		worst = max(worst, math.Abs(float64(out[i])-10000*math.Sin(2*math.Pi*hz*float64(i)/Rate)))
	}
	if worst > 20 {
		t.Errorf("a tone is off by %.0f of 10000", worst)
	}
}

func TestToneSaysEachWordForItsTime(t *testing.T) {
	s, err := Tone{}.Speak(context.Background(), Sentence{Text: "one two three"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Words) != 3 || s.Words[2].To != s.Duration() || "one two three"[s.Words[1].Start:s.Words[1].End] != "two " {
		t.Errorf("got %+v in %v", s.Words, s.Duration())
	}
}
