package tools

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// lookAlike reports whether a stranger's key could be taken for a known one: by letter case, by compatibility form
// (full-width letters and the like), by separators, or by a letter of another script that looks the same.
func lookAlike(stranger, known string) bool {
	return stranger != known && skeleton(stranger) == skeleton(known)
}

func skeleton(s string) string {
	s = strings.ToLower(norm.NFKD.String(s))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-' || r == ' ' || r == '\u200b' || r == '\u200c' || r == '\u200d' || r == '\ufeff' || r == '\u00ad':
			return -1
		case r >= 0x300 && r <= 0x36f: // combining marks left by NFKD
			return -1
		}
		if twin, ok := twins[r]; ok {
			return twin
		}
		return r
	}, s)
}

// Cyrillic and Greek letters that look like Latin ones in common fonts, lower case.
var twins = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm', 'н': 'h',
	'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x',
	'α': 'a', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'ı': 'i',
}
