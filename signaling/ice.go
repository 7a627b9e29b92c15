package signaling

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pion/stun/v4"
)

// DefaultTURNTTL outlives the longest call that providers allow.
const DefaultTURNTTL = 2 * time.Hour

// ICEServers are announced in Link headers (RFC 9725 section 4.6). The zero value announces none, which is right when the
// gateway's own address can be reached: its answer holds all its candidates.
type ICEServers struct {
	// URLs are "stun:host:port", "turn:host:port?transport=udp" or "turns:…" (RFC 7064, RFC 7065).
	URLs []string
	// Secret is shared with the TURN server (coturn: use-auth-secret, static-auth-secret). Without it TURN servers are
	// announced without credentials.
	Secret Credential
	// TTL is how long a TURN credential is good. 0 = DefaultTURNTTL.
	TTL time.Duration
}

// Validate returns everything that is wrong with the URLs.
func (s ICEServers) Validate() error {
	var errs []error
	for i, u := range s.URLs {
		if _, err := stun.ParseURI(u); err != nil || strings.ContainsAny(u, "<>\"\\, \t\r\n") {
			errs = append(errs, fmt.Errorf("ice server %d is no STUN or TURN URL; expected for example turn:turn.example.org:3478?transport=udp", i+1))
		}
	}
	return errors.Join(errs...)
}

// links are the Link header values. user names whom the credential is for in the TURN server's log: an id, never a person.
// Without withTURN only STUN servers are named.
func (s ICEServers) links(now time.Time, user string, withTURN bool) []string {
	var links []string
	for _, u := range s.URLs {
		link := "<" + u + `>; rel="ice-server"`
		if strings.HasPrefix(u, "turn") {
			if !withTURN {
				continue
			}
			if !s.Secret.IsZero() {
				username, password := s.credential(now, user)
				link += `; username="` + username + `"; credential="` + password + `"; credential-type="password"`
			}
		}
		links = append(links, link)
	}
	return links
}

// credential is the time-limited form of coturn's REST API: the username begins with the second at which it ends, the
// password is the base64 of HMAC-SHA1 of the username under the shared secret.
func (s ICEServers) credential(now time.Time, user string) (username, password string) {
	ttl := s.TTL
	if ttl <= 0 {
		ttl = DefaultTURNTTL
	}
	username = strconv.FormatInt(now.Add(ttl).Unix(), 10) + ":" + user
	mac := hmac.New(sha1.New, []byte(s.Secret.Reveal()))
	mac.Write([]byte(username))
	return username, base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// announceICE puts the servers into a reply.
func (h *handler) announceICE(header http.Header, user string, withTURN bool) {
	for _, link := range h.ice.links(time.Now(), user, withTURN) {
		header.Add("Link", link)
	}
}
