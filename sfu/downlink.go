package sfu

import (
	"sync"
	"time"

	"github.com/pion/rtp"
)

// Heard says how much of an item's audio was written and how much of that the person can have heard.
type Heard struct {
	ItemID string
	Epoch  uint64
	Sent   time.Duration // audio written for the item
	Heard  time.Duration // Sent minus what still waits in the client's playout buffer
}

// DownlinkStats are counters since the start.
type DownlinkStats struct {
	Forwarded    uint64 // packets written
	StaleDropped uint64 // packets of an older epoch, dropped at the gate
	GapFrames    uint64 // frames missing between forwarded packets (lost before they reached us)
	WriteErrors  uint64
}

const (
	// playoutDefault is assumed until a client reports its buffer: one-way path plus the smallest jitter buffer of a
	// browser. Guessing high means that we say "heard" too late rather than too early.
	playoutDefault = 80 * time.Millisecond
	// spurtPause: packets that pause for longer than this begin a new talk spurt even when nothing marks it.
	spurtPause = 100 * time.Millisecond
	// armedPause is the same while a new answer is awaited, where a short stall of the network must not pass for it.
	armedPause = 400 * time.Millisecond
	// heldFrames bounds the audio that came before the event that announces it: 200 ms.
	heldFrames = 10
	// heldAlive: held audio that has paused for longer when the event comes is the tail of what was cut.
	heldAlive = 60 * time.Millisecond
	// lateTail: audio that arrives this long after End still belongs to the item.
	lateTail = 200 * time.Millisecond
	// comfortBytes: an Opus packet this small is silence (DTX), not speech.
	comfortBytes = 3
	// maxPayload is what fits in one held packet; longer ones are passed over (RFC 6716 section 3.4: 1275 and framing).
	maxPayload = 1500
)

// gate is where packets from upstream stand.
type gate int

const (
	gateOpen  gate = iota // forwarded at once
	gateShut              // after Cut: dropped; a new talk spurt is held until Begin
	gateArmed             // after Begin of a newer epoch: opens with the first packet of a new talk spurt
)

// Downlink is the only writer of audio to a browser.
//
// Epochs. Upstream's audio and its events come by different ways, so neither order is certain. After Cut the gate is
// shut, and what still arrives of the old answer is dropped. It opens for a newer epoch when both have been seen: Begin,
// and the first packet of a new talk spurt. A talk spurt begins with a marker bit (RFC 3551 section 4.1), a jump of the
// timestamp, silence (DTX), or, once Begin was seen, a pause of 400 ms. Audio of the new spurt that comes before its Begin
// is held (200 ms at most) and sent with it. An upstream that sends without any pause gets the gate opened 100 ms after
// Begin.
//
// Forward is for one media goroutine, the rest for one control goroutine. One lock, held across the write: that is
// what makes Cut's promise true.
type Downlink struct {
	w RTPWriter

	mu   sync.Mutex // guards what follows
	gate gate
	s    splice
	out  rtp.Packet

	cut      bool // Cut was called at least once
	cutEpoch uint64
	armedAt  time.Time

	// The source as it arrives, forwarded or not.
	seen     bool
	ssrc     uint32
	lastSeq  uint16
	lastTS   uint32
	lastDur  uint32
	lastMark bool
	lastAt   time.Time

	// The talk spurt that began after the cut, and its packets.
	fresh    bool
	freshSeq uint16
	held     [heldFrames]heldPacket
	heldFrom int
	heldLen  int

	// The account of the present item.
	epoch     uint64
	item      string
	live      bool // between Begin and End (or Cut)
	endedAt   time.Time
	sent      time.Duration
	unclaimed time.Duration // written in this spurt, before the item's Begin
	behind    time.Duration // written after the item's last packet
	playout   time.Duration
	playEnd   time.Time // when the audio written so far will have been played

	stats DownlinkStats
}

type heldPacket struct {
	pkt rtp.Packet
	at  time.Time
	buf []byte
}

// NewDownlink writes to w. The gate is open until the first Cut.
func NewDownlink(w RTPWriter) *Downlink { return &Downlink{w: w, playout: playoutDefault} }

// Forward passes a packet of the upstream on at once when its epoch is live, else drops and counts it. It does not
// change or keep p, and allocates nothing.
func (d *Downlink) Forward(p *rtp.Packet, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(p.Payload) == 0 {
		d.s.skip(p)
		return
	}
	boundary := d.observe(p, at)
	switch {
	case d.gate == gateOpen:
		d.send(p, at, boundary)
	case d.admit(p, at, boundary):
		d.gate = gateOpen
		d.s.joined = false
		d.send(p, at, true)
	}
}

// observe follows the source and tells whether p begins a new talk spurt.
func (d *Downlink) observe(p *rtp.Packet, at time.Time) (boundary bool) {
	dur := durationTicks(p.Payload)
	step := int(int16(p.SequenceNumber - d.lastSeq))
	switch {
	case !d.seen || p.SSRC != d.ssrc || step > maxJump || step < -maxJump:
		boundary = true
	case step <= 0:
		return false // late or a copy
	default:
		jump := int32(p.Timestamp - d.lastTS - uint32(step)*d.lastDur)
		pause := at.Sub(d.lastAt)
		// While the gate is shut a pause proves nothing: the rest of the old answer may have been held up by the network.
		paused := d.gate == gateOpen && pause > spurtPause || d.gate == gateArmed && pause > armedPause
		// A source that marks every packet marks nothing.
		boundary = p.Marker && !d.lastMark || jump >= frameTicks || jump <= -frameTicks || paused
	}
	d.seen, d.ssrc, d.lastSeq, d.lastTS = true, p.SSRC, p.SequenceNumber, p.Timestamp
	d.lastDur, d.lastMark, d.lastAt = dur, p.Marker, at
	return boundary
}

// admit decides about a packet that arrives while the gate is not open; true: it opens now, with this packet.
func (d *Downlink) admit(p *rtp.Packet, at time.Time, boundary bool) bool {
	if boundary || !d.fresh && len(p.Payload) <= comfortBytes {
		d.fresh, d.freshSeq = true, p.SequenceNumber
		d.dropHeld()
	}
	switch {
	case d.fresh && int16(p.SequenceNumber-d.freshSeq) >= 0:
		if d.gate == gateArmed {
			return true
		}
		d.hold(p, at)
		return false
	case d.gate == gateArmed && at.Sub(d.armedAt) > spurtPause && p.SequenceNumber == d.lastSeq:
		return true // an upstream that never pauses
	}
	d.stats.StaleDropped++
	return false
}

// hold keeps a copy of a packet whose Begin has not come yet; the oldest goes when there is no room.
func (d *Downlink) hold(p *rtp.Packet, at time.Time) {
	if len(p.Payload) > maxPayload {
		d.stats.StaleDropped++
		return
	}
	if d.heldLen == heldFrames {
		d.heldFrom = (d.heldFrom + 1) % heldFrames
		d.heldLen--
		d.stats.StaleDropped++
	}
	h := &d.held[(d.heldFrom+d.heldLen)%heldFrames]
	d.heldLen++
	h.buf = append(h.buf[:0], p.Payload...)
	h.at = at
	h.pkt.Header = rtp.Header{
		Version: 2, Marker: p.Marker, PayloadType: p.PayloadType,
		SequenceNumber: p.SequenceNumber, Timestamp: p.Timestamp, SSRC: p.SSRC,
	}
	h.pkt.Payload = h.buf
}

func (d *Downlink) dropHeld() {
	d.stats.StaleDropped += uint64(d.heldLen)
	d.heldFrom, d.heldLen = 0, 0
}

// send writes p and accounts for it.
func (d *Downlink) send(p *rtp.Packet, at time.Time, boundary bool) {
	if boundary || !d.s.joined {
		d.spurt(p, at)
	} else if d.s.stale(p) {
		d.stats.StaleDropped++
		return
	}
	ticksOut := durationTicks(p.Payload)
	missing := d.s.write(p, &d.out, ticksOut, at)
	d.out.Marker = boundary
	if !boundary {
		d.stats.GapFrames += uint64(missing)
	}
	if err := d.w.WriteRTP(&d.out); err != nil {
		d.stats.WriteErrors++
		return
	}
	d.stats.Forwarded++
	d.account(ticks(ticksOut), at)
}

// spurt prepares for the first packet of a talk spurt: a new mapping when the source is new, or when its clock stood
// still while real time passed (the browser would take the difference for delay and buffer more for ever).
func (d *Downlink) spurt(p *rtp.Packet, at time.Time) {
	d.unclaimed = 0
	if d.s.joined && p.SSRC == d.s.ssrc {
		if n := d.s.ahead(p); n > 0 && n <= maxJump {
			clock := ticks(p.Timestamp - d.s.inTS)
			if lag := at.Sub(d.s.outAt) - clock; lag > -spurtPause && lag < spurtPause {
				return
			}
		}
	}
	d.s.join(p, at)
}

// account adds audio that was written to the present item, and moves the end of what the client has to play.
func (d *Downlink) account(dur time.Duration, at time.Time) {
	if start := at.Add(d.playout); d.playEnd.Before(start) {
		d.playEnd = start
	}
	d.playEnd = d.playEnd.Add(dur)
	switch {
	case d.live, d.item != "" && d.unclaimed == 0 && !d.endedAt.IsZero() && at.Sub(d.endedAt) < lateTail:
		d.sent += dur
		d.behind = 0
	default:
		d.unclaimed += dur
		d.behind += dur
	}
}

// Begin says that packets belong to (epoch, item) from now on. A Begin of an epoch that was cut is ignored.
func (d *Downlink) Begin(epoch uint64, itemID string) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut && epoch <= d.cutEpoch {
		return
	}
	if d.item != itemID || d.epoch != epoch {
		d.sent = 0
		if d.gate == gateOpen && now.Sub(d.lastAt) < heldAlive {
			d.sent = d.unclaimed // its first packets overtook the event
		}
	}
	d.unclaimed, d.behind = 0, 0
	d.epoch, d.item, d.live, d.endedAt = epoch, itemID, true, time.Time{}
	if d.gate == gateShut {
		d.arm(now)
	}
}

// arm lets the new epoch in: at once when its audio is here already, else with its first packet.
func (d *Downlink) arm(now time.Time) {
	d.gate, d.armedAt = gateArmed, now
	if d.fresh && now.Sub(d.lastAt) > heldAlive {
		d.fresh = false
		d.dropHeld()
	}
	if !d.fresh || d.heldLen == 0 {
		return
	}
	d.gate = gateOpen
	d.s.joined = false
	for i := range d.heldLen {
		h := &d.held[(d.heldFrom+i)%heldFrames]
		d.send(&h.pkt, now, i == 0)
	}
	d.heldFrom, d.heldLen = 0, 0
}

// End says that upstream has sent all audio of the item. What is still on its way (200 ms) counts for it.
func (d *Downlink) End(itemID string) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live && d.item == itemID {
		d.live, d.endedAt = false, now
	}
}

// Cut shuts the gate: after it returns not one packet of the epoch begun last, or of an older one, leaves. It returns
// what was heard of the item until now.
func (d *Downlink) Cut() Heard {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.heard(now)
	d.gate = gateShut
	d.cut, d.cutEpoch = true, max(d.cutEpoch, d.epoch)
	d.fresh = false
	d.dropHeld()
	d.live, d.endedAt, d.unclaimed = false, time.Time{}, 0
	return h
}

// Heard is the account of the current (or last) item.
func (d *Downlink) Heard() Heard {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.heard(now)
}

func (d *Downlink) heard(now time.Time) Heard {
	waiting := max(d.playEnd.Sub(now)-d.behind, 0)
	return Heard{ItemID: d.item, Epoch: d.epoch, Sent: d.sent, Heard: max(d.sent-waiting, 0)}
}

// SetPlayout tells how much audio waits in the client before it is heard: the client's report, or an estimate.
func (d *Downlink) SetPlayout(buffered time.Duration) {
	buffered = min(max(buffered, 0), 10*time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.playEnd.IsZero() {
		d.playEnd = d.playEnd.Add(buffered - d.playout)
	}
	d.playout = buffered
}

// Stats may be called at any time.
func (d *Downlink) Stats() DownlinkStats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}
