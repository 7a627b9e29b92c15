package sfu

import (
	"fmt"

	"github.com/pion/webrtc/v4"
)

// opusPayloadType is what we offer; when answering, the far side's number is used.
const opusPayloadType = 111

// opusClock is Opus' RTP clock, always 48 kHz (RFC 7587 section 4.1).
const opusClock = 48000

// newMediaEngine knows audio only: no feedback messages and no header extensions, which for one audio stream per
// bundle buy nothing and cost work per packet.
func newMediaEngine() (*webrtc.MediaEngine, error) {
	m := &webrtc.MediaEngine{}
	err := m.RegisterCodec(webrtc.RTPCodecParameters{
		RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeOpus, ClockRate: opusClock, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1",
		},
		PayloadType: opusPayloadType,
	}, webrtc.RTPCodecTypeAudio)
	if err != nil {
		return nil, fmt.Errorf("register Opus: %w", err)
	}
	return m, nil
}
