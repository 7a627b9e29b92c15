package call

import (
	"context"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/opus"
)

const (
	frame = 20 * time.Millisecond
	// micRoom bounds what a client may send ahead of time.
	micRoom = time.Minute
	// micTail: the rest of a chunk that fills no frame is filled up with silence when nothing came for so long.
	micTail = 3 * frame
	// quietPeak is a sample that nobody hears, quietFrames how many frames of such make a pause.
	quietPeak   = 200
	quietFrames = 10
	// micLag is how much may wait all the time; what is more is taken back from pauses.
	micLag = 100 * time.Millisecond
)

// mic is the microphone of a WebSocket client: audio comes in chunks of any size at any pace, and leaves as one Opus packet
// every 20 ms, as it would from a browser. When nothing has come nothing is sent, which the ear takes for silence.
type mic struct {
	send func(p *rtp.Packet, at time.Time)

	mu       sync.Mutex // guards what follows
	rate     int        // samples per second of the queue
	queue    []int16
	in, out  int64 // samples that came and went since the rate was set
	at       time.Time
	barriers []micBarrier
	lag      time.Duration // the least that waited in the last second
	quiet    int           // frames without sound in a row

	enc     *opus.Encoder // the clock's only, like what follows
	encRate int
	pcm     []int16
	packet  rtp.Packet
	spurt   bool
	payload [opus.MaxPacket]byte
}

// micBarrier is something to do when what came before it has gone.
type micBarrier struct {
	after int64
	do    func()
}

func newMic(send func(*rtp.Packet, time.Time)) *mic {
	m := &mic{send: send, rate: 24000}
	m.packet.Version = 2
	return m
}

// write queues audio; it says how much of it had room.
func (m *mic) write(pcm []int16, rate int, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if rate != m.rate {
		m.drop()
		m.rate = rate
	}
	if room := samples(micRoom, rate) - len(m.queue); len(pcm) > room {
		pcm = pcm[:max(room, 0)]
	}
	m.queue = append(m.queue, pcm...)
	m.in += int64(len(pcm))
	m.at = now
	return length(len(pcm), rate)
}

// clear forgets what has not been sent.
func (m *mic) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop()
}

func (m *mic) drop() {
	m.out = m.in
	m.queue = m.queue[:0]
}

// waiting is how much audio has not been sent.
func (m *mic) waiting() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return length(len(m.queue), m.rate)
}

// flush calls do, on the clock, when all that came until now has been sent.
func (m *mic) flush(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.barriers = append(m.barriers, micBarrier{after: m.in, do: do})
}

// run is the clock. What still waits in a barrier when it ends is let go.
func (m *mic) run(ctx context.Context) {
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case now := <-tick.C:
			m.tick(now, n%50 == 0)
		case <-ctx.Done():
			m.clear()
			m.passed()
			return
		}
	}
}

func (m *mic) tick(now time.Time, second bool) {
	if pcm, rate := m.take(now, second); pcm != nil {
		m.encode(pcm, rate, now)
	} else {
		m.packet.Timestamp += ticks
		m.spurt = false
	}
	m.passed()
}

// take gives the next frame, nil when there is none.
func (m *mic) take(now time.Time, second bool) ([]int16, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wait := length(len(m.queue), m.rate)
	excess := m.lag > micLag
	if second {
		m.lag = wait
	}
	m.lag = min(m.lag, wait)
	n := samples(frame, m.rate)
	for {
		switch {
		case len(m.queue) >= n:
		case len(m.queue) > 0 && now.Sub(m.at) >= micTail:
			m.queue = append(m.queue, make([]int16, n-len(m.queue))...)
			m.in = m.out + int64(n)
		default:
			return nil, 0
		}
		m.pcm = append(m.pcm[:0], m.queue[:n]...)
		m.queue = m.queue[:copy(m.queue, m.queue[n:])]
		m.out += int64(n)
		if !silent(m.pcm) {
			m.quiet = 0
			break
		}
		if m.quiet++; !excess || m.quiet <= quietFrames {
			break
		}
		excess = false // one frame of a pause is left out
	}
	return m.pcm, m.rate
}

func silent(pcm []int16) bool {
	for _, s := range pcm {
		if s > quietPeak || s < -quietPeak {
			return false
		}
	}
	return true
}

// ticks are 20 ms of Opus' RTP clock.
const ticks = opusRate / 50

func (m *mic) encode(pcm []int16, rate int, now time.Time) {
	if m.encRate != rate {
		enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: rate, Bitrate: 32000, Complexity: 5})
		if err != nil {
			return // no rate that a format can have
		}
		m.enc, m.encRate = enc, rate
	}
	n, err := m.enc.Encode(pcm, m.payload[:])
	if err != nil {
		return
	}
	m.packet.SequenceNumber++
	m.packet.Marker, m.spurt = !m.spurt, true
	m.packet.Payload = m.payload[:n]
	m.send(&m.packet, now)
	m.packet.Timestamp += ticks
}

// passed lets the barriers go that nothing stands before.
func (m *mic) passed() {
	m.mu.Lock()
	n := 0
	for n < len(m.barriers) && m.barriers[n].after <= m.out {
		n++
	}
	due := m.barriers[:n:n]
	m.barriers = m.barriers[n:]
	m.mu.Unlock()
	for _, b := range due {
		b.do()
	}
}

func samples(d time.Duration, rate int) int { return int(d * time.Duration(rate) / time.Second) }

func length(n, rate int) time.Duration { return time.Duration(n) * time.Second / time.Duration(rate) }
