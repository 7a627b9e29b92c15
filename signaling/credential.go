package signaling

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// Credential is what a caller proved itself with. It prints, logs and marshals as its length; only Reveal gives the value.
// The zero value is "none given".
type Credential struct{ value string }

// NewCredential wraps a token.
func NewCredential(token string) Credential { return Credential{token} }

// Reveal is the token itself, for the one who must check it or pass it on.
func (c Credential) Reveal() string { return c.value }

// IsZero reports that no credential was given.
func (c Credential) IsZero() bool { return c.value == "" }

// Equal compares in constant time.
func (c Credential) Equal(token string) bool {
	return subtle.ConstantTimeCompare([]byte(c.value), []byte(token)) == 1
}

func (c Credential) String() string { return fmt.Sprintf("[%d bytes]", len(c.value)) }

// GoString covers %#v.
func (c Credential) GoString() string { return c.String() }

// Format covers every verb, also those that would reach into the struct.
func (c Credential) Format(f fmt.State, _ rune) { io.WriteString(f, c.String()) }

// LogValue covers slog.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText covers JSON, YAML and every other text encoder.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MarshalJSON covers JSON also where a text marshaler is not asked.
func (c Credential) MarshalJSON() ([]byte, error) { return []byte(`"` + c.String() + `"`), nil }
