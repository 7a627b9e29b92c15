package dialogue

import (
	"slices"
	"strings"

	"hovor/gateway/provider/local/command"
)

// questions begin a question, whatever the language it was taken for; after one of the links they do so too.
var questions = set(`who whom whose what which when where why how
	kdo koho komu kým čím co čeho čemu kde kdy kam kudy odkud jak jaký jaká jaké jakou jakého proč kolik který která které kterou čí
	wer wen wem wessen was wann wo woher wohin womit wofür wie wieso warum weshalb wieviel welche welcher welches welchen welchem
	кто кого кому кем чем что чего когда где куда откуда как какой какая какое какие какую почему зачем сколько чей чья чьи`)

var links = set(`and but so in at on to from with for a ale i na o s v k u od do pro za po und aber in an auf von mit für bei zu и а но у о об в на с от для по к`)

// openings of one language begin a question or a request there; elsewhere the same letters may be another word.
var openings = map[string]map[string]bool{
	"en": set(`is are was were do does did can could will would should has have may must please tell show explain give find look`),
	"cs": set(`existuje můžu můžeme smím smíme musím musíme prosím řekni řekněte vysvětli vysvětlete ukaž ukažte najdi dej dejte`),
	"de": set(`ist sind gibt kann können darf dürfen muss müssen soll sollen hat haben wird werden bitte sag sage sagen erkläre erklär erklären zeig zeige zeigen`),
	"ru": set(`есть можно нужно надо пожалуйста скажи скажите объясни объясните покажи покажите расскажи расскажите дай дайте`),
}

// small words say nothing of what a text is about.
var small = set(`a an the of and or to in on at for from with by about is are was were be do does did can could will would should has have it its this that there me us you your my our please
	a i o na v ve s se k ke u z ze do od po pro za si je jsou byl byla bylo to ten ta ty tom mi mě nám vás nás prosím li
	der die das den dem des ein eine einen einem einer und oder zu zum zur im in am an auf für von mit bei über ist sind war gibt es er sie ich wir uns mir man bitte
	и а в во на с со о об у к по от для из за ли не это мы он она они мне нам нас вы вас есть пожалуйста`)

// persons are words by which somebody tells of their own work.
var persons = set(`i we our us já my jsem jsme máme nám náš naše ich wir unser unsere я мы наш наша наши нас`)

const (
	tellingWords  = 4  // say something, where fewer only name it
	personalWords = 3  // are enough with one of the persons
	askingWords   = 12 // and more, without a question mark, tell
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[command.Fold(w)] = true
	}
	return out
}

// asks reports whether text is a question or a request, by its mark or by how it begins.
func asks(language, text string) bool {
	if strings.HasSuffix(strings.TrimRight(text, " \t\n\"'“”»)!."), "?") {
		return true
	}
	words := strings.Fields(command.Fold(text))
	if len(words) == 0 || len(words) > askingWords {
		return false
	}
	first, next := words[0], ""
	if len(words) > 1 {
		next = words[1]
	}
	switch {
	case first == "when": // "when the bikes come back" tells, "when do the bikes come back" asks
		return openings["en"][next]
	case first == "когда" && strings.Contains(text, ","):
		return false
	case questions[first]:
		return next != "i" && next != "we" && next != "ich" && next != "wir"
	}
	return openings[language][first] || links[first] && questions[next] || next == "ли"
}

// tells reports whether text says something of its own, and does not only name a thing.
func tells(text string) bool {
	words := strings.Fields(command.Fold(text))
	return len(words) >= tellingWords || len(words) >= personalWords && slices.ContainsFunc(words, func(w string) bool { return persons[w] })
}

// subject is what a question is about: the text without the words by which it asks, as it was written.
func subject(language, text string) string {
	words := strings.Fields(text)
	for len(words) > 0 {
		w := command.Fold(words[0])
		if w != "" && !questions[w] && !openings[language][w] && !small[w] {
			break
		}
		words = words[1:]
	}
	return strings.Trim(strings.Join(words, " "), " \t.,:;!?…\"'„“”«»()")
}

// ordinals are the ways to choose from a list, by place.
var ordinals = []map[string]bool{
	set(`1 first první erste ersten erstes первый первое`), set(`2 second druhý druhou druhé zweite zweiten zweites второй второе`),
	set(`3 third třetí dritte dritten drittes третий третье`), set(`4 fourth čtvrtý čtvrtou čtvrté vierte vierten viertes четвёртый четвертый`),
	set(`5 fifth pátý pátou páté fünfte fünften fünftes пятый`),
}

// ordinal is the place that a few words choose, from 0; -1 = none.
func ordinal(text string) int {
	words := strings.Fields(command.Fold(text))
	for i, names := range ordinals {
		if len(words) <= 3 && slices.ContainsFunc(words, func(w string) bool { return names[w] }) {
			return i
		}
	}
	return -1
}

// meaningful are the folded words of a text that say what it is about.
func meaningful(text string) []string {
	return slices.DeleteFunc(strings.Fields(command.Fold(text)), func(w string) bool { return small[w] || len(w) < 2 })
}

// common counts the wanted words that text has.
func common(wanted []string, text string) (n int) {
	have := strings.Fields(command.Fold(text))
	for _, w := range wanted {
		if slices.ContainsFunc(have, func(h string) bool { return alike(w, h) }) {
			n++
		}
	}
	return n
}

// alike compares two folded words: equal, or of one beginning with different endings, as Czech, German and Russian have them.
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

// maxExcerpt in characters is what is said of a passage.
const maxExcerpt = 400

// excerpt is the sentence of a passage with most of the wanted words, or two neighbours when they have more together.
func excerpt(wanted []string, passage string) string {
	list := sentences(passage)
	best, most := "", -1
	for size := 1; size <= 2; size++ {
		for i := 0; i+size <= len(list); i++ {
			part := strings.Join(list[i:i+size], " ")
			if n := common(wanted, part); n > most {
				best, most = part, n
			}
		}
	}
	if r := []rune(best); len(r) > maxExcerpt {
		best = string(r[:maxExcerpt])
		best = strings.TrimRight(best[:max(strings.LastIndexByte(best, ' '), 0)], " ,;:") + "…"
	}
	return best
}

func sentences(text string) (out []string) {
	var words []string
	for _, w := range strings.Fields(text) {
		words = append(words, w)
		if strings.ContainsAny(w[len(w)-1:], ".!?") {
			out, words = append(out, strings.Join(words, " ")), nil
		}
	}
	if len(words) > 0 {
		out = append(out, strings.Join(words, " "))
	}
	return out
}
