package sdpfrag

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a fragment. Lines may end in CRLF or LF; attributes that are not of ICE are ignored, as RFC 8840 section 9.2
// asks. Errors: ErrSyntax, ErrTooLarge.
func Parse(text string) (*Fragment, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, MaxBytes)
	}
	p := parser{}
	for n, line := range lines(text) {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	if p.f.Current().IsZero() && len(p.f.Candidates()) == 0 && !p.ended {
		return nil, fmt.Errorf("%w: it has neither credentials nor candidates", ErrSyntax)
	}
	return &p.f, p.complete()
}

func lines(text string) []string {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

type parser struct {
	f          Fragment
	candidates int
	ended      bool
}

func syntax(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrSyntax}, args...)...)
}

func (p *parser) line(line string) error {
	if len(line) < 2 || line[1] != '=' {
		return syntax(`expected "m=" or "a="`)
	}
	for i := range len(line) {
		if line[i] < ' ' || line[i] > '~' {
			return syntax("only printable ASCII can stand here")
		}
	}
	switch line[0] {
	case 'm':
		if len(p.f.Media) == MaxMedia {
			return fmt.Errorf("%w: more than %d media sections", ErrTooLarge, MaxMedia)
		}
		if len(strings.Fields(line[2:])) < 4 {
			return syntax("a media line needs a kind, a port, a protocol and a format")
		}
		p.f.Media = append(p.f.Media, Media{Line: line[2:]})
		return nil
	case 'a':
		name, value, _ := strings.Cut(line[2:], ":")
		return p.attribute(name, value, line[2:])
	}
	return syntax(`only "m=" and "a=" lines stand in a fragment`)
}

func (p *parser) media() *Media {
	if len(p.f.Media) == 0 {
		return nil
	}
	return &p.f.Media[len(p.f.Media)-1]
}

func (p *parser) attribute(name, value, whole string) error {
	m := p.media()
	cred := &p.f.Credentials
	if m != nil {
		cred = &m.Credentials
	}
	switch name {
	case "ice-ufrag":
		return once(&cred.Ufrag, value, 4)
	case "ice-pwd":
		return once(&cred.Pwd, value, 22)
	case "ice-lite":
		p.f.Lite = true
	case "ice-options":
		p.f.Options = strings.Fields(value)
	case "ice-pacing":
		if _, err := strconv.ParseUint(value, 10, 32); err != nil {
			return syntax("ice-pacing is a number of milliseconds")
		}
		p.f.Pacing = value
	case "group":
		p.f.Group = value
	case "mid":
		if m == nil {
			return syntax("a mid belongs to a media section")
		}
		if m.Mid != "" || value == "" || strings.ContainsRune(value, ' ') {
			return syntax("a media section has one mid")
		}
		m.Mid = value
	case "candidate":
		return p.candidate(m, value, whole)
	case "end-of-candidates":
		p.ended = true
		if m != nil {
			m.EndOfCandidates = true
		}
	}
	return nil
}

// once sets a credential: ice-char (RFC 8839 section 5.4), shortest to 256 of them.
func once(dst *string, value string, shortest int) error {
	switch {
	case *dst != "":
		return syntax("this attribute stands here twice")
	case len(value) < shortest || len(value) > 256:
		return syntax("it must have %d to 256 characters", shortest)
	}
	for i := range len(value) {
		if !iceChar(value[i]) {
			return syntax("it may hold letters, digits, + and / only")
		}
	}
	*dst = value
	return nil
}

func iceChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

// candidate checks the form of one (RFC 8839 section 5.1); whether its address is of use, ICE finds out.
func (p *parser) candidate(m *Media, value, whole string) error {
	if m == nil {
		return syntax("a candidate belongs to a media section")
	}
	if p.candidates++; p.candidates > MaxCandidates {
		return fmt.Errorf("%w: more than %d candidates", ErrTooLarge, MaxCandidates)
	}
	f := strings.Fields(value)
	if len(f) < 8 || f[6] != "typ" {
		return syntax("a candidate needs foundation, component, transport, priority, address, port and type")
	}
	for _, n := range []struct {
		text string
		most uint64
	}{{f[1], 256}, {f[3], 1<<32 - 1}, {f[5], 65535}} {
		if v, err := strconv.ParseUint(n.text, 10, 64); err != nil || v > n.most {
			return syntax("component, priority or port of a candidate is out of range")
		}
	}
	m.Candidates = append(m.Candidates, whole)
	return nil
}

func (p *parser) complete() error {
	all := []Credentials{p.f.Credentials}
	mids := map[string]bool{}
	for _, m := range p.f.Media {
		if m.Mid == "" || mids[m.Mid] {
			return syntax("every media section needs a mid of its own")
		}
		mids[m.Mid] = true
		all = append(all, m.Credentials)
	}
	for _, c := range all {
		if (c.Ufrag == "") != (c.Pwd == "") {
			return syntax("ice-ufrag and ice-pwd go together")
		}
	}
	return nil
}
