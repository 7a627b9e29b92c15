package bridge

import (
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
)

// Output takes what a Player sends; *sfu.Downlink is one. The player calls it with its lock held, so calls come one at
// a time and in order; they must not block and not call the player.
type Output interface {
	// Forward takes one packet; it is valid until return.
	Forward(p *rtp.Packet, at time.Time)
	// Begin comes before the first packet of an item, End after its last.
	Begin(epoch uint64, itemID string)
	End(itemID string)
	// Cut comes with Clear.
	Cut() sfu.Heard
	// SetPlayout passes the client's buffer on.
	SetPlayout(time.Duration)
}

// Packets is an Output for a player whose packets pass another gate later, as an upstream's do: only packets leave,
// and after Clear they come from a new SSRC, which marks the new talk spurt beyond doubt.
type Packets func(p *rtp.Packet, at time.Time)

// Forward calls the function.
func (f Packets) Forward(p *rtp.Packet, at time.Time) { f(p, at) }

// Begin, End, Cut and SetPlayout do nothing.
func (Packets) Begin(uint64, string)     {}
func (Packets) End(string)               {}
func (Packets) Cut() sfu.Heard           { return sfu.Heard{} }
func (Packets) SetPlayout(time.Duration) {}
