package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"hovor/signaling/sdpfrag"
)

// iceSession is the ICE session that the server answered last.
type iceSession struct {
	mu     sync.Mutex // one PATCH after the other: an entity-tag belongs to the answer before
	etag   string     // as it came, with its quotes
	remote string     // the server's description, kept up to date
}

// Links are the Link headers of the answer: ICE servers with rel="ice-server", where the server announced any.
func (c *Conn) Links() []string { return c.links }

// Trickle sends further candidates of the current ICE session (RFC 9725 section 4.3.2). Errors: ErrConfig when the server
// gave no entity-tag, ErrTransport, *realtime.Error.
func (c *Conn) Trickle(ctx context.Context, f *sdpfrag.Fragment) error {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	if c.session.etag == "" {
		return fmt.Errorf("trickle: %w: the server takes none, it named no ETag", ErrConfig)
	}
	if _, _, err := c.cfg.patch(ctx, c.callID, c.session.etag, f); err != nil {
		return fmt.Errorf("trickle: %w", err)
	}
	return nil
}

// Restart restarts ICE (RFC 9725 section 4.3.3). offer is our whole new description, made with new ICE credentials; the
// answer is the server's whole description with what it answered, to be applied as the answer to that offer. An error
// leaves the ICE session as it was, at the server too. Errors: ErrReply, ErrTransport, *realtime.Error, sdpfrag.ErrSyntax
// for an offer without ICE.
func (c *Conn) Restart(ctx context.Context, offer string) (answer string, err error) {
	f, err := sdpfrag.FromSDP(offer)
	if err != nil {
		return "", fmt.Errorf("restart ICE: %w", err)
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	header, body, err := c.cfg.patch(ctx, c.callID, "*", f)
	if err != nil {
		return "", fmt.Errorf("restart ICE: %w", err)
	}
	theirs, err := sdpfrag.Parse(string(body))
	if err != nil || theirs.Current().IsZero() {
		return "", fmt.Errorf("restart ICE: %w: it holds no new credentials", ErrReply)
	}
	if answer, err = sdpfrag.Apply(c.session.remote, theirs); err != nil {
		return "", fmt.Errorf("restart ICE: %w: %w", ErrReply, err)
	}
	c.session.remote, c.session.etag = answer, header.Get("ETag")
	return answer, nil
}

func (c *Config) patch(ctx context.Context, callID, ifMatch string, f *sdpfrag.Fragment) (http.Header, []byte, error) {
	if callID == "" {
		return nil, nil, fmt.Errorf("%w: the server named no call id", ErrConfig)
	}
	header := http.Header{"Content-Type": {sdpfrag.MediaType}, "If-Match": {ifMatch}}
	return c.do(ctx, http.MethodPatch, "/calls/"+url.PathEscape(callID), header, []byte(f.Text()))
}
