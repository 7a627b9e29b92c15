package language

import (
	"strings"
	"unicode"
)

// Languages that can be answered in.
const (
	English = "en"
	Czech   = "cs"
	German  = "de"
	Russian = "ru"
)

// Known reports whether code is one of the four.
func Known(code string) bool {
	return code == English || code == Czech || code == German || code == Russian
}

// OfVoice reads a language from a voice name: "cs", "cs-CZ", "de_DE". "" when the name says none.
func OfVoice(name string) string {
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "-")
	if Known(code) {
		return code
	}
	return ""
}

const (
	czechOnly  = "ěščřžůťďň"
	germanOnly = "äöüß"
)

// words that carry a language, without diacritics too where people leave them out.
var words = map[string]string{}

func init() {
	for code, list := range map[string]string{
		English: "the a an is are was were what which who how why when where please yes no hello open show read me my you your and of for with this that do does can could would it not about tell",
		Czech: "je jsou byl byla bylo co kdo jak proc kdy kde prosim ano ne ahoj dobry den dobre otevri otevrete ukaz ukazte precti prectete mi me muj tvuj a ve na pro s se si ten ta to tento dokument proces " +
			"hledej najdi jake jaky ktere procesy zmenilo zpravu zverejni smaz projekt dekuji diky umis rekni vypravej prosím už když že jsem jsi",
		German:  "der die das den dem ein eine ist sind war was wer wie warum wann wo bitte ja nein hallo offne oeffne zeige zeig lies mir mein und fur mit nicht dokument suche welche prozesse danke guten tag ich du sie es auf im geschichte",
		Russian: "и в на не что кто как",
	} {
		for _, w := range strings.Fields(list) {
			if _, taken := words[w]; taken {
				words[w] = "" // in two languages: says nothing
				continue
			}
			words[w] = code
		}
	}
}

// Detect guesses. It returns "" when the text gives no reason, or as much for one language as for another.
func Detect(text string) string {
	lower := strings.ToLower(text)
	score := map[string]int{}
	letters := 0
	for _, r := range lower {
		switch {
		case unicode.Is(unicode.Cyrillic, r):
			score[Russian] += 2
		case strings.ContainsRune(czechOnly, r):
			score[Czech] += 3
		case strings.ContainsRune(germanOnly, r):
			score[German] += 3
		case strings.ContainsRune("áéíóúý", r):
			score[Czech]++
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	for _, w := range strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		if code := words[w]; code != "" {
			score[code] += 2
		} else if code := words[plain(w)]; code != "" {
			score[code] += 2
		}
	}
	best, second := "", 0
	for _, code := range []string{English, Czech, German, Russian} {
		switch n := score[code]; {
		case best == "" || n > score[best]:
			if best != "" {
				second = score[best]
			}
			best = code
		case n > second:
			second = n
		}
	}
	if letters == 0 || score[best] < 2 || score[best] == second {
		return ""
	}
	return best
}

// plain drops the diacritics of Czech and German letters.
func plain(w string) string {
	return strings.NewReplacer("á", "a", "č", "c", "ď", "d", "é", "e", "ě", "e", "í", "i", "ň", "n", "ó", "o", "ř", "r", "š", "s",
		"ť", "t", "ú", "u", "ů", "u", "ý", "y", "ž", "z", "ä", "a", "ö", "o", "ü", "u", "ß", "ss").Replace(w)
}
