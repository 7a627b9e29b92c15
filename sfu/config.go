package sfu

import (
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/transport/v5"
)

// Config is everything an Engine is told. The zero value of a field means what its comment says.
type Config struct {
	// NodeID is 1 to 8 characters of the ICE alphabet (letters, digits, + and /) and the first part of every ICE
	// user fragment, so that any node or relay can tell from a connectivity check whose call it is. Empty: "n0".
	NodeID string
	// UDPListen is "host:port" of the one muxed socket that all accepted peers share. Port 0 takes any free port; an
	// empty or unspecified host binds the port on every interface address. Empty: "0.0.0.0:0".
	UDPListen string
	// TCPListen is "host:port" for ICE-TCP (RFC 6544). Empty: no ICE-TCP.
	TCPListen string
	// PublicIPs replace the interface addresses in the candidates (RFC 8839), one per address family. Empty: the
	// interface addresses as they are.
	PublicIPs []string
	// Loopback also offers loopback candidates: quickstart and tests.
	Loopback bool
	// MaxMessage is the largest event-channel message accepted, in bytes, and is announced as a=max-message-size.
	// 0: 262144.
	MaxMessage int
	// Net is the network. nil: the operating system's; a pion/transport vnet in tests.
	Net transport.Net
	// Logger gets set-up and tear-down lines, never content and nothing per packet. nil: silent.
	Logger *slog.Logger

	pumps int // goroutines that move packets; 0: by the number of processors
}

// State is where a peer's connection stands.
type State int

// The states of a peer. Failed and Closed are final.
const (
	StateNew State = iota
	StateConnecting
	StateConnected
	StateDisconnected
	StateFailed
	StateClosed
)

// String gives the state's lower-case name.
func (s State) String() string {
	switch s {
	case StateNew:
		return "new"
	case StateConnecting:
		return "connecting"
	case StateConnected:
		return "connected"
	case StateDisconnected:
		return "disconnected"
	case StateFailed:
		return "failed"
	case StateClosed:
		return "closed"
	}
	return "unknown"
}

// Phase is a step of a peer's set-up.
type Phase int

// The phases, in the order in which they happen.
const (
	PhaseICE Phase = iota
	PhaseDTLS
	PhaseFirstRTP
)

// String gives the phase's name as metrics use it.
func (p Phase) String() string {
	switch p {
	case PhaseICE:
		return "ice"
	case PhaseDTLS:
		return "dtls"
	case PhaseFirstRTP:
		return "first_rtp"
	}
	return "unknown"
}

// Handlers are what a peer tells its owner. All are optional. They are called on media goroutines and must not
// block, and must not call Run or Close of the same peer; everything else of it may be called.
type Handlers struct {
	// State is called once per change, in order.
	State func(State)
	// Phase is called once per phase with the time since the answer was made (Accept) or applied (SetAnswer).
	Phase func(Phase, time.Duration)
	// Open: the event channel is open, Send works.
	Open func()
	// Message is one message of the event channel; the callee owns the slice.
	Message func([]byte)
	// TooLarge: a message of more than limit bytes came and was dropped; the channel goes on.
	TooLarge func(limit int)
	// Packet is one inbound audio packet; calls never overlap. The goroutine reads the sockets of many peers. p is
	// valid until return.
	Packet func(p *rtp.Packet, at time.Time)
	// Native: Packet and WriteRTP carry the negotiated codec as it is. Otherwise they carry Opus always: a far side
	// that speaks only G.711 is converted.
	Native bool
}

// Codec is what was negotiated for the audio of a peer.
type Codec struct {
	MimeType    string // "audio/opus", "audio/PCMU" or "audio/PCMA"
	ClockRate   uint32 // RTP timestamp units per second
	Channels    uint16
	PayloadType uint8
}

// PeerStats are counters since the peer began, and the latest estimates. In is from the far side to us.
type PeerStats struct {
	PacketsIn, PacketsOut uint64
	BytesIn, BytesOut     uint64        // payload bytes
	LostIn                int64         // expected minus received, RFC 3550 A.3; reordering and duplicates can make it negative
	LostOut               int64         // as the far side reports it
	JitterIn, JitterOut   time.Duration // RFC 3550 6.4.1; Out as the far side reports it
	RTT                   time.Duration // from the last receiver report; 0 until one came
	WriteErrors           uint64        // packets that could not be handed to the transport
	QueuedBytes           uint64        // event-channel bytes not yet acknowledged
	MessagesDropped       uint64        // Send refusals: full, too large
}

// maxReceiveDefault is the most that libwebrtc sends in one message, so a browser can never exceed it.
const maxReceiveDefault = 262144

func (c Config) withDefaults() (Config, error) {
	if c.NodeID == "" {
		c.NodeID = "n0"
	}
	if len(c.NodeID) > maxNodeID || strings.Trim(c.NodeID, iceAlphabet) != "" {
		return c, fmt.Errorf("%w: node id %q must be 1 to %d of the letters, digits, + and /", ErrBadConfig, c.NodeID, maxNodeID)
	}
	if c.UDPListen == "" {
		c.UDPListen = "0.0.0.0:0"
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = maxReceiveDefault
	}
	if c.MaxMessage < 1024 || c.MaxMessage > 1<<26 {
		return c, fmt.Errorf("%w: largest message %d must be from 1024 to %d bytes", ErrBadConfig, c.MaxMessage, 1<<26)
	}
	for _, ip := range c.PublicIPs {
		if net.ParseIP(ip) == nil {
			return c, fmt.Errorf("%w: public address %q is not an IP address", ErrBadConfig, ip)
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
