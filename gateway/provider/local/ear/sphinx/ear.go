package sphinx

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"hovor/gateway/provider/local/command"
	"hovor/gateway/provider/local/ear"
)

// Config says what the ear listens for.
type Config struct {
	Vocabulary command.Vocabulary
	Model      string // directory of the English model; "" = where Debian installs it
	Decoders   int    // utterances at a time; 0 = half the processors, at least 1 and at most 4
}

// Thresholds of the fit. A command that changes something has to fit better.
const (
	accept       = 0.57
	acceptStrict = 0.85
)

// maxSeconds of one utterance are searched; what follows is left out.
const maxSeconds = 30

// Ear recognizes commands. Each decoder holds about 8 MB and is made when it is first needed.
type Ear struct {
	acoustic string
	dict     dictionary
	words    []string
	grammar  string
	vocab    command.Vocabulary
	skipped  []string
	free     chan *decoder // nil entries are decoders that are not made yet
}

// New opens the library, reads the model's dictionary and makes the first decoder, so that what is missing is said at
// once: ErrMissing names the package, ErrGrammar the grammar.
func New(cfg Config) (*Ear, error) {
	if err := open(); err != nil {
		return nil, err
	}
	dir, err := findModel(cfg.Model)
	if err != nil {
		return nil, err
	}
	_, all, _ := cfg.Vocabulary.JSGF(func(string) bool { return true })
	need := map[string]bool{}
	for _, w := range all {
		need[w] = true
	}
	e := &Ear{acoustic: filepath.Join(dir, acousticDir), vocab: cfg.Vocabulary}
	e.dict, err = readDictionary(filepath.Join(dir, dictFile), func(w string) bool { return need[w] })
	if err != nil {
		return nil, fmt.Errorf("read the pronunciation dictionary: %w", err)
	}
	e.grammar, e.words, e.skipped = cfg.Vocabulary.JSGF(func(w string) bool { return len(e.dict[w]) > 0 })
	n := cfg.Decoders
	if n <= 0 {
		n = max(1, min(runtime.NumCPU()/2, 4))
	}
	first, err := e.newDecoder()
	if err != nil {
		return nil, err
	}
	e.free = make(chan *decoder, n)
	for range n - 1 {
		e.free <- nil
	}
	e.free <- first
	return e, nil
}

// Skipped lists the names that cannot be spoken because the dictionary lacks one of their words.
func (e *Ear) Skipped() []string { return e.skipped }

// Close frees the decoders. No Recognize may run or follow.
func (e *Ear) Close() error {
	for range cap(e.free) {
		if d := <-e.free; d != nil {
			d.close()
		}
	}
	return nil
}

// Recognize searches one utterance. It waits for a decoder until ctx ends; the search itself takes about a fifteenth of
// the utterance's length and is not interrupted.
func (e *Ear) Recognize(ctx context.Context, u ear.Utterance) (ear.Result, error) {
	pcm := u.PCM[:min(len(u.PCM), maxSeconds*ear.Rate)]
	var d *decoder
	select {
	case d = <-e.free:
	default:
		if u.Early {
			return ear.Result{}, ear.ErrBusy
		}
		select {
		case d = <-e.free:
		case <-ctx.Done():
			return ear.Result{}, ctx.Err()
		}
	}
	defer func() { e.free <- d }()
	if d == nil {
		made, err := e.newDecoder()
		if err != nil {
			return ear.Result{}, err
		}
		d = made
	}
	text, commandSegments, err := d.decode(searchCommand, pcm)
	if err != nil || text == "" {
		return ear.Result{}, err
	}
	_, soundSegments, err := d.decode(searchSounds, pcm)
	if err != nil {
		return ear.Result{}, err
	}
	r := ear.Result{Text: text, Confidence: fit(commandSegments, soundSegments)}
	need := accept
	if k := e.vocab.Parse("en", text).Kind; k == command.DeleteProject || k == command.Publish {
		need = acceptStrict
	}
	if r.Confidence < need {
		r.Text = ""
	}
	return r, nil
}

func (e *Ear) newDecoder() (*decoder, error) {
	f, err := os.CreateTemp("", "hovor-dict-*")
	if err != nil {
		return nil, fmt.Errorf("write the cut-down dictionary: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := e.dict.write(f, e.words); err != nil {
		return nil, fmt.Errorf("write the cut-down dictionary: %w", err)
	}
	return newDecoder(e.acoustic, f.Name(), map[string]string{searchCommand: e.grammar, searchSounds: soundsGrammar()})
}
