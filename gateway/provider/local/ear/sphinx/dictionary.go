package sphinx

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// modelDirs are where Debian and the library's own installation put the English model.
var modelDirs = []string{"/usr/share/pocketsphinx/model/en-us", "/usr/local/share/pocketsphinx/model/en-us"}

const (
	acousticDir = "en-us"
	dictFile    = "cmudict-en-us.dict"
)

// phones of the model's dictionary; each is also a word of the loop of any sounds.
var phones = strings.Fields("AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH")

// findModel returns the directory that holds the acoustic model and the dictionary.
func findModel(dir string) (string, error) {
	dirs := modelDirs
	if dir != "" {
		dirs = []string{dir}
	}
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, acousticDir, "mdef")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(d, dictFile)); err == nil {
			return d, nil
		}
	}
	return "", fmt.Errorf("%w: no English model in %s: install pocketsphinx-en-us (apt-get install pocketsphinx-en-us)",
		ErrMissing, strings.Join(dirs, ", "))
}

// dictionary maps a word to its pronunciations.
type dictionary map[string][]string

// readDictionary reads the words that want accepts.
func readDictionary(path string, want func(word string) bool) (dictionary, error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", ErrMissing, err)
		}
		return nil, err
	}
	defer f.Close()
	d := dictionary{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		word, pronunciation, ok := strings.Cut(sc.Text(), " ")
		if !ok {
			continue
		}
		if i := strings.IndexByte(word, '('); i > 0 {
			word = word[:i]
		}
		if want(word) {
			d[word] = append(d[word], strings.TrimSpace(pronunciation))
		}
	}
	return d, nil
}

// write puts the words and the loop's phones into a dictionary file.
func (d dictionary) write(f *os.File, words []string) error {
	w := bufio.NewWriter(f)
	for _, word := range words {
		for i, p := range d[word] {
			if i > 0 {
				fmt.Fprintf(w, "%s(%d) %s\n", word, i+1, p)
			} else {
				fmt.Fprintf(w, "%s %s\n", word, p)
			}
		}
	}
	for _, p := range phones {
		fmt.Fprintf(w, "%s %s\n", soundWord(p), p)
	}
	return w.Flush()
}

func soundWord(phone string) string { return "_" + strings.ToLower(phone) }

// soundsGrammar accepts any sequence of sounds.
func soundsGrammar() string {
	words := make([]string, len(phones))
	for i, p := range phones {
		words[i] = soundWord(p)
	}
	return "#JSGF V1.0;\ngrammar sounds;\npublic <sounds> = ( " + strings.Join(words, " | ") + " )+;\n"
}
