package sfu

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/dtls/v3"
	"github.com/pion/dtls/v3/pkg/crypto/prf"
	"github.com/pion/dtls/v3/pkg/protocol/extension"
	"github.com/pion/dtls/v3/pkg/protocol/handshake"
	"github.com/pion/rtp"
	"github.com/pion/srtp/v3"
)

// direct decrypts a peer's inbound SRTP on the goroutine that read it off the wire. Inside the library a packet passes
// three more goroutines and as many buffers before it is decrypted; at thousands of small packets a second that is
// most of what a relay costs.
//
// Its keys are those of RFC 5764, made as the library makes them: from the DTLS master secret, which the library tells
// through its key log, and from both sides' random values, which stand in the clear in the handshake. The secret
// is used within that one call and kept nowhere. Whatever is not as expected leaves the peer with the library, which
// then decrypts as it always does: slower, never wrong. Outbound media, RTCP and DTLS are the library's in any case.
type direct struct {
	mu     sync.Mutex // guards what follows, and is held while Packet of Handlers runs
	mode   directMode
	hello  *handshake.MessageServerHello // the only one seen; nil when there were none, or several
	client bool                          // we are the DTLS client
	hellos int
	ctx    *srtp.Context
	header rtp.Header // scratch
}

type directMode int

const (
	directUndecided directMode = iota // the handshake has not got that far
	directOn
	directOff  // the library decrypts
	directOver // the peer has ended
)

var errNoDirect = errors.New("the library decrypts this peer's media")

// verdict is what became of a packet off the wire.
type verdict int

const (
	forLibrary verdict = iota
	dropped
	handedOn // authentic media
)

// arrived looks at a packet off the wire.
func (p *Peer) arrived(b []byte, at time.Time) verdict {
	switch {
	case isRTP(b):
		return p.media(b, at)
	case isHandshake(b):
		p.direct.see(b, true)
	}
	return forLibrary
}

// leaving looks at a packet that goes out.
func (p *Peer) leaving(b []byte) {
	if isHandshake(b) {
		p.direct.see(b, false)
	}
}

// media decrypts a packet and hands it to the peer's owner.
func (p *Peer) media(b []byte, at time.Time) verdict {
	d := &p.direct
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.mode {
	case directUndecided, directOff:
		return forLibrary
	case directOver:
		return dropped
	}
	plain, err := d.ctx.DecryptRTP(b, b, &d.header)
	if err != nil {
		p.engine.count.directRejected.Add(1)
		return dropped
	}
	p.engine.count.direct.Add(1)
	p.take(plain, at)
	return handedOn
}

// lifeSign is a STUN Binding indication, what RFC 8445 section 11 calls a keepalive. The ICE agent, which does not see
// direct media, gets one for it now and then: media shows that the far side is there, also when checks get lost.
type lifeSign struct{ last atomic.Int64 } // UnixNano

const lifeSignEvery = time.Second // half of the shortest silence that ends a connection

var bindingIndication = []byte{0x00, 0x11, 0, 0, 0x21, 0x12, 0xa4, 0x42, 'm', 'e', 'd', 'i', 'a', ' ', 'i', 's', ' ', 'h', 'e', 'r'}

func (l *lifeSign) due(at time.Time) bool {
	now := at.UnixNano()
	last := l.last.Load()
	return now-last >= int64(lifeSignEvery) && l.last.CompareAndSwap(last, now)
}

// end: after it returns no packet reaches the owner.
func (d *direct) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mode, d.ctx, d.hello = directOver, nil, nil
}

// see takes the server's hello out of a handshake packet.
func (d *direct) see(b []byte, inbound bool) {
	m := serverHello(b)
	if m == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mode != directUndecided {
		return
	}
	if d.hellos > 0 && d.hello != nil && d.client == inbound && d.hello.Random == m.Random {
		return // sent again
	}
	if d.hellos++; d.hellos > 1 {
		d.hello = nil // forged, one of them
		return
	}
	d.hello, d.client = m, inbound
}

// Write takes a line of the library's key log: "CLIENT_RANDOM", the client's random value, the master secret, both in
// hexadecimal. It comes before the handshake ends, so before the first media.
func (d *direct) Write(line []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mode != directUndecided {
		return len(line), nil
	}
	d.mode = directOff
	if ctx, err := d.open(line); err == nil {
		d.ctx, d.mode = ctx, directOn
	}
	d.hello = nil
	return len(line), nil
}

// open makes the SRTP context of the inbound direction.
func (d *direct) open(line []byte) (*srtp.Context, error) {
	f := bytes.Fields(line)
	if d.hello == nil || d.hello.CipherSuiteID == nil || len(f) != 3 || string(f[0]) != "CLIENT_RANDOM" {
		return nil, errNoDirect
	}
	var e exporter
	var err error
	if e.clientRandom, err = hex.DecodeString(string(f[1])); err != nil {
		return nil, errNoDirect
	}
	if e.master, err = hex.DecodeString(string(f[2])); err != nil {
		return nil, errNoDirect
	}
	defer clear(e.master)
	e.serverRandom = d.hello.Random.MarshalFixed()
	if e.hash = prfHash(*d.hello.CipherSuiteID); e.hash == nil {
		return nil, errNoDirect
	}
	var cfg srtp.Config
	if cfg.Profile = srtpProfile(d.hello.Extensions); cfg.Profile == 0 {
		return nil, errNoDirect
	}
	if err := cfg.ExtractSessionKeysFromDTLS(e, d.client); err != nil {
		return nil, err
	}
	return srtp.CreateContext(cfg.Keys.RemoteMasterKey, cfg.Keys.RemoteMasterSalt, cfg.Profile,
		srtp.SRTPReplayProtection(srtpReplayWindow), srtp.Cryptex(srtp.CryptexModeEnabled)) // RFC 9335, which the library negotiates
}

// exporter makes keying material as RFC 5705 section 4 says.
type exporter struct {
	master, clientRandom []byte
	serverRandom         [handshake.RandomLength]byte
	hash                 func() hash.Hash
}

func (e exporter) ExportKeyingMaterial(label string, _ []byte, length int) ([]byte, error) {
	seed := append([]byte(label), e.clientRandom...)
	return prf.PHash(e.master, append(seed, e.serverRandom[:]...), length, e.hash)
}

// prfHash is the hash of a cipher suite's pseudo-random function (RFC 5246 section 5, RFC 5289 section 3.2); nil: a
// suite that this does not know.
func prfHash(suite uint16) func() hash.Hash {
	switch dtls.CipherSuiteID(suite) {
	case dtls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, dtls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		dtls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, dtls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		dtls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, dtls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA:
		return sha256.New
	case dtls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, dtls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384:
		return sha512.New384
	}
	return nil
}

// srtpProfile is the protection profile that the server chose (RFC 5764 section 4.1.1); 0: none that this knows.
func srtpProfile(list []extension.Extension) srtp.ProtectionProfile {
	for _, e := range list {
		u, ok := e.(*extension.UseSRTP)
		if !ok || len(u.ProtectionProfiles) != 1 || len(u.MasterKeyIdentifier) > 0 {
			continue
		}
		switch u.ProtectionProfiles[0] {
		case extension.SRTP_AEAD_AES_128_GCM:
			return srtp.ProtectionProfileAeadAes128Gcm
		case extension.SRTP_AEAD_AES_256_GCM:
			return srtp.ProtectionProfileAeadAes256Gcm
		case extension.SRTP_AES128_CM_HMAC_SHA1_80:
			return srtp.ProtectionProfileAes128CmHmacSha1_80
		}
	}
	return 0
}

// isRTP and isHandshake tell packets apart as RFC 7983 and RFC 5761 section 4 say.
func isRTP(b []byte) bool {
	return len(b) >= 4 && b[0] >= 128 && b[0] <= 191 && (b[1] < 192 || b[1] > 223)
}

func isHandshake(b []byte) bool { return len(b) >= recordHeader && b[0] == contentHandshake }

const (
	recordHeader     = 13 // RFC 6347 section 4.1
	handshakeHeader  = 12 // RFC 6347 section 4.2.2
	contentHandshake = 22
)

// serverHello is the ServerHello in a packet of DTLS records; nil when there is none in one piece.
func serverHello(b []byte) *handshake.MessageServerHello {
	for len(b) >= recordHeader+handshakeHeader && b[0] == contentHandshake {
		n := int(binary.BigEndian.Uint16(b[11:]))
		if epoch := binary.BigEndian.Uint16(b[3:]); epoch != 0 || len(b) < recordHeader+n || n < handshakeHeader {
			return nil
		}
		body := b[recordHeader : recordHeader+n]
		size, offset, part := uint24(body[1:]), uint24(body[6:]), uint24(body[9:])
		if handshake.Type(body[0]) == handshake.TypeServerHello && offset == 0 && part == size && handshakeHeader+size <= n {
			var m handshake.MessageServerHello
			if m.Unmarshal(body[handshakeHeader:handshakeHeader+size]) != nil {
				return nil
			}
			return &m
		}
		b = b[recordHeader+n:]
	}
	return nil
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }
