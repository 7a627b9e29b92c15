package opus

import "errors"

var (
	// ErrPacket: the bytes are not an Opus packet.
	ErrPacket = errors.New("not an opus packet")
	// ErrConfig: libopus refuses the rate, channel count or setting.
	ErrConfig = errors.New("bad opus configuration")
	// ErrBuffer: a buffer has a length that fits no Opus frame.
	ErrBuffer = errors.New("bad opus buffer length")
)
