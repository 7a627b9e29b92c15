package espeak

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hovor/gateway/provider/local/voice"
)

func open(t *testing.T) *Voice {
	t.Helper()
	v, err := New()
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFourLanguagesAreSpokenWithTheirWordsInOrder(t *testing.T) {
	v := open(t)
	for language, text := range map[string]string{
		"en": "The price list is from 2019, and it has three parts.",
		"cs": "Dobrý den, ceník je z roku 2019 a má tři části.",
		"de": "Guten Tag, die Preisliste hat drei Teile.",
		"ru": "Добрый день, прайс-лист состоит из трёх частей.",
	} {
		t.Run(language, func(t *testing.T) {
			s, err := v.Speak(context.Background(), voice.Sentence{Text: text, Language: language})
			if err != nil {
				t.Fatal(err)
			}
			if d := s.Duration(); d < 1500*time.Millisecond || d > 8*time.Second {
				t.Errorf("a sentence of eight words lasts %v", d)
			}
			if len(s.Words) < 6 {
				t.Fatalf("only %d words are timed", len(s.Words))
			}
			var joined strings.Builder
			last := time.Duration(0)
			for _, w := range s.Words {
				joined.WriteString(text[w.Start:w.End])
				if w.From < last || w.To < w.From {
					t.Errorf("word %q is spoken from %v to %v, after %v", text[w.Start:w.End], w.From, w.To, last)
				}
				last = w.From
			}
			if joined.String() != text {
				t.Errorf("the words join to %q", joined.String())
			}
			loud := 0
			for _, x := range s.PCM {
				if x > 3000 || x < -3000 {
					loud++
				}
			}
			if loud < voice.Rate/20 {
				t.Errorf("hardly a sound: %d loud samples", loud)
			}
		})
	}
}

func TestSpeedShortensSpeech(t *testing.T) {
	v := open(t)
	say := func(speed float64) time.Duration {
		s, err := v.Speak(context.Background(), voice.Sentence{Text: "one two three four five", Speed: speed})
		if err != nil {
			t.Fatal(err)
		}
		return s.Duration()
	}
	if slow, fast := say(0.75), say(1.4); fast >= slow*3/4 {
		t.Errorf("speed 1.4 takes %v, speed 0.75 takes %v", fast, slow)
	}
}

func TestCancelledSpeechReturnsTheReason(t *testing.T) {
	v := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := v.Speak(ctx, voice.Sentence{Text: "never mind"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
