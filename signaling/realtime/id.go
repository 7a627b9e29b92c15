package realtime

import "crypto/rand"

// MaxIDLen is the longest id that every provider accepts: a call_id on the wire may have 32 characters.
const MaxIDLen = 32

// maxPrefix leaves at least 21 random characters of the 62 letters and digits: 125 bits.
const maxPrefix = 10

const idAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// NewID makes an unguessable id such as "event_…", "item_…" or "resp_…": the prefix (cut to ten characters), an
// underscore, and random letters and digits, MaxIDLen characters at most. It needs no escaping in a URL.
func NewID(prefix string) string {
	if len(prefix) > maxPrefix {
		prefix = prefix[:maxPrefix]
	}
	id := make([]byte, 0, MaxIDLen)
	id = append(append(id, prefix...), '_')
	var random [2 * MaxIDLen]byte
	for len(id) < MaxIDLen {
		rand.Read(random[:]) // never fails (package crypto/rand)
		for _, b := range random {
			// 248 is the largest multiple of 62 in a byte; what is above would favour the first letters.
			if b < 248 && len(id) < MaxIDLen {
				id = append(id, idAlphabet[b%62])
			}
		}
	}
	return string(id)
}
