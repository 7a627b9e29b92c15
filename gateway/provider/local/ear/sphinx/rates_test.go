package sphinx

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hovor/gateway/provider/local/command"
	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/gateway/provider/local/voice/espeak"
	"hovor/sfu/opus"
)

// vocabulary is like the quickstart's.
var vocabulary = command.Vocabulary{
	Documents: titles("welcome", "welcome to linden", "pricing twenty nineteen", "deposit rules", "winter storage", "battery care",
		"dresden handover", "night return", "phone line", "old import", "lock updates", "damage photos", "accounting export",
		"holiday calendar", "bike names", "outage twenty twenty one"),
	Processes: titles("lending a bike", "reserve", "hand over", "return", "return at night", "upkeep", "month end", "price review"),
	Topics:    []string{"deposit rules", "winter storage", "night return", "insurance", "schools"},
	Phrases:   []string{"the old price board", "the interesting part"},
	Messages:  []string{"lunch is ready", "the meeting starts now"},
}

func titles(names ...string) []command.Named {
	var out []command.Named
	for _, n := range names {
		out = append(out, command.Named{ID: strings.ReplaceAll(n, " ", "-"), Title: n, English: true})
	}
	return out
}

// commands are said and must be recognized word for word, or at least as the same command about the same thing.
var commands = []string{
	"hello", "good morning", "open the document welcome", "open the document called night return", "open the document battery care",
	"read me the document pricing", "read the document pricing twenty nineteen", "read the document deposit rules",
	"show me the process month end", "show the process lending a bike", "highlight the old price board in the document pricing twenty nineteen",
	"search the documents for winter storage", "search the documents for insurance", "list the processes", "what changed recently",
	"yes", "no", "stop", "wait", "thank you", "goodbye", "tell me a long story", "publish a message lunch is ready",
	"delete the project", "what can you do", "start the interview",
}

// others are no commands and must not become one.
var others = []string{
	"the weather is nice today", "I would like a cup of coffee please", "my grandmother lives in a small village", "banana", "computer",
	"can you tell me where the station is", "blue elephants dance on the roof", "I do not know what to say about that", "well",
	"maybe later", "open the window", "read me a poem about the sea", "what is the time", "two hundred and fifty six", "really",
	"how are you", "who wrote this", "perhaps", "I think the project is nearly finished", "we should talk about it on monday",
}

func newEar(t *testing.T) *Ear {
	t.Helper()
	e, err := New(Config{Vocabulary: vocabulary})
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// same reports whether two sentences are the same command about the same thing.
func same(a, b string) bool {
	x, y := vocabulary.Parse("en", a), vocabulary.Parse("en", b)
	return x.Kind != command.Unknown && x.Kind == y.Kind && x.ID == y.ID && x.Text == y.Text
}

// speaker says a text at a speed, as 16 kHz PCM.
type speaker struct {
	name string
	say  func(t *testing.T, text string, speed float64) []int16
}

func speakers(t *testing.T) []speaker {
	v, err := espeak.New()
	if err != nil {
		t.Skip(err)
	}
	say := func(variant string) func(*testing.T, string, float64) []int16 {
		return func(t *testing.T, text string, speed float64) []int16 {
			s, err := v.Speak(context.Background(), voice.Sentence{Text: text, Variant: variant, Speed: speed})
			if err != nil {
				t.Fatal(err)
			}
			return voice.Resample(s.PCM, voice.Rate, ear.Rate)
		}
	}
	out := []speaker{{"espeak-ng male", say("")}, {"espeak-ng female", say("marin")}}
	if _, err := exec.LookPath("flite"); err != nil {
		t.Log("flite is not installed: its voices are left out (apt-get install flite)")
		return out
	}
	for _, name := range []string{"slt", "rms", "awb", "kal16"} {
		out = append(out, speaker{"flite " + name, func(t *testing.T, text string, speed float64) []int16 {
			file := filepath.Join(t.TempDir(), "flite.wav")
			cmd := exec.CommandContext(t.Context(), "flite", "-voice", name, "--setf", fmt.Sprintf("duration_stretch=%.2f", 1/speed), "-t", text, "-o", file)
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			pcm, rate := readWAV(t, file)
			return voice.Resample(pcm, rate, ear.Rate)
		}})
	}
	return out
}

// readWAV reads a canonical mono 16-bit file.
func readWAV(t *testing.T, file string) ([]int16, int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < 44 || string(b[:4]) != "RIFF" || string(b[36:40]) != "data" || binary.LittleEndian.Uint16(b[22:]) != 1 {
		t.Fatalf("%s is not the WAV file that is expected", file)
	}
	pcm := make([]int16, (len(b)-44)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[44+2*i:]))
	}
	return pcm, int(binary.LittleEndian.Uint32(b[24:]))
}

// overOpus codes and decodes PCM as a call does, with a little silence around it.
func overOpus(t *testing.T, pcm []int16) []int16 {
	t.Helper()
	pad := make([]int16, ear.Rate/5)
	pcm = append(append(pad, pcm...), pad...)
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: ear.Rate, Bitrate: 24000, Complexity: 5})
	if err != nil {
		t.Fatal(err)
	}
	dec, err := opus.NewDecoder(ear.Rate)
	if err != nil {
		t.Fatal(err)
	}
	const frame = ear.Rate / 50
	packet, buffer := make([]byte, opus.MaxPacket), make([]int16, 6*frame)
	var out []int16
	for ; len(pcm) >= frame; pcm = pcm[frame:] {
		n, err := enc.Encode(pcm[:frame], packet)
		if err != nil {
			t.Fatal(err)
		}
		if n, err = dec.Decode(packet[:n], buffer); err != nil {
			t.Fatal(err)
		}
		out = append(out, buffer[:n]...)
	}
	return out
}

func recognize(t *testing.T, e *Ear, pcm []int16) ear.Result {
	t.Helper()
	r, err := e.Recognize(context.Background(), ear.Utterance{PCM: pcm})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The rates are printed with -v: of a few sentences, or with HOVOR_RATES=1 of all voices, speeds and sentences, which takes
// minutes. The bounds leave room for other versions of the voices.
func TestCommandsAreRecognizedAndOtherSentencesAreNot(t *testing.T) {
	if testing.Short() {
		t.Skip("much speech through the recognizer: not with -short")
	}
	e := newEar(t)
	voices, speeds, step := speakers(t), []float64{0.85, 1, 1.2}, 1
	if os.Getenv("HOVOR_RATES") == "" {
		voices, speeds, step = voices[:1], speeds[1:2], 2
	}
	total, good, wrong, accepted, foreign := 0, 0, 0, 0, 0
	for _, sp := range voices {
		n, ok, bad, heard, strange := 0, 0, 0, 0, 0
		for _, speed := range speeds {
			for i := 0; i < len(commands); i += step {
				text := commands[i]
				r := recognize(t, e, overOpus(t, sp.say(t, text, speed)))
				n++
				switch {
				case same(text, r.Text):
					ok++
				case r.Understood():
					bad++
					t.Logf("%s at %.2f: %q is heard as %q (%.2f)", sp.name, speed, text, r.Text, r.Confidence)
				}
			}
			for i := 0; i < len(others); i += step {
				text := others[i]
				strange++
				if r := recognize(t, e, overOpus(t, sp.say(t, text, speed))); r.Understood() {
					heard++
				}
			}
		}
		t.Logf("%-17s %3d commands: %5.1f %% right, %4.1f %% wrong, rest not understood; %2d of %d other sentences taken for a command",
			sp.name, n, 100*float64(ok)/float64(n), 100*float64(bad)/float64(n), heard, strange)
		total, good, wrong, accepted, foreign = total+n, good+ok, wrong+bad, accepted+heard, foreign+strange
	}
	t.Logf("all: %d commands, %.1f %% right, %.1f %% wrong; %.1f %% of %d other sentences taken for a command", total,
		100*float64(good)/float64(total), 100*float64(wrong)/float64(total), 100*float64(accepted)/float64(foreign), foreign)
	if float64(good) < 0.85*float64(total) || float64(wrong) > 0.05*float64(total) || float64(accepted) > 0.12*float64(foreign) {
		t.Error("the recognizer has become worse than it was")
	}
}

// fixtures are the recordings that browser tests and the load tester replay.
var fixtures = map[string]string{
	"hello": "hello", "open-welcome": "open the document welcome", "read-pricing": "read me the document pricing",
	"story": "tell me a long story", "stop": "stop", "wait": "wait a minute", "search": "search the documents for winter storage",
	"changes": "what changed recently", "processes": "list the processes", "nonsense": "",
}

func TestTheFixturesAreRecognizedAlsoAfterACall(t *testing.T) {
	if testing.Short() {
		t.Skip("much speech through the recognizer: not with -short")
	}
	e := newEar(t)
	for name, want := range fixtures {
		pcm, rate := readWAV(t, filepath.Join("..", "..", "testdata", "speech", name+".wav"))
		if rate != ear.Rate {
			t.Fatalf("%s has %d Hz", name, rate)
		}
		for how, audio := range map[string][]int16{"directly": pcm, "over Opus at a quarter of the level": quieter(overOpus(t, pcm))} {
			r := recognize(t, e, audio)
			if r.Text != want && !(want != "" && same(r.Text, want)) {
				t.Errorf("%s %s: heard %q (%.2f), want %q", name, how, r.Text, r.Confidence, want)
			}
			t.Logf("%s %s: %q %.2f", name, how, r.Text, r.Confidence)
		}
	}
}

func quieter(pcm []int16) []int16 {
	for i := range pcm {
		pcm[i] /= 4
	}
	return pcm
}

func TestAMissingModelNamesThePackage(t *testing.T) {
	if err := open(); err != nil {
		t.Skip(err)
	}
	_, err := New(Config{Vocabulary: vocabulary, Model: t.TempDir()})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "apt-get install pocketsphinx-en-us") {
		t.Errorf("got %v", err)
	}
}

func TestABusyEarRefusesOnlyEarlyUtterances(t *testing.T) {
	e := newEar(t)
	var held []*decoder
	for range cap(e.free) {
		held = append(held, <-e.free)
	}
	if _, err := e.Recognize(context.Background(), ear.Utterance{Early: true}); !errors.Is(err, ear.ErrBusy) {
		t.Errorf("early: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Recognize(ctx, ear.Utterance{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, d := range held {
		e.free <- d
	}
}
