package voice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSentence bounds, in bytes, what is synthesized in one piece, so that the first sound never waits for a long text.
const maxSentence = 240

// Sentences cuts a text where a speaker would breathe: after . ! ? and line ends, and in a long sentence after a comma or
// a blank. Joined, the pieces are the text.
func Sentences(text string) []string {
	var out []string
	for len(text) > 0 {
		n := sentenceEnd(text)
		if n > maxSentence {
			n = breath(text[:n])
		}
		for n < len(text) && isBlank(text[n]) {
			n++
		}
		if strings.TrimSpace(text[:n]) == "" && len(out) > 0 {
			out[len(out)-1] += text[:n]
		} else {
			out = append(out, text[:n])
		}
		text = text[n:]
	}
	return out
}

func sentenceEnd(text string) int {
	for i, r := range text {
		switch r {
		case '\n':
			return i + 1
		case '.', '!', '?', '…':
			end := i + utf8.RuneLen(r)
			if end == len(text) {
				return end
			}
			if isBlank(text[end]) && !abbreviated(text[:i]) {
				return end
			}
		}
	}
	return len(text)
}

// abbreviated reports that the dot belongs to an initial or a number ("J.", "3. května"): no breath is taken there.
func abbreviated(before string) bool {
	i := strings.LastIndexAny(before, " \n\t") + 1
	word := before[i:]
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r) || unicode.IsDigit(r)
	}
	return word != "" && strings.Trim(word, "0123456789") == "" && len(word) <= 2
}

// breath finds the last comma, else the last blank, before the limit.
func breath(text string) int {
	head := text[:maxSentence]
	for _, cut := range []string{",;:", " "} {
		if i := strings.LastIndexAny(head, cut); i > maxSentence/4 {
			return i + 1
		}
	}
	n := maxSentence
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

func isBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }
