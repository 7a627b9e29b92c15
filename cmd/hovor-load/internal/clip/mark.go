package clip

import (
	"encoding/binary"
	"slices"
	"time"
)

// A mark makes a packet recognisable at the far end of a relay that passes payloads on unchanged: who sent it, its number, and when it was
// sent. It lies in the packet's padding, which every decoder skips (RFC 6716 section 3.2.5, code 3), so the packet can still be heard.
type Mark struct {
	Stream uint32
	Number uint32
	Sent   time.Duration // since a moment that both ends, one process, agree on
}

const (
	markMagic = 0x484f5652 // "HOVR"
	markSize  = 20
)

// Markable rewrites a packet of one frame as code 3 with padding that ends in room for a mark and fills the packet up to at least size
// bytes. It returns nil for a packet that holds more than one frame.
func Markable(packet []byte, size int) []byte {
	if len(packet) < 2 || packet[0]&3 != 0 {
		return nil
	}
	// TOC, frame count with the padding flag, padding length, frame, padding. Up to 254 bytes of padding need one length byte.
	pad := max(markSize, size-len(packet)-2)
	if pad > 254 {
		return nil
	}
	out := []byte{packet[0] | 3, 1<<6 | 1, byte(pad)}
	out = append(out, packet[1:]...)
	return append(out, make([]byte, pad)...)
}

// Put writes the mark into the last bytes of a packet that Markable made. It allocates nothing.
func (m Mark) Put(packet []byte) {
	b := packet[len(packet)-markSize:]
	binary.BigEndian.PutUint32(b, markMagic)
	binary.BigEndian.PutUint32(b[4:], m.Stream)
	binary.BigEndian.PutUint32(b[8:], m.Number)
	binary.BigEndian.PutUint64(b[12:], uint64(m.Sent))
}

// ReadMark finds the mark of a packet; ok is false when it has none.
func ReadMark(packet []byte) (m Mark, ok bool) {
	if len(packet) < markSize+3 {
		return Mark{}, false
	}
	b := packet[len(packet)-markSize:]
	if binary.BigEndian.Uint32(b) != markMagic {
		return Mark{}, false
	}
	return Mark{binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:]), time.Duration(binary.BigEndian.Uint64(b[12:]))}, true
}

// MarkableAll is Markable for a whole recording; packets that cannot be marked are left out.
func MarkableAll(packets [][]byte, size int) [][]byte {
	out := make([][]byte, 0, len(packets))
	for _, p := range packets {
		if m := Markable(p, size); m != nil {
			out = append(out, m)
		}
	}
	return slices.Clip(out)
}
