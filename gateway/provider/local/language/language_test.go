package language

import "testing"

func TestDetectTellsWhatAPersonTyped(t *testing.T) {
	for text, want := range map[string]string{
		"Open the document welcome":        "en",
		"what changed recently?":           "en",
		"Otevři dokument ceník":            "cs",
		"otevri dokument cenik":            "cs",
		"Přečti mi dokument Uvítání":       "cs",
		"Co se změnilo v poslední době?":   "cs",
		"Öffne das Dokument Preisliste":    "de",
		"zeig mir die Prozesse":            "de",
		"Открой документ добро пожаловать": "ru",
		"welcome":                       "",
		"":                              "",
		"12 345":                        "",
		"Dobrý den, jak se máte?":       "cs",
		"Guten Tag, wie geht es Ihnen?": "de",
		"Tell me a story about the café in Prague": "en",
	} {
		if got := Detect(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestOfVoiceReadsALanguageCode(t *testing.T) {
	for name, want := range map[string]string{"cs": "cs", "de-DE": "de", "ru_RU": "ru", "marin": "", "": "", "EN": "en", "decent": ""} {
		if got := OfVoice(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
