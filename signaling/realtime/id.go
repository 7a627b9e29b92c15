package realtime

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
)

// MaxIDLen is the longest id that providers accept everywhere: a call_id may have 32 characters.
const MaxIDLen = 32

// idRandom is how many random bytes an id carries when its prefix leaves room: 16 bytes are 22 characters.
const idRandom = 16

// NewID makes an id such as "event_…", "item_…", "resp_…": prefix, underscore, and random characters that need no
// escaping in a URL or in an ICE ufrag-free path. It is at most MaxIDLen characters and unguessable (at least 15 bytes of
// randomness for prefixes of up to ten characters).
func NewID(prefix string) string {
	if len(prefix) > 10 {
		prefix = prefix[:10]
	}
	var b [idRandom]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	s := idEncoding.EncodeToString(b[:])
	id := prefix + "_" + s
	if len(id) > MaxIDLen {
		id = id[:MaxIDLen]
	}
	return id
}

// idEncoding has letters and digits only in all but two places; those two are mapped away so that an id never begins or
// ends with punctuation.
var idEncoding = base64.NewEncoding(strings.Repeat("", 0) + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_").WithPadding(base64.NoPadding)
