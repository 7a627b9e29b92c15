package sfu

import (
	"context"
	"fmt"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"
)

// Accept answers an offer. ctx bounds the negotiation, not the peer's life. Errors: ErrNotSDP, ErrNoAudio,
// ErrUnsupportedCodec, ErrNegotiation, ErrClosed. The caller must call Run (or Close) on the peer.
//
// An offer without candidates is fine: the far side becomes known by its connectivity checks.
func (e *Engine) Accept(ctx context.Context, offer string, h Handlers) (*Peer, error) {
	remote, err := readRemote(offer)
	if err != nil {
		return nil, err
	}
	p, err := e.newPeer(h, false, remote.eventful, remote.codec)
	if err != nil {
		return nil, err
	}
	if err := p.answer(ctx, remote); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// Offer makes a peer that offers one audio track each way and the event channel "oai-events". Send LocalSDP to the
// far side and give its answer to SetAnswer. The caller must call Run (or Close) on the peer.
func (e *Engine) Offer(ctx context.Context, h Handlers) (*Peer, error) {
	p, err := e.newPeer(h, true, true, codecOpus)
	if err != nil {
		return nil, err
	}
	if err := p.offer(ctx); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// SetAnswer applies the far side's answer to an offering peer. Errors: ErrNotSDP, ErrNoAudio, ErrUnsupportedCodec,
// ErrNegotiation, ErrWrongState.
func (p *Peer) SetAnswer(ctx context.Context, answer string) error {
	if !p.offering || p.pc.SignalingState() != webrtc.SignalingStateHaveLocalOffer {
		return fmt.Errorf("apply an answer: %w", ErrWrongState)
	}
	remote, err := readRemote(answer)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p.begin.Store(time.Now().UnixNano())
	p.expect(remote, opusPayloadType)
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: remote.sdp}); err != nil {
		return fmt.Errorf("%w: %w", ErrNegotiation, err)
	}
	return nil
}

// newPeer makes the connection with our track on it. Interceptors: none. Reports are ours, one clock for all peers.
func (e *Engine) newPeer(h Handlers, offering, eventful bool, codec Codec) (*Peer, error) {
	p := &Peer{
		engine: e, handlers: h, offering: offering, eventful: eventful, sctpOver: make(chan struct{}),
		gone: make(chan struct{}), stop: make(chan struct{}), finishing: make(chan struct{}), finished: make(chan struct{}),
	}
	if err := p.speaks(codec); err != nil {
		return nil, err
	}
	if err := e.equip(p); err != nil {
		p.closePorts()
		return nil, err
	}
	return p, nil
}

func (e *Engine) equip(p *Peer) error {
	var err error
	if p.offering {
		if p.ports, err = e.sockets.openOwn(); err != nil {
			return err
		}
	}
	settings, err := e.settings(p)
	if err != nil {
		return err
	}
	cert, err := e.certificate()
	if err != nil {
		return err
	}
	p.api = webrtc.NewAPI(webrtc.WithMediaEngine(e.mediaEngine(p.out.mime)), webrtc.WithInterceptorRegistry(&interceptor.Registry{}),
		webrtc.WithSettingEngine(settings))
	p.pc, err = p.api.NewPeerConnection(webrtc.Configuration{Certificates: []webrtc.Certificate{cert}})
	if err != nil {
		return fmt.Errorf("make a peer connection: %w", err)
	}
	if _, err := p.pc.AddTrack(&p.out); err != nil {
		_ = p.pc.Close()
		return fmt.Errorf("add the audio track: %w", err)
	}
	p.pc.OnTrack(func(*webrtc.TrackRemote, *webrtc.RTPReceiver) {}) // packets come by way of direct or buffer
	if err := e.add(p); err != nil {
		_ = p.pc.Close()
		return err
	}
	return nil
}

func (p *Peer) answer(ctx context.Context, remote remoteSDP) error {
	p.watch()
	p.pc.OnDataChannel(p.adopt)
	p.expect(remote, remote.codec.PayloadType)
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: remote.sdp}); err != nil {
		return fmt.Errorf("%w: %w", ErrNegotiation, err)
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNegotiation, err)
	}
	p.begin.Store(time.Now().UnixNano())
	return p.describe(ctx, answer)
}

func (p *Peer) offer(ctx context.Context) error {
	p.watch()
	dc, err := p.pc.CreateDataChannel(EventChannel, nil)
	if err != nil {
		return fmt.Errorf("make the event channel: %w", err)
	}
	p.adopt(dc)
	offer, err := p.pc.CreateOffer(nil)
	if err != nil {
		return fmt.Errorf("make an offer: %w", err)
	}
	return p.describe(ctx, offer)
}

// describe makes the local description final and waits until every candidate is in it, which takes no network.
func (p *Peer) describe(ctx context.Context, desc webrtc.SessionDescription) error {
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(desc); err != nil {
		return fmt.Errorf("%w: %w", ErrNegotiation, err)
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return fmt.Errorf("gather candidates: %w", context.Cause(ctx))
	}
	p.local = p.pc.LocalDescription().SDP
	return nil
}

// expect notes what the far side will send: with the payload type that we named to it, or the one it named itself.
func (p *Peer) expect(remote remoteSDP, ours uint8) {
	p.in.types[0].Store(uint32(ours))
	p.in.types[1].Store(uint32(remote.codec.PayloadType))
	p.channel.maxSend.Store(int64(remote.maxMessage))
	p.codec.Store(&remote.codec)
}
