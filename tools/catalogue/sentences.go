package catalogue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Saying names an outcome that has a sentence. Each tool status is one; the others say more exactly what a status means.
type Saying string

const (
	SayOK           Saying = "ok"
	SayNotFound     Saying = "not_found"
	SayPending      Saying = "pending"
	SayConfirmation Saying = "confirmation_required"
	SayDenied       Saying = "denied"
	SayInvalid      Saying = "invalid"
	SayFailed       Saying = "failed"
	SayUncertain    Saying = "uncertain"

	SayNeverByVoice Saying = "never_by_voice" // denied, by class
	SayUnknownTool  Saying = "unknown_tool"   // invalid, by name
	SayReusedID     Saying = "reused_call_id" // invalid, the id belongs to another call
	SayNoPage       Saying = "no_page"        // failed, nobody could show it
	SayForgotten    Saying = "forgotten"      // failed, the result is no longer kept
	SayCut          Saying = "cut"            // ok, the result was shortened
)

// Languages is the closed set of languages that every sentence exists in. The first is used for any other.
var Languages = []string{"en", "cs", "de", "ru"}

// What may be said when the file has nothing better. Each sentence claims what the status proves and no more.
var defaults = sentences{
	"en": {
		SayOK:           "It is done.",
		SayNotFound:     "There is nothing of that name that you can see.",
		SayPending:      "The page has not answered, so nobody knows whether it is on the screen.",
		SayConfirmation: "Nothing has been done. This needs a confirmation, and it cannot be given here yet.",
		SayDenied:       "You do not have the right to do that.",
		SayInvalid:      "The call was not understood, and nothing was run.",
		SayFailed:       "That did not work, and nothing was done.",
		SayUncertain:    "It is not known whether it was done. Please check before you try again.",
		SayNeverByVoice: "That is never done by voice. Nothing has been done. It can only be done on the app's own page.",
		SayUnknownTool:  "There is no tool of that name, and nothing was run.",
		SayReusedID:     "This call id belongs to another call, and nothing was run.",
		SayNoPage:       "No page is connected, so nothing was shown.",
		SayForgotten:    "This call ran before and its result is no longer kept. Nothing was run again.",
		SayCut:          "The result was shortened. Ask for less to get all of it.",
	},
	"cs": {
		SayOK:           "Je to hotovo.",
		SayNotFound:     "Nic takového tu pro vás není.",
		SayPending:      "Stránka neodpověděla, takže nikdo neví, jestli je to na obrazovce.",
		SayConfirmation: "Nic se nestalo. Je k tomu potřeba potvrzení a to tu zatím nejde dát.",
		SayDenied:       "Na to nemáte oprávnění.",
		SayInvalid:      "Volání nebylo srozumitelné a nic se nespustilo.",
		SayFailed:       "Nepodařilo se to a nic se nestalo.",
		SayUncertain:    "Není jisté, jestli se to stalo. Než to zkusíte znovu, ověřte to prosím.",
		SayNeverByVoice: "Tohle se hlasem nikdy nedělá. Nic se nestalo. Jde to jen na stránce samotné aplikace.",
		SayUnknownTool:  "Nástroj s tímto jménem neexistuje a nic se nespustilo.",
		SayReusedID:     "Toto označení patří jinému volání a nic se nespustilo.",
		SayNoPage:       "Není připojena žádná stránka, takže se nic neukázalo.",
		SayForgotten:    "Toto volání už proběhlo a jeho výsledek se už neuchovává. Znovu se nic nespustilo.",
		SayCut:          "Výsledek byl zkrácen. Celý ho dostanete, když se zeptáte na méně.",
	},
	"de": {
		SayOK:           "Es ist erledigt.",
		SayNotFound:     "So etwas gibt es für Sie hier nicht.",
		SayPending:      "Die Seite hat nicht geantwortet, deshalb weiß niemand, ob es auf dem Bildschirm ist.",
		SayConfirmation: "Es ist nichts geschehen. Dafür braucht es eine Bestätigung, und die kann hier noch nicht gegeben werden.",
		SayDenied:       "Dazu haben Sie kein Recht.",
		SayInvalid:      "Der Aufruf war nicht verständlich, und es wurde nichts ausgeführt.",
		SayFailed:       "Das hat nicht geklappt, und es ist nichts geschehen.",
		SayUncertain:    "Es ist nicht bekannt, ob es geschehen ist. Bitte prüfen Sie das, bevor Sie es noch einmal versuchen.",
		SayNeverByVoice: "Das geht nie per Stimme. Es ist nichts geschehen. Es geht nur auf der Seite der Anwendung selbst.",
		SayUnknownTool:  "Es gibt kein Werkzeug dieses Namens, und es wurde nichts ausgeführt.",
		SayReusedID:     "Diese Kennung gehört zu einem anderen Aufruf, und es wurde nichts ausgeführt.",
		SayNoPage:       "Es ist keine Seite verbunden, deshalb wurde nichts gezeigt.",
		SayForgotten:    "Dieser Aufruf lief schon, und sein Ergebnis wird nicht mehr aufbewahrt. Es wurde nichts noch einmal ausgeführt.",
		SayCut:          "Das Ergebnis wurde gekürzt. Fragen Sie nach weniger, um alles zu bekommen.",
	},
	"ru": {
		SayOK:           "Готово.",
		SayNotFound:     "Для вас здесь ничего такого нет.",
		SayPending:      "Страница не ответила, поэтому никто не знает, есть ли это на экране.",
		SayConfirmation: "Ничего не сделано. Для этого нужно подтверждение, а дать его здесь пока нельзя.",
		SayDenied:       "У вас нет на это прав.",
		SayInvalid:      "Вызов не понят, и ничего не запущено.",
		SayFailed:       "Не получилось, и ничего не сделано.",
		SayUncertain:    "Неизвестно, сделано ли это. Пожалуйста, проверьте, прежде чем пробовать снова.",
		SayNeverByVoice: "Голосом это не делается никогда. Ничего не сделано. Это можно сделать только на странице самого приложения.",
		SayUnknownTool:  "Инструмента с таким именем нет, и ничего не запущено.",
		SayReusedID:     "Этот номер принадлежит другому вызову, и ничего не запущено.",
		SayNoPage:       "Ни одна страница не подключена, поэтому ничего не показано.",
		SayForgotten:    "Этот вызов уже был, и его результат больше не хранится. Снова ничего не запущено.",
		SayCut:          "Результат сокращён. Спросите о меньшем, чтобы получить его целиком.",
	},
}

type sentences map[string]map[Saying]string // by language

// Sentence returns what may be said about an outcome of this entry. A nil entry has the defaults. language may be a
// whole BCP 47 tag; only its first subtag counts, and an unknown one means English.
func (e *Entry) Sentence(language string, s Saying) string {
	language = Language(language)
	if e != nil {
		if own := e.sentences[language][s]; own != "" {
			return own
		}
	}
	return defaults[language][s]
}

// Language returns the one of Languages that a BCP 47 tag asks for, and English for any other.
func Language(tag string) string {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if slices.Contains(Languages, first) {
		return first
	}
	return Languages[0]
}

// sentences reads language → saying → sentence.
func (r *reader) sentences(n *yaml.Node, what string) sentences {
	out := sentences{}
	sayings := make([]string, 0, len(defaults["en"]))
	for s := range defaults["en"] {
		sayings = append(sayings, string(s))
	}
	slices.Sort(sayings)
	for language, of := range r.fields(n, what, Languages...) {
		out[language] = map[Saying]string{}
		where := fmt.Sprintf("%s in %s", what, language)
		for s, text := range r.fields(of, where, sayings...) {
			out[language][Saying(s)] = r.text(text, where+" for "+s)
		}
	}
	return out
}

// with returns s with those of over in place of its own.
func (s sentences) with(over sentences) sentences {
	out := sentences{}
	for _, language := range Languages {
		out[language] = map[Saying]string{}
		maps.Copy(out[language], s[language])
		maps.Copy(out[language], over[language])
	}
	return out
}
