package espeak

import (
	"time"

	"hovor/gateway/provider/local/voice"
)

// mark is where a word starts, in characters of the text and in time.
type mark struct{ char, ms int }

// align makes words that cover the whole text from the marks. A word ends where the next one starts.
func align(text string, marks []mark, total time.Duration) []voice.Word {
	offsets := make([]int, 0, len(text)+1) // byte offset of every character
	for i := range text {
		offsets = append(offsets, i)
	}
	var words []voice.Word
	for _, m := range marks {
		if m.char < 0 || m.char >= len(offsets) {
			continue
		}
		start, from := offsets[m.char], min(time.Duration(m.ms)*time.Millisecond, total)
		if n := len(words); n > 0 {
			last := &words[n-1]
			if start <= last.Start || from < last.From {
				continue // a mark inside the word before it, such as a number read in parts
			}
			last.End, last.To = start, from
		} else {
			start = 0
		}
		words = append(words, voice.Word{Start: start, From: from})
	}
	if len(words) == 0 {
		return []voice.Word{{Start: 0, End: len(text), From: 0, To: total}}
	}
	words[len(words)-1].End, words[len(words)-1].To = len(text), total
	return words
}
