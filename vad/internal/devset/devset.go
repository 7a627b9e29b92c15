package devset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mewkiz/flac"
)

// Span is a stretch of time in a clip, in milliseconds: start, end.
type Span [2]int

// Start returns the span's beginning.
func (s Span) Start() time.Duration { return time.Duration(s[0]) * time.Millisecond }

// End returns the span's end.
func (s Span) End() time.Duration { return time.Duration(s[1]) * time.Millisecond }

// Clip is one labelled recording, 16 kHz mono.
type Clip struct {
	File   string `json:"file"`   // relative to the set's folder
	Speech []Span `json:"speech"` // nil: not labelled; empty: no speech
	MS     int    `json:"dur_ms"`
	SNR    *int   `json:"snr_db"`

	// Of turns-audio only.
	Pauses []Pause `json:"pauses"`

	path string
}

// Pause is one silence of the speaker, in milliseconds; Type is hold or turn_end.
type Pause struct {
	Type    string `json:"type"`
	StartMS int    `json:"start_ms"`
	EndMS   int    `json:"end_ms"`
}

// Start returns the pause's beginning.
func (p Pause) Start() time.Duration { return time.Duration(p.StartMS) * time.Millisecond }

// End returns the pause's end.
func (p Pause) End() time.Duration { return time.Duration(p.EndMS) * time.Millisecond }

// Folder is the first element of the clip's path: real-clean, noisy, noise, ami.
func (c Clip) Folder() string {
	folder, _, _ := strings.Cut(c.File, "/")
	return folder
}

// Length returns how long the clip is.
func (c Clip) Length() time.Duration { return time.Duration(c.MS) * time.Millisecond }

// PCM decodes the clip; of a stereo clip the first channel, the microphone.
func (c Clip) PCM() ([]int16, error) { return read(c.path) }

// VAD returns the clips of the set's folder vad: speech and noise. TurnsAudio returns those of one part of its folder
// turns-audio: barge-in, real-spliced, synth-turns. Both skip the test when the set is not on this machine, and under
// the race detector, which finds nothing there and takes minutes.
// repository is the path of the repository's root.
func VAD(t testing.TB, repository string) []Clip {
	t.Helper()
	return load(t, repository, "vad", "labels.jsonl")
}

// TurnsAudio returns the clips of one part of the folder turns-audio; see VAD.
func TurnsAudio(t testing.TB, repository, part string) []Clip {
	t.Helper()
	return load(t, repository, "turns-audio", part+".jsonl")
}

func load(t testing.TB, repository, folder, labels string) []Clip {
	t.Helper()
	if Race {
		t.Skip("the development set is measured without the race detector")
	}
	root := os.Getenv("HOVOR_DATA")
	if root == "" {
		root = filepath.Join(repository, "..", "shared", "data")
	}
	dir := filepath.Join(root, folder)
	f, err := os.Open(filepath.Join(dir, labels))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("the development set is not at %s; HOVOR_DATA names its folder", root)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var clips []Clip
	for d := json.NewDecoder(f); ; {
		var c Clip
		if err := d.Decode(&c); errors.Is(err, io.EOF) {
			return clips
		} else if err != nil {
			t.Fatal(err)
		}
		c.path = filepath.Join(dir, c.File)
		clips = append(clips, c)
	}
}

func read(path string) ([]int16, error) {
	s, err := flac.ParseFile(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if s.Info.SampleRate != 16000 || s.Info.BitsPerSample != 16 {
		return nil, fmt.Errorf("%s: not 16-bit at 16 kHz", path)
	}
	pcm := make([]int16, 0, s.Info.NSamples)
	for {
		f, err := s.ParseNext()
		if errors.Is(err, io.EOF) {
			return pcm, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, v := range f.Subframes[0].Samples {
			pcm = append(pcm, int16(v))
		}
	}
}
