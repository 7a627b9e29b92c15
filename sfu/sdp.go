package sfu

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"
)

const (
	// maxSDP bounds a description; browsers need 2 to 8 KB.
	maxSDP = 256 << 10
	// libwebrtcMax is what every libwebrtc browser announces: the most it sends. As a receiver it takes more.
	libwebrtcMax = 262144
	// ourMaxSend is the largest event we send to a browser that announces libwebrtcMax.
	ourMaxSend = 1 << 20
	// unsetMax applies when nothing is announced (RFC 8841 section 6.1).
	unsetMax = 65535
)

// remoteSDP is what we need to know of a far side's description before the library gets it.
type remoteSDP struct {
	sdp        string // with the message limit raised where that is safe
	codec      Codec
	maxMessage int
	eventful   bool // it has a section for the event channel
}

// readRemote checks a description so that a person gets one clear sentence.
func readRemote(text string) (remoteSDP, error) {
	if len(text) > maxSDP {
		return remoteSDP{}, fmt.Errorf("%w: %d bytes are too many", ErrNotSDP, len(text))
	}
	if !strings.HasPrefix(text, "v=0") {
		return remoteSDP{}, fmt.Errorf("%w: it does not start with v=0", ErrNotSDP)
	}
	var desc sdp.SessionDescription
	if err := desc.UnmarshalString(text); err != nil {
		return remoteSDP{}, fmt.Errorf("%w: %w", ErrNotSDP, err)
	}
	r := remoteSDP{sdp: text, maxMessage: unsetMax}
	audio := false
	for _, m := range desc.MediaDescriptions {
		switch {
		case m.MediaName.Media == "audio" && usable(m):
			audio = true
			if r.codec.ClockRate == 0 {
				r.codec = codecOf(&desc, m)
			}
		case m.MediaName.Media == "application" && usable(m):
			r.eventful = true
			if v, ok := m.Attribute("max-message-size"); ok {
				r.maxMessage = announced(v)
			}
		}
	}
	switch {
	case !audio:
		return remoteSDP{}, ErrNoAudio
	case r.codec.ClockRate == 0:
		return remoteSDP{}, ErrUnsupportedCodec
	}
	if r.maxMessage == libwebrtcMax {
		r.maxMessage = ourMaxSend
		r.sdp = strings.Replace(text, "a=max-message-size:"+strconv.Itoa(libwebrtcMax), "a=max-message-size:"+strconv.Itoa(ourMaxSend), 1)
	}
	return r, nil
}

// announced reads a=max-message-size; 0 means any size (RFC 8841), for us as much as we would ever send.
func announced(v string) int {
	n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 32)
	switch {
	case err != nil:
		return unsetMax
	case n == 0, n > ourMaxSend && n != libwebrtcMax:
		return ourMaxSend
	}
	return int(n)
}

// usable: a section with port 0 is rejected, unless it is bundled only (RFC 9143 section 6).
func usable(m *sdp.MediaDescription) bool {
	_, bundled := m.Attribute("bundle-only")
	return m.MediaName.Port.Value != 0 || bundled
}

// codecOf finds the codec to speak: Opus where it is offered, else the first of G.711's two, else the zero Codec.
func codecOf(desc *sdp.SessionDescription, m *sdp.MediaDescription) (found Codec) {
	for _, format := range m.MediaName.Formats {
		pt, err := strconv.ParseUint(format, 10, 7)
		if err != nil {
			continue
		}
		c, err := desc.GetCodecForPayloadType(uint8(pt))
		if err != nil {
			continue
		}
		for _, ours := range []Codec{codecOpus, codecPCMU, codecPCMA} {
			if !strings.EqualFold("audio/"+c.Name, ours.MimeType) || c.ClockRate != ours.ClockRate {
				continue
			}
			ours.PayloadType = uint8(pt)
			if ours.MimeType == webrtc.MimeTypeOpus {
				return ours
			}
			if found.ClockRate == 0 {
				found = ours
			}
		}
	}
	return found
}
