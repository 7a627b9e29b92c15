package bridge

import (
	"encoding/binary"
	"time"

	"hovor/sfu/g711"
)

// play appends a packet to the stream, after whatever lies between it and the packet before.
func (m *Mic) play(seq uint16, ts uint32, dur time.Duration, payload []byte, at time.Time) {
	m.muted = m.dropUntil && int16(seq-m.dropSeq) <= 0
	m.dropUntil = m.muted
	missing := int(seq - m.lastSeq - 1)
	if m.lastDur > 0 {
		m.bridgeGap(m.gap(ts, at), missing, payload)
	}
	if pcm, err := m.in.decode(m.pcm, payload); err == nil {
		m.pcm = pcm
	} else {
		m.guess(dur)
	}
	m.handOut()
	m.muted = false
	m.stats.Packets++
	m.next = ts + uint32(dur*time.Duration(m.clock)/time.Second)
	m.lastSeq, m.lastDur, m.lastAt, m.filled = seq, dur, at, 0
	m.pausing = m.in.pausing(payload)
	m.played = m.played<<min(missing+1, 63) | 1
	m.wait -= (m.wait - waitMin) / waitDecay
}

// gap is the time between the end of what was played and ts; 0 when the clock was set anew.
func (m *Mic) gap(ts uint32, at time.Time) time.Duration {
	d := samplesTime(int(int32(ts-m.next)), m.clock)
	if d > at.Sub(m.lastAt)+clockSlack {
		m.stats.Restarts++
		return 0
	}
	return max(d, 0)
}

// bridgeGap fills d of time in which missing packets were lost; what was put in while nothing came counts for it.
func (m *Mic) bridgeGap(d time.Duration, missing int, next []byte) {
	lost := time.Duration(0)
	if !m.pausing {
		lost = min(time.Duration(missing)*m.lastDur, d)
	}
	pause := d - lost
	covered := min(m.filled, d)
	m.stats.Stalled += m.filled - covered
	m.stats.Paused += max(covered-lost, 0)
	m.stats.Missing += min(covered, lost)
	if covered > lost {
		lost, pause = 0, pause-(covered-lost)
	} else {
		lost -= covered
	}
	m.bridgeLoss(lost, pause == 0, next)
	m.stats.Paused += pause
	m.quiet(pause)
}

// bridgeLoss fills lost packets; adjoining: next is the packet right behind them.
func (m *Mic) bridgeLoss(lost time.Duration, adjoining bool, next []byte) {
	if lost <= 0 {
		return
	}
	m.lost = true
	for guessed := time.Duration(0); lost > 0; lost -= m.lastDur {
		if adjoining && lost == m.lastDur {
			if pcm, ok := m.in.recover(m.pcm, next, lost); ok {
				m.pcm = pcm
				m.stats.Recovered++
				m.handOut()
				return
			}
		}
		if lost < m.lastDur || guessed+m.lastDur > concealMax {
			m.stats.Missing += min(lost, m.lastDur)
			m.quiet(min(lost, m.lastDur))
			continue
		}
		guessed += m.lastDur
		m.guess(m.lastDur)
		m.handOut()
	}
}

// guess conceals one lost or unreadable packet.
func (m *Mic) guess(d time.Duration) {
	m.lost = true
	m.stats.Concealed++
	m.pcm = m.in.conceal(m.pcm, d)
}

// quiet appends silence.
func (m *Mic) quiet(d time.Duration) {
	for ; d > 0; d -= frameTime {
		m.pcm = m.in.silence(m.pcm, min(d, frameTime))
		m.handOut()
	}
}

// handOut hands out every whole chunk.
func (m *Mic) handOut() {
	if m.muted {
		m.pcm, m.lost = m.pcm[:0], false
	}
	for len(m.pcm) >= m.chunk {
		m.hand(m.chunk)
	}
}

// hand hands out the first n samples.
func (m *Mic) hand(n int) {
	pcm := m.pcm[:n:n]
	m.cfg.Handle(Chunk{Data: m.form(pcm), PCM: pcm, Pos: samplesTime64(m.out, m.cfg.Rate), Lost: m.lost})
	m.out += int64(n)
	m.lost = false
	m.pcm = m.pcm[:copy(m.pcm, m.pcm[n:])]
}

// form puts samples into the upstream's form.
func (m *Mic) form(pcm []int16) []byte {
	switch m.cfg.Upstream {
	case MuLaw, ALaw:
		m.data = m.data[:len(pcm)]
		law := g711.MuLaw
		if m.cfg.Upstream == ALaw {
			law = g711.ALaw
		}
		law.Encode(m.data, pcm)
	default:
		m.data = m.data[:2*len(pcm)]
		for i, v := range pcm {
			binary.LittleEndian.PutUint16(m.data[2*i:], uint16(v))
		}
	}
	return m.data
}

// samplesTime64 does not overflow for streams of any length.
func samplesTime64(n int64, rate int) time.Duration {
	r := int64(rate)
	return time.Duration(n/r)*time.Second + time.Duration(n%r)*time.Second/time.Duration(rate)
}
