package conversation

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hovor/gateway/thread"
	"hovor/signaling/realtime"
)

// says gathers the words of an item that is being spoken; they run ahead of what is heard.
func (st *step) says(item, response, text string, final bool) {
	for i := range st.said {
		if st.said[i].item != item {
			continue
		}
		st.said = append([]said(nil), st.said...)
		if final {
			st.said[i].text, st.said[i].final = text, true
		} else if len(st.said[i].text) < thread.MaxText {
			st.said[i].text += text
		}
		return
	}
	st.said = addBounded(st.said, said{item: item, response: response, text: text, final: final}, maxSaid)
}

func (s *State) saidOf(item string) string {
	for _, x := range s.said {
		if x.item == item {
			return x.text
		}
	}
	return ""
}

// heardAssistant is the account of an item of the assistant: to the page, and into the thread. whole: to its end.
func (st *step) heardAssistant(p playback, sent, audio time.Duration, whole bool) {
	st.count(Spoke{Response: p.response, Sent: sent, Heard: audio})
	st.account(p, audio, whole)
}

// account tells the page and the thread what was heard of an item.
func (st *step) account(p playback, audio time.Duration, whole bool) {
	text := st.saidOf(p.item)
	if whole {
		st.learn(text, audio)
	} else {
		text = heardPrefix(text, audio, st.rate)
	}
	status := realtime.StatusCompleted
	if !whole {
		status = realtime.StatusIncomplete
	}
	st.speech(p.item, text, status)
	st.tell(&realtime.HovorHeard{ItemID: p.item, AudioMS: ms(audio), Text: text, Complete: whole})
	if text == "" && !whole {
		st.forget(p.item)
		return
	}
	st.keep(thread.Item{ID: p.item, Role: thread.Assistant, Kind: thread.Spoken, Text: thread.Words(text), Complete: whole, Audio: audio}, nil)
}

// How fast an assistant is taken to speak until its own speech has been measured, in characters per second: slower than any
// voice we know, so that no word counts as heard that was not. Fast talkers say 15 and more; writing without spaces packs a
// syllable into a character.
const (
	slowLetters    = 9.0
	slowSyllables  = 3.0
	measuredMargin = 0.9                    // of the measured rate, because pace varies within an item
	lead           = 120 * time.Millisecond // silence before the first sound
)

// learn measures the assistant's pace from an item that was heard to its end. The slowest pace counts.
func (st *step) learn(text string, audio time.Duration) {
	n := utf8.RuneCountInString(text)
	if n < 20 || audio < time.Second {
		return
	}
	rate := float64(n) / audio.Seconds()
	if rate < 2 || rate > 40 {
		return // the transcript and the audio do not belong together
	}
	if st.rate == 0 || rate < st.rate {
		st.rate = rate
	}
}

// heardPrefix is the part of text that was certainly heard after audio of it: whole words only, never one too many.
// rate is the measured pace in characters per second, 0 when there is none.
func heardPrefix(text string, audio time.Duration, rate float64) string {
	pace := rate * measuredMargin
	if rate == 0 {
		pace = slowLetters
		if dense(text) {
			pace = slowSyllables
		}
	}
	n := int((audio - lead).Seconds() * pace)
	if n <= 0 {
		return ""
	}
	if utf8.RuneCountInString(text) <= n {
		return strings.TrimRightFunc(text, unicode.IsSpace)
	}
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if next, _ := utf8.DecodeRuneInString(text[end:]); !inWord(next) || dense(text) {
		return strings.TrimRightFunc(text[:end], unicode.IsSpace)
	}
	cut := strings.LastIndexFunc(text[:end], func(r rune) bool { return !inWord(r) })
	if cut < 0 {
		return ""
	}
	_, size := utf8.DecodeRuneInString(text[cut:])
	return strings.TrimRightFunc(text[:cut+size], unicode.IsSpace)
}

// inWord: a cut beside this character would cut a word. Apostrophes and hyphens join words.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’' || r == '-'
}

// dense: the writing has no spaces between words, and a character is about a syllable.
func dense(text string) bool {
	for _, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			return true
		}
	}
	return false
}
