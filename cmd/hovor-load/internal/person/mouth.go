package person

import (
	"context"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/cmd/hovor-load/internal/clip"
)

// Sender is the way out for audio.
type Sender interface {
	WriteRTP(p *rtp.Packet) error
}

// Mouth sends one packet every 20 ms at the moments of an absolute schedule, like a microphone that never stops: a recording while the
// person speaks, the noise of a quiet room otherwise. When it is late it notes by how much and catches up; it never stretches time, so a
// slow tester cannot make a gateway look fast.
//
// A packet leaves when its last sample has been "recorded": the sample at offset t of a recording that began at s is spoken at s+t, and its
// packet leaves at the end of its 20 ms.
type Mouth struct {
	room  [][]byte
	board *Board

	mu    sync.Mutex // guards what follows
	now   *Utterance
	index int
}

// Utterance is one recording being spoken.
type Utterance struct {
	Clip    *clip.Clip
	asked   time.Time
	started time.Time
	began   chan struct{} // closed when started is known
	spoken  chan struct{}
}

// Began blocks until the first packet is on its way and gives the moment at which the first sample was spoken.
func (u *Utterance) Began(ctx context.Context) (time.Time, error) {
	select {
	case <-u.began:
		return u.started, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

// Spoken is closed when the packet with the last audible sample has left.
func (u *Utterance) Spoken() <-chan struct{} { return u.spoken }

// NewMouth makes a mouth that is silent with the given room noise.
func NewMouth(room [][]byte, b *Board) *Mouth { return &Mouth{room: room, board: b} }

// Say starts a recording at the next possible packet, in place of one that still runs.
func (m *Mouth) Say(c *clip.Clip) *Utterance {
	u := &Utterance{Clip: c, asked: time.Now(), began: make(chan struct{}), spoken: make(chan struct{})}
	m.mu.Lock()
	m.now, m.index = u, 0
	m.mu.Unlock()
	return u
}

// Run sends until ctx ends or the line is gone.
func (m *Mouth) Run(ctx context.Context, out Sender) error {
	p := &rtp.Packet{Header: rtp.Header{Version: 2}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	start := time.Now()
	for k := 0; ; k++ {
		due := start.Add(time.Duration(k) * clip.Frame)
		if wait := time.Until(due); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
		payload, first, after := m.next(k, due)
		p.Payload, p.Marker = payload, first
		m.board.Lateness.Add(time.Since(due))
		if err := out.WriteRTP(p); err != nil {
			return err
		}
		m.board.Sent.Add(1)
		if after != nil {
			after()
		}
		p.SequenceNumber++
		p.Timestamp += uint32(opusClock * clip.Frame / time.Second)
	}
}

// next chooses the packet of slot k. after, when not nil, is called when it has left.
func (m *Mouth) next(k int, due time.Time) (payload []byte, first bool, after func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// A packet cannot leave before its first sample was asked for.
	if m.now == nil || (m.index == 0 && due.Add(-clip.Frame).Before(m.now.asked)) {
		return m.room[k%len(m.room)], k == 0, nil
	}
	u, i := m.now, m.index
	m.index++
	if i == 0 {
		u.started = due.Add(-clip.Frame)
		close(u.began)
	}
	if m.index == len(u.Clip.Packets) {
		m.now = nil
	}
	if last := int((u.Clip.End - 1) / clip.Frame); i == last {
		after = func() { close(u.spoken) }
	}
	return u.Clip.Packets[i], i == 0, after
}
