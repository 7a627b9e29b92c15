package demo

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

type hit struct {
	document document
	passage  string // the best one; empty without a query
	score    int
}

// search returns the documents that have a word of the query in their title or text, best first, each with its best
// passage. Words match without case and accents, and longer ones also by their beginning, because Czech and Russian
// change the endings. An empty query returns every document in order.
func search(documents []document, query string) []hit {
	terms := words(query)
	var out []hit
	for _, d := range documents {
		h := hit{document: d}
		if len(terms) > 0 {
			h.score = 3 * matches(terms, d.Title+" "+d.ID+" "+strings.Join(d.Spoken, " "))
			best := 0
			for _, p := range d.Passages {
				n := matches(terms, p)
				if h.passage == "" || n > best {
					h.passage, best = p, n
				}
				h.score += n
			}
			if h.score == 0 {
				continue
			}
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b hit) int { return b.score - a.score })
	return out[:min(len(out), limit(terms))]
}

func limit(terms []string) int {
	if len(terms) == 0 {
		return 1 << 30
	}
	return 5
}

// matches counts the terms that text has.
func matches(terms []string, text string) (n int) {
	have := words(text)
	for _, t := range terms {
		if slices.ContainsFunc(have, func(w string) bool { return alike(t, w) }) {
			n++
		}
	}
	return n
}

// alike compares two folded words: equal, or with the same beginning up to the last two letters of the shorter one, the last
// one of a word of five.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	stem := min(len(x), len(y)) - 2
	if stem == 3 { // of a short word two letters are too much to differ in: "banana" is no "banka"
		stem++
	}
	return stem >= 3 && max(len(x), len(y))-stem <= 4 && slices.Equal(x[:stem], y[:stem])
}

// words splits text into folded words of two letters and more, without the small words that every text has.
func words(text string) (out []string) {
	folded := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
	for _, w := range strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len([]rune(w)) > 1 && !slices.Contains(small, w) {
			out = append(out, w)
		}
	}
	return out
}

var small = strings.Fields(`the and of to in is it for that with was not are be this as on by at an or what how about do does we
 se na je ze za do to co jak si ke ve po od aby kdo kde pro ma der die das und ist ein eine mit den dem nicht was wie wer im zu
 auf fur von es sich что как это на по не для кто где из мы он она они`)
