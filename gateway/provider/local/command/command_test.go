package command

import (
	"strings"
	"testing"
)

var demo = Vocabulary{
	Documents: []Named{
		{ID: "welcome", Title: "welcome", English: true}, {ID: "pricing-2019", Title: "pricing twenty nineteen", English: true},
		{ID: "winter-storage", Title: "Zimní uskladnění kol"}, {ID: "old-import", Title: "Старый импорт"}, {ID: "pricing-2019", Title: "Pricing 2019", English: true},
		{ID: "deposit-rules", Title: "deposit rules", Written: "Jak funguje kauce", English: true},
	},
	Processes: []Named{{ID: "month-end", Title: "month end", English: true}},
	Topics:    []string{"winter storage"}, Phrases: []string{"the old price board"}, Messages: []string{"lunch is ready"},
}

func TestTemplatesAreWellFormed(t *testing.T) {
	if grammarErr != nil {
		t.Fatal(grammarErr)
	}
}

func TestOneCommandInFourLanguages(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           Intent
	}{
		{"en", "Hello!", Intent{Kind: Greet}},
		{"en", "Please open the document Welcome.", Intent{Kind: OpenDocument, ID: "welcome", Name: "welcome"}},
		{"en", "open welcome", Intent{Kind: OpenDocument, ID: "welcome", Name: "welcome"}},
		{"en", "read me the document pricing", Intent{Kind: ReadDocument, ID: "pricing-2019", Name: "pricing twenty nineteen"}},
		{"en", "read the document pricing 2019", Intent{Kind: ReadDocument, ID: "pricing-2019", Name: "pricing twenty nineteen"}},
		{"en", "read the document called Something New", Intent{Kind: ReadDocument, Name: "Something New"}},
		{"en", "Show me the process month end", Intent{Kind: ShowProcess, ID: "month-end", Name: "month end"}},
		{"en", "highlight the old price board in the document pricing twenty nineteen", Intent{Kind: Highlight, ID: "pricing-2019", Name: "pricing twenty nineteen", Text: "the old price board"}},
		{"en", "Search the documents for Winter storage", Intent{Kind: Search, Text: "Winter storage"}},
		{"en", "what changed?", Intent{Kind: Changes}},
		{"en", "publish a message Lunch is ready!", Intent{Kind: Publish, Text: "Lunch is ready!"}},
		{"en", "delete the project", Intent{Kind: DeleteProject}},
		{"en", "I fix the locks on Mondays", Intent{}},
		{"cs", "Otevři dokument Zimní uskladnění kol", Intent{Kind: OpenDocument, ID: "winter-storage", Name: "Zimní uskladnění kol"}},
		{"cs", "otevri prosim dokument zimni uskladneni kol", Intent{Kind: OpenDocument, ID: "winter-storage", Name: "Zimní uskladnění kol"}},
		{"cs", "Otevři dokument Jak funguje kauce", Intent{Kind: OpenDocument, ID: "deposit-rules", Name: "deposit rules"}},
		{"cs", "Otevři dokument „Něco nového“.", Intent{Kind: OpenDocument, Name: "Něco nového"}},
		{"cs", "Přečti mi dokument welcome", Intent{Kind: ReadDocument, ID: "welcome", Name: "welcome"}},
		{"cs", "Hledej v dokumentech o kauci", Intent{Kind: Search, Text: "kauci"}},
		{"cs", "Jaké máme procesy?", Intent{Kind: ListProcesses}},
		{"cs", "Co se změnilo v poslední době?", Intent{Kind: Changes}},
		{"cs", "Smaž projekt", Intent{Kind: DeleteProject}},
		{"cs", "Zveřejni zprávu Oběd je hotový.", Intent{Kind: Publish, Text: "Oběd je hotový."}},
		{"de", "Öffne das Dokument welcome", Intent{Kind: OpenDocument, ID: "welcome", Name: "welcome"}},
		{"de", "Oeffne bitte das Dokument welcome", Intent{}},
		{"de", "Bitte öffne das Dokument welcome", Intent{Kind: OpenDocument, ID: "welcome", Name: "welcome"}},
		{"de", "Lies mir das Dokument welcome vor", Intent{Kind: ReadDocument, ID: "welcome", Name: "welcome"}},
		{"de", "Welche Prozesse gibt es?", Intent{Kind: ListProcesses}},
		{"de", "Suche nach Kaution", Intent{Kind: Search, Text: "Kaution"}},
		{"ru", "Открой документ Старый импорт", Intent{Kind: OpenDocument, ID: "old-import", Name: "Старый импорт"}},
		{"ru", "Прочитай мне документ старый импорт, пожалуйста", Intent{Kind: ReadDocument, Name: "старый импорт, пожалуйста"}},
		{"ru", "Что изменилось?", Intent{Kind: Changes}},
		{"ru", "Расскажи мне историю", Intent{Kind: Story}},
	} {
		if got := demo.Parse(c.language, c.text); c.want.Kind != Unknown && got != c.want {
			t.Errorf("%s %q: got %+v, want %+v", c.language, c.text, got, c.want)
		}
	}
}

func TestEveryCommandExistsInEveryLanguage(t *testing.T) {
	for language, lines := range templates {
		have := map[Kind]bool{}
		for _, l := range lines {
			have[l.kind] = true
		}
		for _, l := range templates["en"] {
			if !have[l.kind] {
				t.Errorf("%s has no way to say %s", language, l.kind)
			}
		}
	}
}

func TestWhatTheRecognizerCanHearIsUnderstood(t *testing.T) {
	text, words, skipped := demo.JSGF(func(w string) bool { return w != "nineteen" })
	if len(skipped) != 0 {
		t.Errorf("skipped %v: every title has a form without the word", skipped)
	}
	if strings.Contains(text, "nineteen") || strings.Contains(text, "2019") {
		t.Errorf("the grammar holds words that cannot be pronounced:\n%s", text)
	}
	if len(words) < 40 {
		t.Errorf("only %d words", len(words))
	}
	if strings.Contains(text, "kauce") {
		t.Errorf("the grammar holds a title that is written in Czech:\n%s", text)
	}
	_, _, skipped = demo.JSGF(func(w string) bool { return w != "welcome" })
	if len(skipped) != 1 || skipped[0] != "welcome" {
		t.Errorf("skipped %v", skipped)
	}
}

func TestNumbersAreReadAsPeopleReadThem(t *testing.T) {
	for in, want := range map[string]string{
		"2019": "twenty nineteen", "2000": "two thousand", "2005": "two thousand five", "1907": "nineteen oh seven", "1900": "nineteen hundred",
		"7": "seven", "42": "forty two", "350": "three hundred fifty", "outage 2021": "outage twenty twenty one",
	} {
		if got := numbersInWords(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"open the document welcome", "Zveřejni zprávu ahoj", "\xff\xfe", "highlight a in the document b in the document c", "„ahoj“"} {
		f.Add("en", s)
	}
	f.Fuzz(func(t *testing.T, language, text string) {
		demo.Parse(language, text)
	})
}
