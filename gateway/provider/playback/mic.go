package playback

import (
	"fmt"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/opus"
)

const (
	frame      = 20 * time.Millisecond
	frameTicks = 960 // of the 48 kHz RTP clock of Opus (RFC 7587 section 4.1)
	// reorder is how many packets a missing one is waited for: 60 ms.
	reorder = 3
	// maxPause bounds the silence that a jump of the timestamp is filled up with.
	maxPause = time.Second
	// jump is a difference of sequence numbers that no loss explains.
	jump = 50
)

// Mic turns the person's Opus packets into PCM16 mono in their order: late ones are waited for a little, lost ones concealed,
// what was not sent because it was silence is silence. Push is for one media goroutine, Flush and Drop for any.
type Mic struct {
	rate int
	out  func(pcm []int16)

	mu    sync.Mutex // guards what follows, and orders the calls of out
	dec   *opus.Decoder
	begun bool
	seq   uint16 // of the next packet
	ts    uint32 // where its audio begins
	held  [reorder]*rtp.Packet
	pcm   []int16
	lost  int
}

// NewMic makes a Mic at 16000 or 24000 Hz. out gets the audio, valid until return, with the Mic's lock held.
func NewMic(rate int, out func(pcm []int16)) (*Mic, error) {
	dec, err := opus.NewDecoder(rate)
	if err != nil {
		return nil, fmt.Errorf("start the decoder: %w", err)
	}
	return &Mic{rate: rate, out: out, dec: dec, pcm: make([]int16, rate*120/1000)}, nil
}

// Push takes one packet; it is not kept.
func (m *Mic) Push(p *rtp.Packet) {
	if len(p.Payload) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	ahead := int(int16(p.SequenceNumber - m.seq)) //nolint:gosec // the wrap is meant
	switch {
	case !m.begun, ahead > jump, ahead < -jump:
		m.flush()
		m.begun, m.seq, m.ts = true, p.SequenceNumber, p.Timestamp
		ahead = 0
	case ahead < 0:
		return // late or twice
	}
	for ahead >= reorder { // what is missing does not come any more
		m.step()
		ahead--
	}
	if ahead > 0 {
		m.held[ahead] = p.Clone()
		return
	}
	m.play(p)
	for m.held[0] != nil {
		m.play(m.held[0])
	}
}

// Flush hands out what is held.
func (m *Mic) Flush() { m.mu.Lock(); defer m.mu.Unlock(); m.flush() }

// Do runs f in order with what is handed out, after a Flush.
func (m *Mic) Do(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flush()
	f()
}

// Lost is how many packets were concealed.
func (m *Mic) Lost() int { m.mu.Lock(); defer m.mu.Unlock(); return m.lost }

func (m *Mic) flush() {
	for m.held != [reorder]*rtp.Packet{} {
		m.step()
	}
}

// step goes on by one packet, there or not.
func (m *Mic) step() {
	if m.held[0] != nil {
		m.play(m.held[0])
		return
	}
	m.lost++
	n := m.rate / 50
	var err error
	if next := m.held[1]; next != nil {
		err = m.dec.DecodeFEC(next.Payload, m.pcm[:n])
	} else {
		err = m.dec.Conceal(m.pcm[:n])
	}
	if err == nil {
		m.out(m.pcm[:n])
	}
	m.shift()
	m.ts += frameTicks
}

// play decodes the packet that is next.
func (m *Mic) play(p *rtp.Packet) {
	if gap := time.Duration(int32(p.Timestamp-m.ts)) * time.Second / 48000; gap >= frame { //nolint:gosec // the wrap is meant
		m.silence(min(gap, maxPause))
	}
	m.shift()
	n, err := m.dec.Decode(p.Payload, m.pcm)
	m.ts = p.Timestamp + uint32(opus.Duration(p.Payload)*48000/time.Second) //nolint:gosec // at most 120 ms
	if err != nil {
		return
	}
	m.out(m.pcm[:n])
}

func (m *Mic) silence(d time.Duration) {
	clear(m.pcm)
	for left := int(d * time.Duration(m.rate) / time.Second); left > 0; {
		n := min(left, m.rate/50)
		m.out(m.pcm[:n])
		left -= n
	}
}

func (m *Mic) shift() {
	m.seq++
	copy(m.held[:], m.held[1:])
	m.held[reorder-1] = nil
}
