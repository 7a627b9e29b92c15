package sdpfrag

import (
	"slices"
	"strings"
)

// FromSDP takes the ICE part out of a session description: session-level lines, and of the media sections the first that
// is not bundle-only, because only that one has candidates with max-bundle (RFC 9725 section 4.3.2). Errors: ErrSyntax.
func FromSDP(sdp string) (*Fragment, error) {
	f := &Fragment{}
	var m *Media
	bundleOnly := false
	keep := func() {
		if m != nil && !bundleOnly && len(f.Media) == 0 {
			f.Media = append(f.Media, *m)
		}
	}
	for _, line := range lines(sdp) {
		if value, ok := strings.CutPrefix(line, "m="); ok {
			keep()
			m, bundleOnly = &Media{Line: value}, false
			continue
		}
		attribute, ok := strings.CutPrefix(line, "a=")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(attribute, ":")
		if m == nil {
			sessionAttribute(f, name, value)
			continue
		}
		switch name {
		case "mid":
			m.Mid = value
		case "ice-ufrag":
			m.Credentials.Ufrag = value
		case "ice-pwd":
			m.Credentials.Pwd = value
		case "ice-options":
			f.Options = strings.Fields(value)
		case "candidate":
			m.Candidates = append(m.Candidates, attribute)
		case "end-of-candidates":
			m.EndOfCandidates = true
		case "bundle-only":
			bundleOnly = true
		}
	}
	keep()
	if len(f.Media) == 0 || f.Media[0].Mid == "" || f.Current().IsZero() {
		return nil, syntax("the session description has no media section with ICE credentials")
	}
	return f, nil
}

func sessionAttribute(f *Fragment, name, value string) {
	switch name {
	case "ice-lite":
		f.Lite = true
	case "ice-ufrag":
		f.Credentials.Ufrag = value
	case "ice-pwd":
		f.Credentials.Pwd = value
	case "ice-options":
		f.Options = strings.Fields(value)
	case "ice-pacing":
		f.Pacing = value
	case "group":
		f.Group = value
	}
}

// Apply is sdp with the fragment's credentials and candidates in the place of its own: what the far side would have sent,
// had it made a whole new description. With the credentials that sdp already has, the fragment's candidates are added
// instead; a fragment without credentials adds too. Errors: ErrSyntax.
func Apply(sdp string, f *Fragment) (string, error) {
	old, err := FromSDP(sdp)
	if err != nil {
		return "", err
	}
	now := f.Current()
	restart := !now.IsZero() && now != old.Current()
	var b strings.Builder
	section, first := -1, -1
	all := lines(sdp)
	for i, line := range all {
		if strings.HasPrefix(line, "m=") {
			section++
			if mid := midOf(all[i+1:]); first < 0 && mid == old.Media[0].Mid {
				first = section
			}
		}
		keep := true
		switch attribute := strings.TrimPrefix(line, "a="); {
		case restart && strings.HasPrefix(attribute, "ice-ufrag:"):
			line = "a=ice-ufrag:" + now.Ufrag
		case restart && strings.HasPrefix(attribute, "ice-pwd:"):
			line = "a=ice-pwd:" + now.Pwd
		case restart && strings.HasPrefix(attribute, "candidate:"), strings.HasPrefix(attribute, "end-of-candidates"):
			keep = false
		}
		if keep {
			b.WriteString(line + "\r\n")
		}
		if section == first && section >= 0 && (i+1 == len(all) || strings.HasPrefix(all[i+1], "m=")) {
			writeCandidates(&b, old, f, restart)
		}
	}
	return b.String(), nil
}

func midOf(rest []string) string {
	for _, line := range rest {
		if strings.HasPrefix(line, "m=") {
			break
		}
		if mid, ok := strings.CutPrefix(line, "a=mid:"); ok {
			return mid
		}
	}
	return ""
}

func writeCandidates(b *strings.Builder, old, f *Fragment, restart bool) {
	known := old.Candidates()
	ended := false
	for _, m := range f.Media {
		ended = ended || m.EndOfCandidates
	}
	for _, c := range f.Candidates() {
		if restart || !slices.Contains(known, c) {
			b.WriteString("a=" + c + "\r\n")
			known = append(known, c)
		}
	}
	if ended || !restart && old.Media[0].EndOfCandidates {
		b.WriteString("a=end-of-candidates\r\n")
	}
}
