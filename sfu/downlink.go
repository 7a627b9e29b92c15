package sfu

import (
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

// Downlink is the only writer of audio to a browser.
type Downlink struct{}

// NewDownlink writes to w. The gate is open until the first Cut.
func NewDownlink(w RTPWriter) *Downlink { return &Downlink{} }

// Forward passes a packet of the upstream on at once when its epoch is live, else drops and counts it.
func (d *Downlink) Forward(p *rtp.Packet, at time.Time) {}

// Begin says that packets belong to (epoch, item) from now on. A Begin of an epoch that was cut is ignored.
func (d *Downlink) Begin(epoch uint64, itemID string) {}

// End says that upstream has sent all audio of the item.
func (d *Downlink) End(itemID string) {}

// Cut shuts the gate: after it returns not one packet of the epoch begun last, or of an older one, leaves.
func (d *Downlink) Cut() Heard { return Heard{} }

// Heard is the account of the current (or last) item.
func (d *Downlink) Heard() Heard { return Heard{} }

// SetPlayout tells how much audio waits in the client before it is heard.
func (d *Downlink) SetPlayout(buffered time.Duration) {}

// Stats may be called at any time.
func (d *Downlink) Stats() DownlinkStats { return DownlinkStats{} }
