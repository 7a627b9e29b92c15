package call

import (
	"context"
	"fmt"
	"sync"

	"hovor/signaling/realtime"
	"hovor/signaling/sdpfrag"
)

// ice is the negotiated path of a client over WebRTC: what the client offered last, and the name of the ICE session.
type ice struct {
	mu    sync.Mutex // guards what follows, and orders restarts
	offer string
	etag  string
}

// ETag names the ICE session of the client's leg; it changes with each restart. Empty when there is none.
func (c *Call) ETag() string {
	c.ice.mu.Lock()
	defer c.ice.mu.Unlock()
	return c.ice.etag
}

// Patch takes candidates that the client found after its offer, or restarts ICE when the fragment's credentials are new
// (RFC 9725 section 4.3): the call goes on over the path that is found then. tag is the ICE session that the client
// means, "" for any. It gives the fragment to answer a restart with, nil otherwise. Errors: ErrNoPath, ErrETag, and those of
// sfu.Peer.Restart.
func (c *Call) Patch(ctx context.Context, tag string, f *sdpfrag.Fragment) (answer *sdpfrag.Fragment, etag string, err error) {
	p, ok := c.client.(*peer)
	if !ok {
		return nil, "", ErrNoPath
	}
	c.ice.mu.Lock()
	defer c.ice.mu.Unlock()
	if tag != "" && tag != c.ice.etag {
		return nil, "", ErrETag
	}
	old, err := sdpfrag.FromSDP(c.ice.offer)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrNoPath, err)
	}
	offer, err := sdpfrag.Apply(c.ice.offer, f)
	if err != nil {
		return nil, "", err
	}
	if now := f.Current(); now.IsZero() || now == old.Current() {
		c.ice.offer = offer
		return nil, "", p.AddCandidates(f.Candidates())
	}
	sdp, err := p.Restart(ctx, offer)
	if err != nil {
		return nil, "", err
	}
	if answer, err = sdpfrag.FromSDP(sdp); err != nil {
		return nil, "", err
	}
	c.ice.offer, c.ice.etag = offer, realtime.NewID("ice")
	c.log.Info("ice restarted")
	return answer, c.ice.etag, nil
}
