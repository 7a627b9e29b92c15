package sfu

import (
	"context"
	"fmt"
	"reflect"

	"github.com/pion/webrtc/v4"
)

// Restart answers a new offer of an accepted peer's far side that differs in its ICE credentials and candidates (RFC 8839
// section 4.4.1.1.1): the media and the event channel go on over whatever path is found next. The answer has new
// credentials and all our candidates. Errors: ErrNotSDP, ErrNoAudio, ErrUnsupportedCodec, ErrNegotiation, ErrWrongState.
func (p *Peer) Restart(ctx context.Context, offer string) (answer string, err error) {
	p.restarting.Lock()
	defer p.restarting.Unlock()
	if p.offering || p.over() {
		return "", fmt.Errorf("restart ICE: %w", ErrWrongState)
	}
	remote, err := readRemote(offer)
	if err != nil {
		return "", err
	}
	if err := p.renewCredentials(); err != nil {
		return "", err
	}
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: remote.sdp}); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNegotiation, err)
	}
	desc, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNegotiation, err)
	}
	return p.renegotiate(ctx, desc)
}

// RestartOffer makes a new offer of an offering peer, with new ICE credentials and candidates. Give the far side's answer
// to SetAnswer. Errors: ErrNegotiation, ErrWrongState.
func (p *Peer) RestartOffer(ctx context.Context) (offer string, err error) {
	p.restarting.Lock()
	defer p.restarting.Unlock()
	if !p.offering || p.over() || p.pc.SignalingState() != webrtc.SignalingStateStable {
		return "", fmt.Errorf("restart ICE: %w", ErrWrongState)
	}
	if err := p.renewCredentials(); err != nil {
		return "", err
	}
	desc, err := p.pc.CreateOffer(&webrtc.OfferOptions{ICERestart: true})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNegotiation, err)
	}
	return p.renegotiate(ctx, desc)
}

// AddCandidates takes candidates of the far side that came after its description ("candidate:…").
func (p *Peer) AddCandidates(list []string) error {
	for _, c := range list {
		if err := p.pc.AddICECandidate(webrtc.ICECandidateInit{Candidate: c}); err != nil {
			return fmt.Errorf("%w: %w", ErrNegotiation, err)
		}
	}
	return nil
}

func (p *Peer) over() bool {
	s := p.State()
	return s == StateFailed || s == StateClosed
}

// renegotiate makes a description final and waits for its candidates.
func (p *Peer) renegotiate(ctx context.Context, desc webrtc.SessionDescription) (string, error) {
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(desc); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNegotiation, err)
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", fmt.Errorf("gather candidates: %w", context.Cause(ctx))
	}
	return p.pc.LocalDescription().SDP, nil
}

// renewCredentials gives the next restart credentials of its own. The library restarts with those of its settings and has
// no way to change them; without fixed ones it would make them up, and the user fragment would not name our node. The
// settings are read by a restart only, and restarts come one at a time.
func (p *Peer) renewCredentials() error {
	field := reflect.ValueOf(p.api).Elem().FieldByName("settingEngine")
	if field.Kind() != reflect.Pointer || field.Type() != reflect.TypeFor[*webrtc.SettingEngine]() {
		return fmt.Errorf("restart ICE: %w", ErrWrongState) // another version of the library; the test says so
	}
	(*webrtc.SettingEngine)(field.UnsafePointer()).SetICECredentials(iceCredentials(p.engine.cfg.NodeID))
	return nil
}
