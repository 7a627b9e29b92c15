package tools

import (
	"crypto/subtle"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
)

// Credential is the proof of who a person is, as the app's backend takes it: the bearer token without its scheme. It
// prints, logs and marshals as its length. Copies share one memory, so Wipe on any of them empties them all. The zero
// value is no credential.
type Credential struct{ held *vault }

// vault hides the secret behind a function, because fmt follows pointers and reads unexported fields when a verb does not
// fit, and prints a function as an address.
type vault struct{ open func() *secret }

type secret struct {
	mu    sync.RWMutex
	bytes []byte // guarded by mu; nil once wiped
}

// NewCredential holds a copy of token.
func NewCredential(token string) Credential {
	s := &secret{bytes: []byte(token)}
	return Credential{held: &vault{open: func() *secret { return s }}}
}

// Reveal returns the token. Only an executor, which puts it into the one request that the person's call makes, may ask.
// It returns "" for the zero value and after Wipe.
func (c Credential) Reveal() string {
	if c.held == nil {
		return ""
	}
	s := c.held.open()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return string(s.bytes)
}

// Len returns the token's length in bytes.
func (c Credential) Len() int {
	if c.held == nil {
		return 0
	}
	s := c.held.open()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.bytes)
}

// Equal compares two tokens in constant time. Two empty credentials are not equal: nobody is not the same as nobody.
func (c Credential) Equal(other Credential) bool {
	mine, theirs := c.Reveal(), other.Reveal()
	return mine != "" && subtle.ConstantTimeCompare([]byte(mine), []byte(theirs)) == 1
}

// Wipe overwrites the held bytes. Strings that Reveal handed out before are beyond its reach.
func (c Credential) Wipe() {
	if c.held == nil {
		return
	}
	s := c.held.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.bytes)
	s.bytes = nil
}

// String returns the length, as in "[10 bytes]".
func (c Credential) String() string { return "[" + strconv.Itoa(c.Len()) + " bytes]" }

// GoString is String, for %#v.
func (c Credential) GoString() string { return c.String() }

// Format writes String whatever the verb asks for.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// LogValue is String, for slog.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText is String, for encoding/json, encoding/xml and every YAML encoder.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
