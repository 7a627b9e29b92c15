package sfu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"
)

// EventChannel is the label of the data channel that carries Realtime events.
const EventChannel = "oai-events"

// errFailed is why Run returns an error: the path or the handshake broke.
var errFailed = errors.New("the media connection failed")

// Peer is one peer connection: audio each way and the event channel.
type Peer struct {
	engine   *Engine
	handlers Handlers
	offering bool
	eventful bool // there is an event channel
	api      *webrtc.API
	pc       *webrtc.PeerConnection
	ports    []*port // of its own: an offering peer's
	out      outbound
	direct   direct
	in       inbound
	narrow   *narrow // nil when the codec is Opus, or the owner wants it as it is
	channel  channel
	local    string

	restarting sync.Mutex // one ICE restart at a time

	begin atomic.Int64 // UnixNano of the answer, the zero of all phases

	state atomic.Int32 // a State; written under mu
	codec atomic.Pointer[Codec]

	mu   sync.Mutex // guards what follows; held while State and Phase of Handlers run, so that they come in order
	ice  webrtc.ICETransportState
	dtls webrtc.DTLSTransportState
	saw  [PhaseFirstRTP + 1]bool

	sctpOver  chan struct{} // closed when the event channel's transport has ended by itself
	sctpOnce  sync.Once
	gone      chan struct{} // closed when the connection is over, whoever ended it
	goneOnce  sync.Once
	stop      chan struct{} // closed by Close
	stopOnce  sync.Once
	runOnce   sync.Once
	finishing chan struct{} // closed when tearDown begins
	finished  chan struct{} // closed when nothing of the peer runs any more
}

// State is where the connection stands now.
func (p *Peer) State() State { return State(p.state.Load()) }

// Codec is the negotiated audio codec; zero before the answer of an offering peer.
func (p *Peer) Codec() Codec {
	if c := p.codec.Load(); c != nil {
		return *c
	}
	return Codec{}
}

// LocalSDP is our complete description (no trickle): every own candidate, a real msid.
func (p *Peer) LocalSDP() string { return p.local }

// Run blocks until ctx ends (the far side is told by close_notify) or the far side is gone, and leaves no goroutine
// behind. It returns nil when ctx ended or the far side closed, an error when the connection failed.
func (p *Peer) Run(ctx context.Context) error {
	first := false
	p.runOnce.Do(func() { first = true })
	if !first {
		return fmt.Errorf("run a peer twice: %w", ErrWrongState)
	}
	select {
	case <-ctx.Done():
	case <-p.stop:
	case <-p.gone:
	}
	failed := p.State() == StateFailed
	p.tearDown()
	if failed {
		return errFailed
	}
	return nil
}

// Close ends the peer: for one whose Run was never called, and to make a running Run return. It waits for the end.
func (p *Peer) Close() error {
	p.stopOnce.Do(func() { close(p.stop) })
	p.runOnce.Do(p.tearDown)
	<-p.finished
	return nil
}

// tearDown runs exactly once. It closes gracefully: it returns when no goroutine of the connection is left.
func (p *Peer) tearDown() {
	close(p.finishing)
	p.engine.reports.remove(p)
	p.channel.shut()
	if err := p.pc.GracefulClose(); err != nil {
		p.engine.log.Debug("closing a peer connection", "error", err)
	}
	p.channel.readers.Wait()
	p.direct.end()
	p.closePorts()
	p.engine.remove(p)
	p.mu.Lock()
	p.moveTo(StateClosed)
	p.mu.Unlock()
	close(p.finished)
}

func (p *Peer) closePorts() {
	for _, port := range p.ports {
		_ = port.close()
	}
}

// watch follows the transports themselves: ICE, DTLS, and SCTP, which ends in the moment in which the far side's
// close_notify (or abort) arrives, whatever the library makes of it for the whole connection.
func (p *Peer) watch() {
	sctp := p.pc.SCTP()
	sctp.OnClose(func(error) {
		p.sctpOnce.Do(func() { close(p.sctpOver) })
		p.ended()
	})
	dtls := sctp.Transport()
	dtls.OnStateChange(func(s webrtc.DTLSTransportState) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dtls = s
		if s == webrtc.DTLSTransportStateConnected {
			p.phase(PhaseDTLS, time.Now())
		}
		p.update()
	})
	dtls.ICETransport().OnConnectionStateChange(func(s webrtc.ICETransportState) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ice = s
		if s == webrtc.ICETransportStateConnected {
			p.phase(PhaseICE, time.Now())
		}
		p.update()
	})
}

// update derives the peer's state from its transports. The caller holds mu.
func (p *Peer) update() {
	switch {
	case p.ice == webrtc.ICETransportStateFailed, p.dtls == webrtc.DTLSTransportStateFailed:
		p.moveTo(StateFailed)
	case p.dtls == webrtc.DTLSTransportStateClosed, p.ice == webrtc.ICETransportStateClosed:
		p.moveTo(StateClosed)
	case p.ice == webrtc.ICETransportStateDisconnected:
		p.moveTo(StateDisconnected)
	case p.dtls == webrtc.DTLSTransportStateConnected:
		if p.ice == webrtc.ICETransportStateConnected || p.ice == webrtc.ICETransportStateCompleted {
			p.moveTo(StateConnected)
		}
	case p.ice == webrtc.ICETransportStateChecking || p.ice == webrtc.ICETransportStateConnected:
		p.moveTo(StateConnecting)
	}
}

// moveTo tells of a change once. Failed is followed only by Closed, Closed by nothing. The caller holds mu.
func (p *Peer) moveTo(s State) {
	if old := p.State(); old == s || old == StateClosed || old == StateFailed && s != StateClosed {
		return
	}
	p.state.Store(int32(s))
	if s == StateConnected {
		p.engine.reports.add(p)
	}
	if p.handlers.State != nil {
		p.handlers.State(s)
	}
	if s == StateFailed || s == StateClosed {
		p.goneOnce.Do(func() { close(p.gone) })
	}
}

// ended is called when the far side ended the call in a way that the transports do not show.
func (p *Peer) ended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moveTo(StateClosed)
}

// phase tells once how long a step of the set-up took. The caller holds mu.
func (p *Peer) phase(ph Phase, now time.Time) {
	if p.saw[ph] {
		return
	}
	p.saw[ph] = true
	if p.handlers.Phase != nil {
		p.handlers.Phase(ph, time.Duration(now.UnixNano()-p.begin.Load()))
	}
}

// maxReceive is the largest event we announce to accept. A provider chosen by the operator may send longer ones
// than a browser can.
func (p *Peer) maxReceive() int {
	if p.offering {
		return 4 * p.engine.cfg.MaxMessage
	}
	return p.engine.cfg.MaxMessage
}

// Stats may be called at any time, also after the end.
func (p *Peer) Stats() PeerStats {
	var s PeerStats
	p.in.stats(&s)
	p.out.stats(&s)
	p.channel.stats(&s)
	return s
}
