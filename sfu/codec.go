package sfu

import (
	"fmt"

	"github.com/pion/webrtc/v4"
)

// opusPayloadType is what we offer; when answering, the far side's number is used.
const opusPayloadType = 111

// opusClock is Opus' RTP clock, always 48 kHz (RFC 7587 section 4.1).
const opusClock = 48000

// The codecs we speak. Opus is what we offer and what we choose where it is offered; G.711 (RFC 3551 section 4.5.14)
// serves far sides that have nothing else. Its numbers are static.
var (
	codecOpus = Codec{MimeType: webrtc.MimeTypeOpus, ClockRate: opusClock, Channels: 2, PayloadType: opusPayloadType}
	codecPCMU = Codec{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000, Channels: 1, PayloadType: 0}
	codecPCMA = Codec{MimeType: webrtc.MimeTypePCMA, ClockRate: 8000, Channels: 1, PayloadType: 8}
)

// newMediaEngine knows one codec, so that a description of ours names exactly the one that is meant. It knows no
// feedback messages and no header extensions, which for one audio stream per bundle buy nothing and cost work per
// packet.
func newMediaEngine(c Codec) (*webrtc.MediaEngine, error) {
	capability := webrtc.RTPCodecCapability{MimeType: c.MimeType, ClockRate: c.ClockRate}
	if c.MimeType == webrtc.MimeTypeOpus {
		capability.Channels, capability.SDPFmtpLine = c.Channels, "minptime=10;useinbandfec=1"
	}
	m := &webrtc.MediaEngine{}
	err := m.RegisterCodec(webrtc.RTPCodecParameters{
		RTPCodecCapability: capability, PayloadType: webrtc.PayloadType(c.PayloadType),
	}, webrtc.RTPCodecTypeAudio)
	if err != nil {
		return nil, fmt.Errorf("register %s: %w", c.MimeType, err)
	}
	return m, nil
}

// mediaEngine is the library's engine for a codec of ours.
func (e *Engine) mediaEngine(mime string) *webrtc.MediaEngine {
	switch mime {
	case webrtc.MimeTypePCMU:
		return e.pcmu
	case webrtc.MimeTypePCMA:
		return e.pcma
	}
	return e.media
}
