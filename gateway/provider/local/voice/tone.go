package voice

import (
	"context"
	"math"
	"strings"
	"time"
)

// Tone is a deterministic voice for tests: every word is a tone of a fifth of a second and a twentieth of silence.
type Tone struct {
	PerWord time.Duration // 0 = 250 ms; a multiple of 20 ms keeps frames and words aligned
}

// Speak implements Voice. It takes no time.
func (t Tone) Speak(ctx context.Context, s Sentence) (*Speech, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	per := t.PerWord
	if per == 0 {
		per = 250 * time.Millisecond
	}
	samples := int(per * Rate / time.Second)
	out := &Speech{}
	for i, w := range splitWords(s.Text) {
		from := time.Duration(i) * per
		out.Words = append(out.Words, Word{Start: w[0], End: w[1], From: from, To: from + per})
		hz := 300 + 50*float64(i%8)
		for k := range samples {
			v := 0.0
			if k < samples*4/5 {
				v = 9000 * math.Sin(2*math.Pi*hz*float64(k)/Rate)
			}
			out.PCM = append(out.PCM, int16(v))
		}
	}
	return out, nil
}

// splitWords cuts a text at blanks; a word keeps the blanks behind it.
func splitWords(text string) [][2]int {
	var out [][2]int
	start := 0
	for start < len(text) {
		end := start
		for end < len(text) && !strings.ContainsRune(" \n\t", rune(text[end])) {
			end++
		}
		for end < len(text) && strings.ContainsRune(" \n\t", rune(text[end])) {
			end++
		}
		out = append(out, [2]int{start, end})
		start = end
	}
	return out
}
