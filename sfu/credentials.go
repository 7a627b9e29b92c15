package sfu

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"

	"github.com/pion/webrtc/v4"
)

// The ice-char alphabet of RFC 8839 section 5.4: 64 characters, so one random byte masks to one character evenly.
const iceAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

const (
	maxNodeID   = 8
	ufragRandom = 12 // 72 random bits after the node id; RFC 8445 section 5.3 asks for 24
	passwordLen = 24 // 144 bits; RFC 8445 asks for 128
)

// iceCredentials makes a user fragment that starts with the node id, and a password.
func iceCredentials(node string) (ufrag, password string) {
	return node + iceChars(ufragRandom), iceChars(passwordLen)
}

func iceChars(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = iceAlphabet[b[i]&63]
	}
	return string(b)
}

// NodeOf reads the node id out of a user fragment that an Engine made; false when it cannot be one.
func NodeOf(ufrag string) (node string, ok bool) {
	n := len(ufrag) - ufragRandom
	if n < 1 || n > maxNodeID {
		return "", false
	}
	return ufrag[:n], true
}

func newCertificate() (webrtc.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return webrtc.Certificate{}, fmt.Errorf("make a DTLS key: %w", err)
	}
	cert, err := webrtc.GenerateCertificate(key)
	if err != nil {
		return webrtc.Certificate{}, fmt.Errorf("make a DTLS certificate: %w", err)
	}
	return *cert, nil
}
