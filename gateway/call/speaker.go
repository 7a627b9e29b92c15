package call

import (
	"encoding/base64"
	"encoding/binary"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/call/conversation"
	"hovor/sfu/g711"
	"hovor/sfu/opus"
	"hovor/signaling/realtime"
)

// maxConceal is how many lost packets in a row are guessed; more is a pause.
const maxConceal = 5

// speaker turns the assistant's packets into response.output_audio.delta events. The downlink writes to it, so that what was
// cut never becomes one.
type speaker struct {
	send func(b []byte) error

	mu      sync.Mutex // guards what follows
	form    form
	of      conversation.Begin
	index   int
	dec     *opus.Decoder
	decRate int
	last    uint16
	begun   bool
	pcm     [opusRate * 120 / 1000]int16 // the longest packet, at any rate
	out     []byte
	packets uint64
	octets  uint64
}

// begin names the item whose audio comes now.
func (s *speaker) begin(e conversation.Begin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of = e
}

func (s *speaker) setForm(f form) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.form = f
}

// WriteRTP takes the packets of the downlink in their order. Lost ones are concealed, so that a client that counts bytes counts time.
func (s *speaker) WriteRTP(p *rtp.Packet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	missing := int(int16(p.SequenceNumber - s.last - 1))
	if s.begun && missing < 0 {
		return nil // late, or twice
	}
	if s.decRate != s.form.rate() {
		dec, err := opus.NewDecoder(s.form.rate())
		if err != nil {
			return err
		}
		s.dec, s.decRate = dec, s.form.rate()
	}
	s.out = s.out[:0]
	if s.begun && !p.Marker && missing > 0 && missing <= maxConceal {
		s.conceal(missing, p.Payload)
	}
	n, err := s.dec.Decode(p.Payload, s.pcm[:])
	if err != nil { // a pause is better than a shorter stream
		n = min(samples(opus.Duration(p.Payload), s.decRate), len(s.pcm))
		clear(s.pcm[:n])
	}
	s.out = s.form.encode(s.out, s.pcm[:n])
	s.last, s.begun = p.SequenceNumber, true
	return s.emit()
}

// conceal fills in lost packets, the last of them from the redundancy in the packet that came.
func (s *speaker) conceal(missing int, next []byte) {
	n := samples(frame, s.decRate)
	for i := range missing {
		if i == missing-1 {
			_ = s.dec.DecodeFEC(next, s.pcm[:n])
		} else {
			_ = s.dec.Conceal(s.pcm[:n])
		}
		s.out = s.form.encode(s.out, s.pcm[:n])
	}
}

func (s *speaker) emit() error {
	s.packets++
	s.octets += uint64(len(s.out))
	b, err := realtime.Encode(&realtime.ResponseOutputAudioDelta{ResponseID: s.of.Response, ItemID: s.of.ItemID, OutputIndex: s.of.Output,
		ContentIndex: s.of.Content, Delta: base64.StdEncoding.EncodeToString(s.out)})
	if err != nil {
		return err
	}
	return s.send(b)
}

// form is how PCM travels in base64: 16 bit little-endian at some rate, or G.711.
type form struct {
	law g711.Law
	hz  int // of PCM16; 0 = G.711
}

// pcm24 is the default.
var pcm24 = form{hz: realtime.DefaultRate}

// formOf reads a session's format; false when it is none that Opus can carry on.
func formOf(f *realtime.AudioFormat) (form, bool) {
	if f == nil {
		return pcm24, true
	}
	switch f.Type {
	case "audio/pcmu":
		return form{law: g711.MuLaw}, true
	case "audio/pcma":
		return form{law: g711.ALaw}, true
	}
	switch f.Rate {
	case 0:
		return pcm24, true
	case 8000, 12000, 16000, 24000, 48000:
		return form{hz: f.Rate}, true
	}
	return pcm24, false
}

func (f form) rate() int {
	if f.hz == 0 {
		return g711.Rate
	}
	return f.hz
}

func (f form) encode(out []byte, pcm []int16) []byte {
	if f.hz == 0 {
		at := len(out)
		out = append(out, make([]byte, len(pcm))...)
		f.law.Encode(out[at:], pcm)
		return out
	}
	for _, s := range pcm {
		out = binary.LittleEndian.AppendUint16(out, uint16(s)) // the same bits
	}
	return out
}

// decode reads audio; an odd byte at the end of PCM16 is left over.
func (f form) decode(b []byte) []int16 {
	if f.hz == 0 {
		pcm := make([]int16, len(b))
		f.law.Decode(pcm, b)
		return pcm
	}
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:])) // the same bits
	}
	return pcm
}

// lasts is how long the audio is.
func (f form) lasts(octets int) time.Duration {
	if f.hz == 0 {
		return length(octets, g711.Rate)
	}
	return length(octets/2, f.hz)
}
