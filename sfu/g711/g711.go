package g711

import "math/bits"

// Rate is the only sample rate of G.711, in Hz.
const Rate = 8000

// Law is one of the two codes.
type Law int

// The laws, as RTP names them (RFC 3551 section 4.5.14).
const (
	MuLaw Law = iota // PCMU
	ALaw             // PCMA
)

// Silence is the octet of a zero sample.
func (l Law) Silence() byte { return l.encode(0) }

// Encode codes pcm into dst, one octet a sample; dst must be as long as pcm.
func (l Law) Encode(dst []byte, pcm []int16) {
	_ = dst[:len(pcm)]
	if l == ALaw {
		for i, v := range pcm {
			dst[i] = encodeA(v)
		}
		return
	}
	for i, v := range pcm {
		dst[i] = encodeMu(v)
	}
}

// Decode reads one sample an octet into dst, which must be as long as data.
func (l Law) Decode(dst []int16, data []byte) {
	table := &decoded[MuLaw]
	if l == ALaw {
		table = &decoded[ALaw]
	}
	_ = dst[:len(data)]
	for i, c := range data {
		dst[i] = table[c]
	}
}

func (l Law) encode(v int16) byte {
	if l == ALaw {
		return encodeA(v)
	}
	return encodeMu(v)
}

const (
	muBias = 33 << 2 // G.711's 33 is in 14-bit units, ours have 16
	muClip = 32635   // the largest magnitude that the bias leaves in range
)

// encodeMu: sign, three bits of segment, four of step, all inverted (G.711 table 2).
func encodeMu(v int16) byte {
	sign, m := byte(0), int(v)
	if m < 0 {
		sign, m = 0x80, -m
	}
	m = min(m, muClip) + muBias
	segment := bits.Len(uint(m)) - 8
	return ^(sign | byte(segment<<4) | byte(m>>(segment+3))&0x0f)
}

// encodeA: sign, segment, step, every second bit inverted (G.711 table 1).
func encodeA(v int16) byte {
	mask, m := byte(0xd5), int(v)>>3 // G.711's 13 bits
	if m < 0 {
		mask, m = 0x55, ^m
	}
	m >>= 1 // the steps of the first two segments are 2 wide
	if segment := bits.Len(uint(m)) - 4; segment > 0 {
		return mask ^ byte(segment<<4) ^ byte(m>>(segment-1))&0x0f
	}
	return mask ^ byte(m)
}

// decoded holds the middle of every step, by law and octet.
var decoded = func() (t [2][256]int16) {
	for c := range 256 {
		u := ^byte(c)
		mu := ((int(u&0x0f)<<3 + muBias) << (u >> 4 & 7)) - muBias
		if u&0x80 != 0 {
			mu = -mu
		}
		a := byte(c) ^ 0x55
		av := int(a&0x0f)<<4 + 8
		if segment := a >> 4 & 7; segment > 0 {
			av = (av + 0x100) << (segment - 1)
		}
		if a&0x80 == 0 {
			av = -av
		}
		t[MuLaw][c], t[ALaw][c] = int16(mu), int16(av)
	}
	return t
}()
