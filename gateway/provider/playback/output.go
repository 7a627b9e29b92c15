package playback

import (
	"slices"
	"sync"
	"time"

	"hovor/signaling/realtime"
)

// Player plays PCM16 mono at 24 kHz in real time, frame by frame. The Output calls it with a lock held, and the Player calls
// back without one of its own.
type Player interface {
	// Write queues audio of an item behind what is queued already.
	Write(item string, pcm []int16)
	// End says that no more audio of the item follows: its last frame is filled up with silence.
	End(item string)
	// Clear empties the queue. After it returns not one frame of what was queued leaves.
	Clear()
}

const (
	rate = 24000
	// keep bounds how many finished responses and their items are remembered.
	keep = 32
)

// Cut is where an item was cut: how much of it had been played, out of how much that had been received.
type Cut struct {
	ItemID           string
	Content          int
	Played, Received time.Duration
}

// Output is what a leg plays. All methods may be called at any time. Events are emitted with its lock held, so that their
// order is the order in which things happened; emit must not block and not call back.
type Output struct {
	emit func(realtime.Event)

	mu        sync.Mutex // guards what follows
	player    Player
	responses []*response
	items     map[string]*item
	late      int // frames of audio that came for a response that was not to be heard any more
}

type response struct {
	id      string
	items   []string
	heard   bool // started was emitted
	done    bool // response.done came
	muted   bool // cancelled or cleared: what still comes is dropped
	over    bool // stopped or cleared was emitted
	clear   bool // cleared is owed, after done
	pending int  // samples that wait to be played
}

type item struct {
	id               string
	content          int
	of               *response
	received, played int // samples
	odd              []byte
}

// NewOutput makes an Output; Use gives it its player.
func NewOutput(emit func(realtime.Event)) *Output {
	return &Output{emit: emit, items: map[string]*item{}}
}

// Use sets the player.
func (o *Output) Use(p Player) { o.mu.Lock(); o.player = p; o.mu.Unlock() }

// Do runs f in order with the events of the Output: for the events of the leg's own.
func (o *Output) Do(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// Audio takes PCM16 little-endian of an item, however much, and says false when its response is not to be heard any more.
func (o *Output) Audio(responseID, itemID string, content int, pcm []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.response(responseID)
	if r.muted || r.over {
		o.late += len(pcm) / 2
		return false
	}
	it := o.items[itemID]
	if it == nil {
		it = &item{id: itemID, content: content, of: r}
		o.items[itemID] = it
		r.items = append(r.items, itemID)
	}
	if len(it.odd) > 0 { // a sample that was split between two events
		pcm = append(it.odd, pcm...)
		it.odd = nil
	}
	if len(pcm)%2 == 1 {
		it.odd = []byte{pcm[len(pcm)-1]}
	}
	samples := make([]int16, len(pcm)/2)
	for i := range samples {
		samples[i] = int16(uint16(pcm[2*i]) | uint16(pcm[2*i+1])<<8) //nolint:gosec // the two bytes of a sample
	}
	it.received += len(samples)
	r.pending += len(samples)
	if len(samples) > 0 {
		o.player.Write(itemID, samples)
	}
	return true
}

// AudioDone says that the item's audio is complete.
func (o *Output) AudioDone(itemID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if it := o.items[itemID]; it != nil && !it.of.muted {
		o.player.End(itemID)
	}
}

// Done says that the response is over for the provider: call it after response.done was passed on.
func (o *Output) Done(responseID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.responses, func(r *response) bool { return r.id == responseID })
	if i < 0 {
		return
	}
	r := o.responses[i]
	r.done = true
	for _, id := range r.items {
		if !r.muted {
			o.player.End(id)
		}
	}
	if r.clear {
		o.cleared(r)
	}
	o.settle(r)
}

// Cancel drops what still comes of the response; what was received is played on. "" names the one that is not done.
func (o *Output) Cancel(responseID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.responses {
		if r.id == responseID || responseID == "" && !r.done {
			r.muted = true
			for _, id := range r.items {
				o.player.End(id)
			}
		}
	}
}

// Clear silences the Output: nothing of what was received is played any more, and nothing that still comes of the same
// responses. It gives the items that were cut, the one being played first. With wait the cleared event of a response that is
// not done yet follows its response.done, as when the provider itself interrupts; otherwise it is emitted now.
func (o *Output) Clear(wait bool) []Cut {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.player.Clear()
	var cuts []Cut
	for _, r := range o.responses {
		if r.over || r.done && r.pending == 0 {
			continue
		}
		r.muted, r.pending = true, 0
		for _, id := range r.items {
			if it := o.items[id]; it.played < it.received {
				cuts = append(cuts, it.cut())
			}
		}
		switch {
		case len(r.items) == 0: // it never sounded
		case wait && !r.done:
			r.clear = true
		default:
			o.cleared(r)
		}
	}
	return cuts
}

func (o *Output) cleared(r *response) {
	if !r.over {
		r.over, r.clear = true, false
		o.emit(&realtime.OutputAudioBufferCleared{ResponseID: r.id})
	}
}

// Lookup gives the account of an item; known is false for one that had no audio.
func (o *Output) Lookup(itemID string) (c Cut, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	it := o.items[itemID]
	if it == nil || it.received == 0 {
		return Cut{}, false
	}
	return it.cut(), true
}

// Received is how much audio came for the response.
func (o *Output) Received(responseID string) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, r := range o.responses {
		if r.id == responseID {
			for _, id := range r.items {
				n += o.items[id].received
			}
		}
	}
	return duration(n)
}

// Quiet: nothing is played and nothing waits to be.
func (o *Output) Quiet() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !slices.ContainsFunc(o.responses, func(r *response) bool { return r.pending > 0 })
}

// Late is how much audio came too late to be heard, and was dropped.
func (o *Output) Late() time.Duration { o.mu.Lock(); defer o.mu.Unlock(); return duration(o.late) }

// Play is called by the player for each frame that leaves, before it does; n samples of it are the item's. It calls send with
// the lock held, which is what makes Clear's promise true. start says that the item's response begins with it.
func (o *Output) Play(itemID string, n int, send func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	it := o.items[itemID]
	if it == nil || it.of.over || it.of.clear {
		return // cleared between the player's look at its queue and now
	}
	r := it.of
	if !r.heard {
		r.heard = true
		for _, before := range o.responses { // what has drained makes room first
			if before != r && before.heard && before.pending == 0 && !before.over && before.done {
				o.settle(before)
			}
		}
		o.emit(&realtime.OutputAudioBufferStarted{ResponseID: r.id})
	}
	send()
	n = min(n, it.received-it.played)
	it.played += n
	r.pending = max(r.pending-n, 0)
}

// Drained is called by the player when the time of the last frame it had is over.
func (o *Output) Drained() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.responses {
		o.settle(r)
	}
}

// settle emits stopped once the response is done and played.
func (o *Output) settle(r *response) {
	if r.done && r.heard && r.pending == 0 && !r.over && !r.clear {
		r.over = true
		o.emit(&realtime.OutputAudioBufferStopped{ResponseID: r.id})
	}
}

// response finds or makes the record of a response, and forgets the oldest.
func (o *Output) response(id string) *response {
	for _, r := range o.responses {
		if r.id == id {
			return r
		}
	}
	for len(o.responses) >= keep {
		for _, id := range o.responses[0].items {
			delete(o.items, id)
		}
		o.responses = o.responses[1:]
	}
	r := &response{id: id}
	o.responses = append(o.responses, r)
	return r
}

// Begin notes a response that was created.
func (o *Output) Begin(responseID string) { o.mu.Lock(); defer o.mu.Unlock(); o.response(responseID) }

func (it *item) cut() Cut {
	return Cut{ItemID: it.id, Content: it.content, Played: duration(it.played), Received: duration(it.received)}
}

func duration(samples int) time.Duration { return time.Duration(samples) * time.Second / rate }
