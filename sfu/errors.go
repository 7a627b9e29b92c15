package sfu

import "errors"

var (
	// ErrPortInUse: another process (or another engine) holds the media port. The wrapped text names the address.
	ErrPortInUse = errors.New("media port is already in use")
	// ErrBadConfig: a Config field has a value that cannot work; the wrapped text names the field.
	ErrBadConfig = errors.New("bad media configuration")
	// ErrNotSDP: the offer or answer cannot be read as a session description (RFC 8866).
	ErrNotSDP = errors.New("this is not a session description (SDP)")
	// ErrNoAudio: the description has no usable audio section.
	ErrNoAudio = errors.New("the session description offers no audio")
	// ErrUnsupportedCodec: audio is there, but without a codec this gateway speaks.
	ErrUnsupportedCodec = errors.New("the audio offers no codec this gateway speaks (Opus at 48 kHz, PCMU or PCMA)")
	// ErrNegotiation: the description is readable but cannot be agreed on; the wrapped text says why.
	ErrNegotiation = errors.New("the session description cannot be answered")
	// ErrClosed: the peer, tap or engine has ended.
	ErrClosed = errors.New("closed")
	// ErrNotOpen: the event channel is not open yet, or no longer.
	ErrNotOpen = errors.New("the event channel is not open")
	// ErrQueueFull: the far side does not read; the message was dropped.
	ErrQueueFull = errors.New("the event channel's queue is full")
	// ErrMessageTooLarge: the message is larger than the far side accepts; the message was dropped.
	ErrMessageTooLarge = errors.New("the message is larger than the event channel carries")
	// ErrWrongState: the call does not fit what was done before (an answer for a peer that made none, a second Run).
	ErrWrongState = errors.New("not possible in this state")
)
