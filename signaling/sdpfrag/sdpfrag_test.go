package sdpfrag

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// trickled is the example of RFC 9725 section 4.3.2 in our words.
const trickled = "a=ice-options:trickle ice2\r\n" +
	"a=group:BUNDLE 0 1\r\n" +
	"m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" +
	"a=mid:0\r\n" +
	"a=ice-ufrag:EsAw\r\n" +
	"a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\n" +
	"a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw network-id 1\r\n" +
	"a=candidate:473322822 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active generation 0\r\n" +
	"a=end-of-candidates\r\n"

func TestAFragmentIsReadAndWrittenAgain(t *testing.T) {
	f, err := Parse(trickled)
	if err != nil {
		t.Fatal(err)
	}
	want := &Fragment{
		Options: []string{"trickle", "ice2"}, Group: "BUNDLE 0 1",
		Media: []Media{{
			Line: "audio 9 UDP/TLS/RTP/SAVPF 111", Mid: "0", Credentials: Credentials{"EsAw", "P2uYro0UCOQ4zxjKXaWCBui1"}, EndOfCandidates: true,
			Candidates: []string{
				"candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw network-id 1",
				"candidate:473322822 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active generation 0",
			},
		}},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got %+v", f)
	}
	if f.Text() != trickled {
		t.Errorf("written as\n%s", f.Text())
	}
	if lf, err := Parse(strings.ReplaceAll(trickled, "\r\n", "\n")); err != nil || !reflect.DeepEqual(lf, want) {
		t.Errorf("with LF: %+v, %v", lf, err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v %v", f.Current(), f, f.Media[0].Credentials, *f), "P2uYro0") {
		t.Error("the password is printed")
	}
}

func TestABrokenFragmentIsRefusedByItsLine(t *testing.T) {
	const head, pwd = "m=audio 9 UDP/TLS/RTP/SAVPF 111\na=mid:0\n", "a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\n"
	candidate := "a=candidate:1 1 udp 1 192.0.2.1 1 typ host\n"
	for _, c := range []struct {
		name, text, says string
		is               error
	}{
		{"nothing", "", "neither", ErrSyntax},
		{"a whole session description", "v=0\n" + head, "line 1", ErrSyntax},
		{"no line", "hello", "line 1", ErrSyntax},
		{"nothing of ICE", head, "neither", ErrSyntax},
		{"a candidate before any section", candidate, "media section", ErrSyntax},
		{"a short candidate", head + "a=candidate:1 1 udp\n", "line 3", ErrSyntax},
		{"a port that is none", head + "a=candidate:1 1 udp 1 192.0.2.1 99999 typ host\n", "range", ErrSyntax},
		{"a section without mid", "m=audio 9 X 1\n" + candidate, "mid", ErrSyntax},
		{"two mids", head + "a=mid:1\n", "one mid", ErrSyntax},
		{"two sections of one mid", head + head + candidate, "mid of its own", ErrSyntax},
		{"a user fragment alone", head + "a=ice-ufrag:EsAw\n", "together", ErrSyntax},
		{"a password alone", head + pwd, "together", ErrSyntax},
		{"a short user fragment", head + "a=ice-ufrag:E\n", "4 to 256", ErrSyntax},
		{"a short password", head + "a=ice-pwd:short\n", "22 to 256", ErrSyntax},
		{"a password of other characters", head + "a=ice-pwd:P2uYro0UCOQ4zxjKXaW-----\n", "letters", ErrSyntax},
		{"a control character", head + "a=candidate:1 1 udp 1 192.0.2.1 1 typ host\x00\n", "printable", ErrSyntax},
		{"a smuggled line", head + "a=candidate:1 1 udp 1 192.0.2.1 1 typ host\rm=video\n", "printable", ErrSyntax},
		{"too many candidates", head + strings.Repeat(candidate, MaxCandidates+1), "candidates", ErrTooLarge},
		{"too many sections", strings.Repeat("m=audio 9 X 1\n", MaxMedia+1), "sections", ErrTooLarge},
		{"too many bytes", strings.Repeat("a", MaxBytes+1), "bytes", ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.text)
			if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

const description = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\na=ice-options:trickle\r\n" +
	"m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=ice-ufrag:old0\r\na=ice-pwd:oldoldoldoldoldoldoldold\r\na=candidate:1 1 udp 1 192.0.2.9 1 typ host\r\na=end-of-candidates\r\na=sendrecv\r\n" +
	"m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\na=ice-ufrag:old0\r\na=ice-pwd:oldoldoldoldoldoldoldold\r\na=sctp-port:5000\r\n"

func TestARestartReplacesCredentialsAndCandidatesOfADescription(t *testing.T) {
	f, err := Parse(trickled)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Apply(description, f)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(got, "a=ice-ufrag:EsAw\r\n"); n != 2 || strings.Contains(got, "old") || strings.Contains(got, "192.0.2.9") {
		t.Errorf("%d new user fragments in\n%s", n, got)
	}
	audio, _, _ := strings.Cut(got, "m=application")
	if strings.Count(audio, "a=candidate:") != 2 || strings.Count(got, "a=candidate:") != 2 || strings.Count(audio, "a=end-of-candidates") != 1 {
		t.Errorf("candidates in\n%s", got)
	}
	back, err := FromSDP(got)
	if err != nil || back.Current() != f.Current() || !reflect.DeepEqual(back.Candidates(), f.Candidates()) || back.Group != f.Group {
		t.Errorf("read back as %+v, %v", back, err)
	}
}

func TestTrickledCandidatesAreAddedToADescriptionOnce(t *testing.T) {
	f := &Fragment{Media: []Media{{Line: "audio 9 X 1", Mid: "0", Candidates: []string{"candidate:1 1 udp 1 192.0.2.9 1 typ host", "candidate:2 1 udp 1 192.0.2.8 1 typ host"}}}}
	got, err := Apply(description, f)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(got, "a=candidate:") != 2 || strings.Count(got, "old0") != 2 || strings.Count(got, "a=end-of-candidates") != 1 {
		t.Errorf("got\n%s", got)
	}
}

func TestADescriptionWithoutICEHasNoFragment(t *testing.T) {
	for _, sdp := range []string{"", "v=0\r\n", "v=0\r\nm=audio 9 X 1\r\na=mid:0\r\n", "v=0\r\na=ice-ufrag:abcd\r\nm=audio 9 X 1\r\n"} {
		if f, err := FromSDP(sdp); !errors.Is(err, ErrSyntax) {
			t.Errorf("%q: %+v, %v", sdp, f, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{trickled, description, "a=ice-lite\na=end-of-candidates", "m=audio 9 X 1\na=mid:0\na=candidate:1 1 udp 1 ::1 1 typ host", "a=ice-pacing:20", "\r\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		frag, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		again, err := Parse(frag.Text())
		if err != nil && len(frag.Media) > 0 {
			t.Fatalf("what was written is refused: %v\n%q", err, frag.Text())
		}
		if err == nil && again.Text() != frag.Text() {
			t.Fatalf("\n%q\n%q", frag.Text(), again.Text())
		}
		if out, err := Apply(description, frag); err == nil && strings.Count(out, "\r\nm=") != 2 {
			t.Fatalf("a section was smuggled in:\n%s", out)
		}
	})
}

func TestApplyPutsTheCandidatesWhereTheOldOnesEndedTheSection(t *testing.T) {
	const sdp = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=ice-ufrag:oldfrag\r\na=ice-pwd:0123456789012345678901\r\n" +
		"a=candidate:1 1 udp 1 192.0.2.1 1 typ host\r\na=end-of-candidates\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\n"
	f, err := Parse("m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=ice-ufrag:newfrag\r\na=ice-pwd:1123456789012345678901\r\n" +
		"a=candidate:2 1 udp 1 192.0.2.2 2 typ host\r\na=end-of-candidates\r\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Apply(sdp, f)
	want := "a=ice-pwd:1123456789012345678901\r\na=candidate:2 1 udp 1 192.0.2.2 2 typ host\r\na=end-of-candidates\r\nm=application"
	if err != nil || !strings.Contains(got, want) || strings.Contains(got, "candidate:1 ") {
		t.Errorf("%v\n%s", err, got)
	}
}
