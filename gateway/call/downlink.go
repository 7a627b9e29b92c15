package call

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/call/conversation"
	"hovor/sfu"
)

// spurtPause: after a pause this long a packet begins a new talk spurt even without a marker.
const spurtPause = 100 * time.Millisecond

// early is how long before the event that announces it an answer's audio may come: events and audio travel on different streams.
const early = 200 * time.Millisecond

// downlink is the way of the assistant's audio to the person. packet runs on one media goroutine, the rest on the actor.
type downlink struct {
	*sfu.Downlink
	begin time.Time // of the call
	post  func(conversation.FirstAudio)

	last  atomic.Int64  // when the last packet came, nanoseconds of call time
	spurt atomic.Int64  // when the last talk spurt began
	watch atomic.Uint64 // the epoch whose first audio is asked for; 0: none

	epoch uint64 // actor only: begun last
	begun time.Duration
	cutAt time.Duration
	stale uint64
}

// packet forwards first and looks afterwards.
func (d *downlink) packet(p *rtp.Packet, at time.Time) {
	d.Forward(p, at)
	now := int64(at.Sub(d.begin))
	if last := d.last.Swap(now); p.Marker || now-last > int64(spurtPause) {
		d.spurt.Store(now)
	}
	if epoch := d.watch.Load(); epoch != 0 && d.watch.CompareAndSwap(epoch, 0) {
		d.post(conversation.FirstAudio{Epoch: epoch, Came: time.Duration(now), Sent: time.Since(d.begin)})
	}
}

// beginItem tells the downlink whose audio comes now.
func (d *downlink) beginItem(e conversation.Begin, now time.Duration) {
	if e.Epoch != d.epoch {
		d.epoch, d.begun = e.Epoch, now
	}
	d.Begin(e.Epoch, e.ItemID)
}

// watchFirst asks for the first packet of the epoch. It may have come already: then this says so.
func (d *downlink) watchFirst(epoch uint64) (conversation.FirstAudio, bool) {
	if epoch != d.epoch {
		return conversation.FirstAudio{}, false
	}
	if spurt := time.Duration(d.spurt.Load()); spurt > 0 && spurt > d.cutAt && spurt >= d.begun-early {
		return conversation.FirstAudio{Epoch: epoch, Came: spurt, Sent: max(spurt, d.begun)}, true
	}
	d.watch.Store(epoch)
	return conversation.FirstAudio{}, false
}

// cutNow shuts the gate and says what was heard.
func (d *downlink) cutNow(now func() time.Duration) conversation.Heard {
	h := d.Cut()
	d.watch.Store(0)
	d.cutAt = now()
	return conversation.Heard(h)
}

// staleSince is how many packets of a cut answer were held back since it was asked last.
func (d *downlink) staleSince() int {
	all := d.Stats().StaleDropped
	n := all - d.stale
	d.stale = all
	return int(n) // a count of packets
}
