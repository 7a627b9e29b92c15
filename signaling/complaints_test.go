package signaling

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// complaints says where each of the 25 public complaints about realtime voice services has its test: by the number of its row, the
// tests that fail when the complaint would be justified. Tests named TestRow6_<row>_… are found by that name and need not stand here.
var complaints = map[int]struct {
	what  string
	tests []string // folder, and name
}{
	1:  {"an error that is not an object, or hides in a 200", []string{"signaling TestRow3_2_9_And6_1_EveryRefusalIsAnObjectWithAMessage"}},
	2:  {"no call id", nil},
	3:  {"consent checks without USE-CANDIDATE left unanswered", nil},
	4:  {"a forgotten tab runs for an hour", nil},
	5:  {"a provider's session outlives the tab", nil},
	6:  {"a large message kills the session silently", nil},
	7:  {"an error after a short push-to-talk tap", nil},
	8:  {"two answers at once", []string{"gateway/call/conversation TestRow3_2_15_And6_8_TwoCreatesAreOneAfterTheOther"}},
	9:  {"a truncation longer than the audio", nil},
	10: {"talks on after a cancel", nil},
	11: {"dead air at the provider's limit", nil},
	12: {"beta clients refused", nil},
	13: {"a preflight fails for an extra header", nil},
	14: {"a user reads or rewrites the instructions", nil},
	15: {"the cost is zero or wrong", nil},
	16: {"one dead leg leaves the other", nil},
	17: {"Gemini does not stop when interrupted", []string{"gateway/provider/gemini TestInterruptionByLiveIsPassedOnAtOnce"}},
	18: {"freezes after a tool call", nil},
	19: {"the transcript in the wrong order", nil},
	20: {"choppy or clicking audio", []string{"sfu/resample TestChunkBordersLeaveNoTrace", "sfu/bridge TestABurstOfTenSecondsPlaysInTenSeconds"}},
	21: {"firewalled networks", []string{"sfu TestEngineOnEveryInterfaceUsesOnePort", "sfu TestCallOverTCPOnly"}},
	22: {"a hand-off breaks with cannot_update_voice", nil},
	23: {"a sideband is 404 or 401", nil},
	24: {"Location points to nothing, ids change", nil},
	25: {"the end of the last answer is heard after reconnecting", nil},
}

// untested are rows without a test, known and counted; whoever writes one takes its row out.
var untested = []int{3}

func TestEveryComplaintHasATestThatExists(t *testing.T) {
	tests := testsOfTheTree(t)
	named := regexp.MustCompile(`^\S+ TestRow6_([0-9]+)_`)
	found := map[int][]string{}
	for name := range tests {
		if m := named.FindStringSubmatch(name); m != nil {
			row := 0
			for _, digit := range m[1] {
				row = 10*row + int(digit-'0')
			}
			found[row] = append(found[row], name)
		}
	}
	if len(complaints) != 25 {
		t.Errorf("there are 25 rows, and %d here", len(complaints))
	}
	for row, c := range complaints {
		for _, name := range c.tests {
			if !tests[name] {
				t.Errorf("row %d, %s: there is no %s", row, c.what, name)
			}
		}
		has := len(c.tests)+len(found[row]) > 0
		switch known := slices.Contains(untested, row); {
		case !has && !known:
			t.Errorf("row %d, %s: no test is named for it", row, c.what)
		case has && known:
			t.Errorf("row %d, %s: has a test now; take it out of untested", row, c.what)
		}
	}
}

// testsOfTheTree are all Go tests as "folder TestName".
func testsOfTheTree(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	tests := map[string]bool{}
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		}
		if ok, _ := filepath.Match("*_test.go", d.Name()); !ok {
			return nil
		}
		src, err := fs.ReadFile(root, path)
		for _, m := range function.FindAllSubmatch(src, -1) {
			tests[filepath.ToSlash(filepath.Dir(path))+" "+string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
