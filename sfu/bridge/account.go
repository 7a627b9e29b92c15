package bridge

import (
	"time"
)

// Account is what became of one item's audio.
type Account struct {
	Epoch    uint64
	ItemID   string
	Samples  int           // sent, at the player's rate; silence that filled up a frame is not counted
	Sent     time.Duration // the same as time, rounded down
	Heard    time.Duration // Sent minus what still waits in the client's buffer
	Received time.Duration // written by the provider
	Complete bool          // ended, and all of it was sent
}

// account is an Account as it grows; the player's lock guards it.
type account struct {
	epoch    uint64
	item     string
	received int
	sent     int
	started  bool // its first packet has left
	begun    bool // between Begin and End of Out
	drained  bool
	playEnd  time.Time // when the client will have played what was sent of it
}

// account finds or begins the account of an item.
func (p *Player) account(epoch uint64, itemID string) *account {
	if acc := p.find(itemID); acc != nil && acc.epoch == epoch {
		acc.drained = false
		return acc
	}
	if len(p.items) >= accountsMax && p.items[0].drained {
		p.items = append(p.items[:0], p.items[1:]...)
	}
	acc := &account{epoch: epoch, item: itemID}
	p.items = append(p.items, acc)
	return acc
}

func (p *Player) find(itemID string) *account {
	for i := len(p.items) - 1; i >= 0; i-- {
		if p.items[i].item == itemID {
			return p.items[i]
		}
	}
	return nil
}

// sent adds n samples that left just now, and moves the end of what the client has to play.
func (p *Player) sent(acc *account, n int, now time.Time) {
	if start := now.Add(p.playout); p.playEnd.Before(start) {
		p.playEnd = start
	}
	acc.sent += n
	acc.playEnd = p.playEnd.Add(p.time(n))
	p.playEnd = p.playEnd.Add(frameTime)
}

func (p *Player) report(acc *account, now time.Time) Account {
	sent := p.time(acc.sent)
	return Account{
		Epoch: acc.epoch, ItemID: acc.item, Samples: acc.sent, Sent: sent, Received: p.time(acc.received),
		Heard:    max(sent-max(acc.playEnd.Sub(now), 0), 0),
		Complete: acc.drained,
	}
}

// Account tells what became of an item so far; false: never heard of it, cleared, or long over.
func (p *Player) Account(itemID string) (Account, bool) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if acc := p.find(itemID); acc != nil {
		return p.report(acc, now), true
	}
	return Account{}, false
}

// SetPlayout tells how much audio waits in the client before it is heard, and passes it on to Out.
func (p *Player) SetPlayout(buffered time.Duration) {
	buffered = min(max(buffered, 0), 10*time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	shift := buffered - p.playout
	p.playout = buffered
	if !p.playEnd.IsZero() {
		p.playEnd = p.playEnd.Add(shift)
	}
	for _, acc := range p.items {
		if acc.started {
			acc.playEnd = acc.playEnd.Add(shift)
		}
	}
	p.cfg.Out.SetPlayout(buffered)
}

// Cleared is what Clear took away.
type Cleared struct {
	Generation uint64 // of the queue that begins now
	// Items that had not been heard to the end, oldest first: what is queued, what is being sent, and what was sent
	// but still waits in the client's buffer.
	Items []Account
}

// Clear empties every stage at once. After it returns no packet of the audio written before leaves, no Started or
// Drained of it comes, and later audio of the same or an older epoch is refused with ErrStale.
func (p *Player) Clear() Cleared { return p.ClearThrough(0) }

// ClearThrough is Clear for an epoch of which no audio may have come yet: everything up to it is refused from now on.
func (p *Player) ClearThrough(epoch uint64) Cleared {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var c Cleared
	for _, acc := range p.items {
		if r := p.report(acc, now); !r.Complete || r.Heard < r.Sent {
			c.Items = append(c.Items, r)
		}
	}
	p.stats.Cleared += p.time(p.q.n)
	p.q.clear()
	clear(p.segs)
	clear(p.items)
	p.segs, p.items = p.segs[:0], p.items[:0]
	p.halt()
	_ = p.enc.reset() // libopus never refuses a reset
	p.carry, p.tail, p.quiet = carry{}, false, false
	p.ssrc++ // a new source begins a new spurt beyond doubt, and no decoder mixes the two
	if p.wrote || epoch > 0 {
		p.cut, p.cutEpoch = true, max(p.cutEpoch, p.newest, epoch)
	}
	p.generation++
	c.Generation = p.generation
	p.cfg.Out.Cut()
	return c
}
