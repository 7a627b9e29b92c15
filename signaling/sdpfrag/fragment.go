package sdpfrag

import (
	"fmt"
	"strings"
)

// MediaType is the media type of a fragment.
const MediaType = "application/trickle-ice-sdpfrag"

// Limits of one fragment. A browser with ten interfaces makes some forty candidates.
const (
	MaxBytes      = 64 << 10
	MaxMedia      = 32
	MaxCandidates = 256
)

// Credentials are one ICE generation's user fragment and password (RFC 8839 section 5.4).
type Credentials struct {
	Ufrag string // 4 to 256 characters
	Pwd   string // 22 to 256 characters
}

// IsZero reports that there are none.
func (c Credentials) IsZero() bool { return c == Credentials{} }

// String keeps the password out of what is printed.
func (c Credentials) String() string {
	return fmt.Sprintf("ufrag %s, pwd [%d bytes]", c.Ufrag, len(c.Pwd))
}

// GoString covers %#v.
func (c Credentials) GoString() string { return c.String() }

// Fragment is what one PATCH carries, in either direction.
type Fragment struct {
	Credentials Credentials // of the session level; a media section may have its own
	Lite        bool        // a=ice-lite
	Options     []string    // a=ice-options: "trickle", "ice2"
	Pacing      string      // a=ice-pacing, milliseconds
	Group       string      // the value of a=group, for example "BUNDLE 0 1"
	Media       []Media
}

// Media is one media section. With a bundle only the first has candidates.
type Media struct {
	Line            string // what stands behind "m=", for example "audio 9 UDP/TLS/RTP/SAVPF 111"
	Mid             string
	Credentials     Credentials
	Candidates      []string // what stands behind "a=", for example "candidate:1 1 udp 2130706431 192.0.2.1 3478 typ host"
	EndOfCandidates bool
}

// Current is the credentials that the fragment belongs to: the session level's, else the first media section's.
func (f *Fragment) Current() Credentials {
	if !f.Credentials.IsZero() {
		return f.Credentials
	}
	for _, m := range f.Media {
		if !m.Credentials.IsZero() {
			return m.Credentials
		}
	}
	return Credentials{}
}

// Candidates are all candidates of the fragment in order.
func (f *Fragment) Candidates() []string {
	var all []string
	for _, m := range f.Media {
		all = append(all, m.Candidates...)
	}
	return all
}

// String tells how much there is and keeps the password out.
func (f Fragment) String() string {
	return fmt.Sprintf("%v, %d candidates", f.Current(), len(f.Candidates()))
}

// GoString covers %#v.
func (f Fragment) GoString() string { return f.String() }

// Text is the fragment as it travels, lines ended by CRLF.
func (f *Fragment) Text() string {
	var b strings.Builder
	line := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
		b.WriteString("\r\n")
	}
	credentials := func(c Credentials) {
		if c.Ufrag != "" {
			line("a=ice-ufrag:", c.Ufrag)
		}
		if c.Pwd != "" {
			line("a=ice-pwd:", c.Pwd)
		}
	}
	if f.Lite {
		line("a=ice-lite")
	}
	if len(f.Options) > 0 {
		line("a=ice-options:", strings.Join(f.Options, " "))
	}
	if f.Pacing != "" {
		line("a=ice-pacing:", f.Pacing)
	}
	credentials(f.Credentials)
	if f.Group != "" {
		line("a=group:", f.Group)
	}
	for _, m := range f.Media {
		line("m=", m.Line)
		line("a=mid:", m.Mid)
		credentials(m.Credentials)
		for _, c := range m.Candidates {
			line("a=", c)
		}
		if m.EndOfCandidates {
			line("a=end-of-candidates")
		}
	}
	return b.String()
}
