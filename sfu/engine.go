package sfu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
	"github.com/pion/webrtc/v4"
)

// Engine owns the sockets, the certificate and the clocks that all peers of this process share.
//
// Accepted peers share one muxed port. An offering peer gets sockets of its own: a provider takes many calls at one
// address, and both it and we tell them apart by ours.
type Engine struct {
	cfg     Config
	net     transport.Net
	log     *slog.Logger
	pionLog pionLoggers
	count   socketCounters
	wires   wires
	sockets *sockets
	rewrite []webrtc.ICEAddressRewriteRule
	media   *webrtc.MediaEngine // Opus
	pcmu    *webrtc.MediaEngine
	pcma    *webrtc.MediaEngine
	reports *reportClock
	taps    *tapClocks

	mu     sync.Mutex // guards what follows
	cert   webrtc.Certificate
	certAt time.Time
	peers  map[*Peer]struct{}
	closed bool
}

// certificateAge is how long one DTLS certificate serves. Pion's expire after a month; a day keeps fingerprints from
// becoming an identifier of the node.
const certificateAge = 24 * time.Hour

// NewEngine binds the sockets. Errors: ErrPortInUse, ErrBadConfig.
func NewEngine(cfg Config) (*Engine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, net: cfg.Net, log: cfg.Logger, peers: make(map[*Peer]struct{})}
	if e.net == nil {
		if e.net, err = stdnet.NewNet(); err != nil {
			return nil, fmt.Errorf("read the network interfaces: %w", err)
		}
	}
	e.pionLog = pionLoggers{cfg.Logger}
	if len(cfg.PublicIPs) > 0 {
		e.rewrite = []webrtc.ICEAddressRewriteRule{{
			External: cfg.PublicIPs, AsCandidateType: webrtc.ICECandidateTypeHost, Mode: webrtc.ICEAddressRewriteReplace,
		}}
	}
	for codec, engine := range map[Codec]**webrtc.MediaEngine{codecOpus: &e.media, codecPCMU: &e.pcmu, codecPCMA: &e.pcma} {
		if *engine, err = newMediaEngine(codec); err != nil {
			return nil, err
		}
	}
	if e.wires, err = newWires(cfg, e.net, &e.count); err != nil {
		return nil, err
	}
	if e.sockets, err = listen(e.net, e.wires, &e.count, cfg, e.pionLog); err != nil {
		return nil, errors.Join(err, e.wires.close())
	}
	e.reports = newReportClock()
	e.taps = newTapClocks()
	return e, nil
}

// Addr is the UDP address really bound: the configured host (or the first interface address) and the port.
func (e *Engine) Addr() net.Addr { return e.sockets.addr }

// SocketStats may be called at any time.
func (e *Engine) SocketStats() SocketStats { return e.count.stats() }

// Close ends every peer and tap that is still alive, waits for them, and closes the sockets.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	peers := make([]*Peer, 0, len(e.peers))
	for p := range e.peers {
		peers = append(peers, p)
	}
	e.mu.Unlock()

	var wg sync.WaitGroup
	for _, p := range peers {
		wg.Go(func() { _ = p.Close() })
	}
	wg.Wait()
	e.reports.stop()
	e.taps.stop()
	return errors.Join(e.sockets.close(), e.wires.close())
}

// NewTap starts a decoder that calls fn with one frame every 20 ms until Close. fn runs on one of a few clock
// goroutines that all taps share; a slow fn delays its neighbours.
func (e *Engine) NewTap(fn func(Frame)) (*Tap, error) { return e.taps.open(fn) }

// certificate is the shared DTLS certificate, renewed when it is old.
func (e *Engine) certificate() (webrtc.Certificate, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); e.certAt.IsZero() || now.Sub(e.certAt) > certificateAge {
		cert, err := newCertificate()
		if err != nil {
			return webrtc.Certificate{}, err
		}
		e.cert, e.certAt = cert, now
	}
	return e.cert, nil
}

// add registers a peer; it fails when the engine is closing.
func (e *Engine) add(p *Peer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("media engine: %w", ErrClosed)
	}
	e.peers[p] = struct{}{}
	return nil
}

func (e *Engine) remove(p *Peer) {
	e.mu.Lock()
	delete(e.peers, p)
	e.mu.Unlock()
}

// Timing of a connection. Ghost sessions cost a provider's money, hence shorter than Pion's 5 s + 25 s.
const (
	iceDisconnected   = 5 * time.Second
	iceFailed         = 10 * time.Second // after disconnected
	iceKeepalive      = 2 * time.Second
	offerDisconnected = 2 * time.Second // an offering peer's far side is a server: silence this long is its death
	offerKeepalive    = 400 * time.Millisecond
	dtlsDeadline      = 10 * time.Second
	dtlsRetransmit    = 100 * time.Millisecond // Pion's second costs a whole second per lost flight
	srtpReplayWindow  = 256
	sctpRTOMax        = time.Second
	srflxAcceptance   = 200 * time.Millisecond // only when we are controlling
	relayedAcceptance = 500 * time.Millisecond
)

// settings are one peer's: the sockets and the certificate are shared, the ICE credentials are not.
func (e *Engine) settings(p *Peer) (webrtc.SettingEngine, error) {
	var s webrtc.SettingEngine
	s.LoggerFactory = e.pionLog
	s.SetNet(e.net)
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetNetworkTypes(e.sockets.networks(p.offering))
	s.SetIncludeLoopbackCandidate(e.sockets.loopback)
	s.SetIPFilter(func(ip net.IP) bool { addr, ok := netip.AddrFromSlice(ip); return ok && useful(addr) })
	s.DisableActiveTCP(true)
	if p.offering {
		s.SetICEUDPMux(peerPorts{p, p.ports})
	} else {
		s.SetICEUDPMux(peerPorts{p, e.sockets.ports})
		if e.sockets.tcp != nil {
			s.SetICETCPMux(peerTCP{e.sockets.tcp, p})
		}
	}
	if len(e.rewrite) > 0 {
		if err := s.SetICEAddressRewriteRules(e.rewrite...); err != nil {
			return s, fmt.Errorf("public address: %w", err)
		}
	}
	s.SetICECredentials(iceCredentials(e.cfg.NodeID))
	if p.offering {
		s.SetICETimeouts(offerDisconnected, iceFailed, offerKeepalive)
	} else {
		s.SetICETimeouts(iceDisconnected, iceFailed, iceKeepalive)
	}
	s.SetHostAcceptanceMinWait(0)
	s.SetSrflxAcceptanceMinWait(srflxAcceptance)
	s.SetPrflxAcceptanceMinWait(srflxAcceptance)
	s.SetRelayAcceptanceMinWait(relayedAcceptance)

	// Active when answering: a browser as DTLS server sends no HelloVerify, one round trip less.
	if err := s.SetAnsweringDTLSRole(webrtc.DTLSRoleClient); err != nil {
		return s, err
	}
	s.SetDTLSInsecureSkipHelloVerify(true) // ICE has proved the address
	s.SetDTLSRetransmissionInterval(dtlsRetransmit)
	s.SetDTLSConnectContextMaker(func() (context.Context, func()) {
		return context.WithTimeout(context.Background(), dtlsDeadline)
	})
	s.SetSRTPReplayProtectionWindow(srtpReplayWindow)
	s.SetDTLSKeyLogWriter(&p.direct) // what for: see there

	// With an event channel we see the far side's goodbye ourselves (Peer.watch) and close once, from Run. The
	// library's own close on close_notify would run beside it.
	s.DisableCloseByDTLS(p.eventful)
	s.EnableSctpSnap(true)
	s.SetSCTPMaxMessageSize(uint32(p.maxReceive())) // bounded by validation
	s.SetSCTPRTOMax(sctpRTOMax)
	s.DetachDataChannels()
	s.SetFireOnTrackBeforeFirstRTP(true)
	s.BufferFactory = p.buffer
	return s, nil
}
