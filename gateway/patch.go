package gateway

import (
	"context"
	"errors"

	"hovor/gateway/call"
	"hovor/signaling"
	"hovor/signaling/sdpfrag"
)

// patchable is a call whose media path ends here.
type patchable interface {
	Patch(ctx context.Context, tag string, f *sdpfrag.Fragment) (answer *sdpfrag.Fragment, etag string, err error)
}

// Patch takes the candidates or the ICE restart of a call's client (RFC 9725 section 4.3).
func (d *door) Patch(ctx context.Context, c signaling.Caller, callID string, p signaling.PatchRequest) (*signaling.PatchAnswer, error) {
	found, err := d.find(c, callID)
	if err != nil {
		return nil, err
	}
	live, ok := found.(patchable)
	if !ok {
		return nil, signaling.ErrPatchKind
	}
	answer, etag, err := live.Patch(ctx, p.IfMatch, p.Fragment)
	switch {
	case errors.Is(err, call.ErrETag):
		return nil, signaling.ErrPrecondition
	case errors.Is(err, call.ErrNoPath):
		return nil, signaling.ErrPatchKind
	case err != nil:
		return nil, err
	}
	return &signaling.PatchAnswer{ETag: etag, Fragment: answer}, nil
}

// Authenticate says whether the caller is somebody, without using a secret up.
func (d *door) Authenticate(_ context.Context, c signaling.Caller) error {
	_, err := d.holder(c)
	return err
}

var (
	_ signaling.Service       = (*door)(nil)
	_ signaling.SocketService = (*door)(nil)
	_ signaling.Patcher       = (*door)(nil)
	_ signaling.Authenticator = (*door)(nil)
)
