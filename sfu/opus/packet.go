package opus

// comfortBytes: a packet this small is DTX, silence that the encoder did not spend bits on. A real frame is longer.
const comfortBytes = 2

// Silent: the packet is DTX; more silence may follow without any packet (RFC 7587 section 3.1.3).
func Silent(packet []byte) bool { return len(packet) > 0 && len(packet) <= comfortBytes }

// HasFEC: the packet holds the redundant copy of the frame before it, so that DecodeFEC recovers rather than guesses.
// It reads single-frame SILK and hybrid packets, which is what speech encoders send; for others it answers no.
func HasFEC(packet []byte) bool {
	if len(packet) < 2 {
		return false
	}
	config, stereo, code := packet[0]>>3, packet[0]&4 != 0, packet[0]&3
	if config >= 16 || stereo || code != 0 {
		return false // CELT has none
	}
	// RFC 6716 section 4.2.3: one bit of voice activity per 20 ms, then the LBRR flag. The range coder's first
	// symbols at even odds are the packet's first bits.
	frames := 1
	if config < 12 && config&3 >= 2 {
		frames = int(config & 3) // 40 ms: 2, 60 ms: 3
	}
	return packet[1]<<frames&0x80 != 0
}
