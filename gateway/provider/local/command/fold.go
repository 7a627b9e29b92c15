package command

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold makes two spellings of one thing equal: lower case, no diacritics, no punctuation, single spaces.
func Fold(s string) string {
	var b strings.Builder
	space := false
	for _, r := range norm.NFD.String(strings.ToLower(s)) {
		switch {
		case unicode.Is(unicode.Mn, r):
			continue
		case r == '\'' || r == '’':
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			if r == 'ß' {
				b.WriteString("ss")
				continue
			}
			b.WriteRune(r)
		default:
			space = true
		}
	}
	return b.String()
}
