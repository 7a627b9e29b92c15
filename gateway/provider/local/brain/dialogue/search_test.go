package dialogue

import (
	"encoding/json"
	"strings"
	"testing"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/command"
)

var linden = command.Vocabulary{
	Documents: []command.Named{
		{ID: "welcome", Title: "welcome", Written: "Welcome to Linden", English: true},
		{ID: "pricing-2019", Title: "pricing twenty nineteen", Written: "Pricing 2019", English: true},
		{ID: "deposit-rules", Title: "deposit rules", Written: "Jak funguje kauce", English: true},
		{ID: "winter-storage", Title: "winter storage", Written: "Zimní uskladnění kol", English: true},
	},
	Processes: []command.Named{{ID: "month-end", Title: "month end", Written: "Month end", English: true}},
}

// found is the answer of a search with these titles and passages, by id.
func found(t *testing.T, hits ...document) string {
	t.Helper()
	type hit struct {
		ID       string `json:"id"`
		Title    string `json:"title"`
		Language string `json:"language"`
		Passage  string `json:"passage"`
	}
	list := []hit{}
	for _, h := range hits {
		list = append(list, hit{h.ID, h.Title, h.Language, h.Passage})
	}
	raw, err := json.Marshal(map[string]any{"status": "ok", "result": list})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func query(t *testing.T, words string) string {
	t.Helper()
	raw, err := json.Marshal(object{"query": words})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestQuestionsAndLooseWordsAreLookedUp(t *testing.T) {
	for _, c := range []struct{ language, text, words string }{
		{"en", "who looks after Dresden?", "looks after Dresden"},
		{"en", "who looks after Dresden", "looks after Dresden"},
		{"en", "And who has the key", "key"},
		{"en", "Is the cellar heated", "cellar heated"},
		{"en", "when do the bikes come back", "bikes come back"},
		{"en", "tell me about the deposit for schools", "deposit for schools"},
		{"en", "the night tram was moved, or was it?", "night tram was moved, or was it"},
		{"en", "banana", "banana"},
		{"cs", "Kdo zvedá telefon?", "zvedá telefon"},
		{"cs", "kdo zveda telefon", "zveda telefon"},
		{"cs", "Na koho se obrátit v Drážďanech", "obrátit v Drážďanech"},
		{"cs", "řekni mi něco o kauci", "něco o kauci"},
		{"cs", "kauce", "kauce"},
		{"de", "Wer kümmert sich um Dresden?", "kümmert sich um Dresden"},
		{"de", "Wann schließt die Druckerei", "schließt die Druckerei"},
		{"de", "Gibt es einen zweiten Schlüssel", "zweiten Schlüssel"},
		{"de", "Banane", "Banane"},
		{"ru", "Кто помнит про импорт?", "помнит про импорт"},
		{"ru", "когда запускается импорт", "запускается импорт"},
		{"ru", "Можно ли открыть замок", "открыть замок"},
		{"ru", "банан", "банан"},
	} {
		m := New(linden, Place{}).Mind()
		if got, want := told(m.Respond(typed(c.language, c.text))), "search_documents"+query(t, c.words); got != want {
			t.Errorf("%s %q: got %s, want %s", c.language, c.text, got, want)
			continue
		}
		got := told(m.Respond(returned(c.language, searchTool, query(t, c.words), found(t))))
		if !strings.Contains(got, c.words) || strings.Contains(got, interview[c.language][0]) {
			t.Errorf("%s %q: nothing was found, and it is said: %s", c.language, c.text, got)
		}
	}
}

func TestWhatWasLookedUpIsToldFromTheDocumentThatSaysMost(t *testing.T) {
	welcome := document{ID: "welcome", Title: "Welcome to Linden", Language: "en",
		Passage: "We have nine bikes in Dresden. Jana runs the workshop, Tobias looks after Dresden. Mark answers the rest."}
	handover := document{ID: "dresden-handover", Title: "Übergabe in Dresden", Language: "de", Passage: "In Dresden gibt es keinen Laden. Tobias hat einen Schlüssel."}
	phone := document{ID: "phone-line", Title: "Kdo zvedá telefon", Language: "cs", Passage: "Telefonní linka má tři patra. Přes den ji zvedá dílna. V noci nikdo."}
	for _, c := range []struct {
		language, text string
		hits           []document
		want           []brain.Step
	}{
		{"en", "who looks after Dresden?", []document{handover, welcome}, []brain.Step{
			brain.Say{Text: "The document Welcome to Linden says:", Language: "en"},
			brain.Say{Text: "Jana runs the workshop, Tobias looks after Dresden.", Language: "en"}}},
		{"cs", "Kdo zvedá telefon?", []document{welcome, phone}, []brain.Step{
			brain.Say{Text: "V dokumentu Kdo zvedá telefon stojí:", Language: "cs"},
			brain.Say{Text: "Telefonní linka má tři patra. Přes den ji zvedá dílna.", Language: "cs"}}},
		{"de", "Gibt es einen Laden?", []document{handover}, []brain.Step{
			brain.Say{Text: "Im Dokument Übergabe in Dresden steht:", Language: "de"},
			brain.Say{Text: "In Dresden gibt es keinen Laden.", Language: "de"}}},
		{"ru", "кто в Dresden?", []document{handover}, []brain.Step{
			brain.Say{Text: "В документе Übergabe in Dresden сказано:", Language: "ru"},
			brain.Say{Text: "In Dresden gibt es keinen Laden.", Language: "de"}}},
		{"en", "Dresden", []document{{ID: "a", Title: "Dresden"}}, []brain.Step{brain.Say{Text: "I found 1: Dresden.", Language: "en"}}},
		{"en", "banana", []document{{ID: "a", Title: "Export", Passage: "Die banka."}}, []brain.Step{
			brain.Say{Text: "I found nothing about banana in these words. The nearest document is Export.", Language: "en"}}},
		{"en", "banana", []document{{ID: "a", Title: "Dresden"}}, []brain.Step{brain.Say{Text: "I found nothing about banana.", Language: "en"}}},
	} {
		m := New(linden, Place{}).Mind()
		call, ok := m.Respond(typed(c.language, c.text))[0].(brain.Call)
		if !ok {
			t.Errorf("%q is not looked up", c.text)
			continue
		}
		got := m.Respond(returned(c.language, searchTool, string(call.Arguments), found(t, c.hits...)))
		if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1] {
			t.Errorf("%q: got %+v, want %+v", c.text, got, c.want)
		}
	}
}

func TestALongPassageIsCutBetweenWords(t *testing.T) {
	got := excerpt([]string{"word"}, strings.Repeat("wörd word ", 100))
	if n := len([]rune(got)); n > maxExcerpt+1 || !strings.HasSuffix(got, "word…") && !strings.HasSuffix(got, "wörd…") {
		t.Errorf("%d characters: %s", n, got)
	}
}

func TestALookUpWithoutASearchIsRefusedHonestly(t *testing.T) {
	turn := typed("en", "who looks after Dresden?")
	turn.Tools = nil
	if got := told(New(linden, Place{}).Mind().Respond(turn)); got != "I cannot look that up here, because I have no documents to search." {
		t.Errorf("got %s", got)
	}
	if got := told(New(linden, Place{}).Mind().Respond(typed("en", "why?"))); got != phrases["en"]["help"] {
		t.Errorf("a question about nothing: %s", got)
	}
}

func TestTheInterviewBeginsWhenSomebodyTellsSomethingOrAsksForIt(t *testing.T) {
	for language, lines := range map[string][]string{
		"en": {"I oil the chains every Monday", "I fix locks", "When the bikes come back we count them", "When I come in I look at the rack", "start the interview"},
		"cs": {"Každé pondělí mažu všechny řetězy", "Já opravuju zámky", "začni rozhovor"},
		"de": {"Jeden Montag öle ich die Ketten", "Ich repariere Schlösser", "starte das Interview"},
		"ru": {"Каждый понедельник я смазываю цепи", "Я чиню замки", "Когда велосипед возвращается, его осматривают", "начни интервью"},
	} {
		for _, text := range lines {
			if got := told(New(linden, Place{}).Mind().Respond(typed(language, text))); !strings.Contains(got, interview[language][0]) {
				t.Errorf("%s %q: %s", language, text, got)
			}
		}
	}
}

func TestTheInterviewTakesShortAnswersAndLetsItselfBeAsked(t *testing.T) {
	for code, words := range map[string]struct{ start, short, question string }{
		"en": {"start the interview", "Locks", "who has the key?"},
		"cs": {"začni rozhovor", "Zámky", "kdo má klíč?"},
		"de": {"starte das Interview", "Schlösser", "wer hat den Schlüssel?"},
		"ru": {"начни интервью", "Замки", "у кого ключ?"},
	} {
		m := New(linden, Place{}).Mind()
		for i, question := range interview[code] {
			text := words.short
			if i == 0 {
				text = words.start
			}
			if got := told(m.Respond(typed(code, text))); !strings.Contains(got, question) {
				t.Errorf("%s question %d: %s", code, i, got)
			}
			if got := told(m.Respond(typed(code, words.question))); !strings.HasPrefix(got, searchTool) {
				t.Errorf("%s %q in the interview: %s", code, words.question, got)
			}
		}
		if got := told(m.Respond(typed(code, words.short))); !strings.Contains(got, phrases[code]["asked"]) {
			t.Errorf("%s after the last question: %s", code, got)
		}
		if got := told(m.Respond(typed(code, words.short))); !strings.HasPrefix(got, searchTool) {
			t.Errorf("%s after the interview: %s", code, got)
		}
	}
}

// A document that only mentions the wanted words is never opened, read or marked as if it were the one.
func TestOnlyADocumentOfThatNameIsTaken(t *testing.T) {
	calendar := document{ID: "holiday-calendar", Title: "Der Feiertagskalender", Passage: "Добро пожаловать, welcome, vítejte, willkommen."}
	photos := document{ID: "damage-photos", Title: "Damage photos"}
	deposit := document{ID: "deposit-rules", Title: "Jak funguje kauce"}
	storage := document{ID: "winter-storage", Title: "Zimní uskladnění kol"}
	names := []document{calendar, photos}
	for _, c := range []struct {
		language, text, words string
		hits                  []document
		want                  string
	}{
		{"ru", "Открой документ добро пожаловать", "добро пожаловать", names,
			"Документа с названием «добро пожаловать» я не знаю. Нашлось: Der Feiertagskalender, Damage photos. Какой вы имеете в виду?"},
		{"cs", "Přečti dokument Vítejte u nás.", "Vítejte u nás", names,
			"Dokument s názvem „Vítejte u nás“ neznám. Našel jsem: Der Feiertagskalender, Damage photos. Který myslíte?"},
		{"de", "Öffne das Dokument Willkommen", "Willkommen", names,
			"Ein Dokument namens „Willkommen“ kenne ich nicht. Gefunden habe ich: Der Feiertagskalender, Damage photos. Welches meinen Sie?"},
		{"en", "highlight nineteen in the document Price list", "Price list", names,
			"I know no document named Price list. I found: Der Feiertagskalender, Damage photos. Which one do you mean?"},
		{"en", "open the document Price list", "Price list", names[:1], "I know no document named Price list. Do you mean Der Feiertagskalender?"},
		{"en", "open the document Price list", "Price list", nil, "I found nothing about Price list."},
		{"en", "open the document pricing 2018", "pricing 2018", []document{{ID: "pricing-2019", Title: "Pricing 2019"}}, "I know no document named pricing 2018. Do you mean Pricing 2019?"},
		{"cs", "Otevři dokument kauce", "kauce", []document{photos, deposit}, `open_document{"id":"deposit-rules"}`},
		{"cs", "Přečti dokument o kauci", "o kauci", []document{photos, deposit}, `get_document{"id":"deposit-rules"}`},
		{"en", "open the document about winter", "about winter", []document{photos, storage}, `open_document{"id":"winter-storage"}`},
		{"de", "Öffne das Dokument Feiertagskalender", "Feiertagskalender", names, `open_document{"id":"holiday-calendar"}`},
		{"en", "open the document Damage-Photos", "Damage-Photos", names, `open_document{"id":"damage-photos"}`},
	} {
		m := New(linden, Place{}).Mind()
		if got, want := told(m.Respond(typed(c.language, c.text))), searchTool+query(t, c.words); got != want {
			t.Errorf("%q: got %s, want %s", c.text, got, want)
			continue
		}
		if got := told(m.Respond(returned(c.language, searchTool, query(t, c.words), found(t, c.hits...)))); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestTheDocumentThatWasMeantCanBeSaid(t *testing.T) {
	two := []document{{ID: "holiday-calendar", Title: "Der Feiertagskalender"}, {ID: "deposit-rules", Title: "Jak funguje kauce"}}
	for _, c := range []struct {
		hits                   []document
		language, answer, want string
	}{
		{two, "en", "Jak funguje kauce", `open_document{"id":"deposit-rules"}`},
		{two, "en", "I mean the deposit rules", `open_document{"id":"deposit-rules"}`},
		{two, "en", "the second one", `open_document{"id":"deposit-rules"}`},
		{two, "cs", "ten první", `open_document{"id":"holiday-calendar"}`},
		{two, "de", "das zweite", `open_document{"id":"deposit-rules"}`},
		{two, "ru", "второй", `open_document{"id":"deposit-rules"}`},
		{two[:1], "cs", "ano", `open_document{"id":"holiday-calendar"}`},
		{two[:1], "ru", "Да", `open_document{"id":"holiday-calendar"}`},
		{two, "en", "yes", phrases["en"]["yes"]},
		{two[:1], "de", "nein", phrases["de"]["no"]},
		{two, "en", "banana", searchTool + `{"query":"banana"}`},
		{two, "en", "list the processes", `list_processes{}`},
	} {
		m := New(linden, Place{}).Mind()
		m.Respond(typed("en", "open the document Price list"))
		m.Respond(returned("en", searchTool, query(t, "Price list"), found(t, c.hits...)))
		if got := told(m.Respond(typed(c.language, c.answer))); got != c.want {
			t.Errorf("%q: got %s, want %s", c.answer, got, c.want)
		}
	}
}

func TestHitsOfACommandThatWasReplacedOpenNothing(t *testing.T) {
	m := New(linden, Place{}).Mind()
	m.Respond(typed("en", "open the document price list"))
	m.Respond(typed("en", "open the document welcome"))
	got := told(m.Respond(returned("en", searchTool, query(t, "price list"), found(t, document{ID: "p", Title: "Price list"}))))
	if got != "I found 1: Price list." {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsOpenIsCalledByItsWrittenTitle(t *testing.T) {
	for _, c := range []struct{ language, name, id, want string }{
		{"cs", "open_document", "deposit-rules", "Dokument Jak funguje kauce máte otevřený na obrazovce."},
		{"en", "open_document", "pricing-2019", "The document Pricing 2019 is open on your screen."},
		{"de", "open_document", "winter-storage", "Das Dokument Zimní uskladnění kol ist auf Ihrem Bildschirm geöffnet."},
		{"ru", "open_document", "welcome", "Документ Welcome to Linden открыт на вашем экране."},
		{"cs", "highlight_passage", "welcome", "Pasáž je v dokumentu Welcome to Linden zvýrazněná."},
		{"de", "show_process", "month-end", "Der Prozess Month end ist auf Ihrem Bildschirm."},
		{"en", "open_document", "something-else", "The document something-else is open on your screen."},
	} {
		got := told(New(linden, Place{}).Mind().Respond(returned(c.language, c.name, `{"id":"`+c.id+`"}`, `{"status":"ok","result":{"outcome":"found"}}`)))
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestADocumentThatASearchFoundIsCalledByItsTitle(t *testing.T) {
	m := New(linden, Place{}).Mind()
	m.Respond(typed("cs", "Otevři dokument Ceník"))
	m.Respond(returned("cs", searchTool, query(t, "Ceník"), found(t, document{ID: "doc-17", Title: "Ceník 2026"})))
	got := told(m.Respond(returned("cs", "open_document", `{"id":"doc-17"}`, `{"status":"ok","result":{"outcome":"found"}}`)))
	if got != "Dokument Ceník 2026 máte otevřený na obrazovce." {
		t.Errorf("got %s", got)
	}
}
