package playback

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/sfu/bridge"
	"hovor/signaling/realtime"
)

// rate is that of the PCM of both protocols, in samples a second.
const rate = 24000

// keep bounds how many responses and their items are remembered.
const keep = 32

// Cut is the account of an item: what was received of it, how much of that was played, and how much the person can have heard.
type Cut struct {
	ItemID                  string
	Content                 int
	Received, Played, Heard time.Duration
}

// Output is what a leg plays. All methods may be called at any time. Events are emitted with its lock held, so that their
// order is the order in which things happened; emit must not block and not call back.
type Output struct {
	emit   func(realtime.Event)
	player *bridge.Player

	mu        sync.Mutex // guards what follows; never held while the player is called, which calls back with its own
	responses []*response
	items     map[string]*item
	epoch     uint64
	late      time.Duration
}

type response struct {
	id    string
	epoch uint64
	items []*item
	heard bool // started was emitted
	done  bool // response.done came
	muted bool // cancelled or cleared: what still comes is dropped
	over  bool // stopped or cleared was emitted
	clear bool // cleared is owed, after done
}

type item struct {
	id       string
	content  int
	of       *response
	received time.Duration
	played   bool // to its end
	cut      *Cut // as it was when it was cleared
}

// out is the Output as its player sees it.
type out struct {
	bridge.Packets

	o *Output
}

// Begin comes before the first packet of an item.
func (x out) Begin(_ uint64, itemID string) { x.o.begins(itemID) }

// Cut comes with a clear.
func (out) Cut() sfu.Heard { return sfu.Heard{} }

// NewOutput makes an Output that gives its packets to write, one at a time and valid until return.
func NewOutput(codec sfu.Codec, emit func(realtime.Event), write func(p *rtp.Packet, at time.Time)) (*Output, error) {
	o := &Output{emit: emit, items: map[string]*item{}}
	var err error
	o.player, err = bridge.NewPlayer(bridge.PlayerConfig{Codec: codec, Out: out{bridge.Packets(write), o}, Rate: rate, Drained: o.drained})
	if err != nil {
		return nil, fmt.Errorf("start the player: %w", err)
	}
	return o, nil
}

// Close ends it: nothing is played or emitted any more.
func (o *Output) Close() { o.player.Close() }

// SetPlayout tells how much audio waits in the client before it is heard.
func (o *Output) SetPlayout(buffered time.Duration) { o.player.SetPlayout(buffered) }

// Do runs f in order with the events of the Output: for the events of the leg's own.
func (o *Output) Do(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// Begin notes a response that was created.
func (o *Output) Begin(responseID string) { o.mu.Lock(); defer o.mu.Unlock(); o.response(responseID) }

// Audio takes PCM16 little-endian of an item, however much. It says false when it will not be heard: its response was
// cancelled or cleared, or too much waits already.
func (o *Output) Audio(responseID, itemID string, content int, pcm []byte) bool {
	d := time.Duration(len(pcm)/2) * time.Second / rate
	o.mu.Lock()
	r := o.response(responseID)
	dead := r.muted || r.over
	if dead {
		o.late += d
	} else {
		it := o.items[itemID]
		if it == nil {
			it = &item{id: itemID, content: content, of: r}
			o.items[itemID] = it
			r.items = append(r.items, it)
		}
		it.received += d
		it.played = false
	}
	epoch := r.epoch
	o.mu.Unlock()
	if dead {
		return false
	}
	_, err := o.player.WriteBytes(epoch, itemID, pcm)
	return err == nil
}

// AudioDone says that the item's audio is complete.
func (o *Output) AudioDone(itemID string) {
	o.mu.Lock()
	it := o.items[itemID]
	o.mu.Unlock()
	if it != nil {
		o.player.End(it.of.epoch, itemID)
	}
}

// Done says that the response is over for the provider: call it after response.done was passed on.
func (o *Output) Done(responseID string) {
	o.mu.Lock()
	r := o.find(responseID)
	if r != nil {
		r.done = true
		if r.clear {
			o.cleared(r)
		}
		o.settle(r)
	}
	o.mu.Unlock()
	o.end(r)
}

// end closes the audio of a response's items.
func (o *Output) end(r *response) {
	if r == nil {
		return
	}
	o.mu.Lock()
	items := slices.Clone(r.items)
	o.mu.Unlock()
	for _, it := range items {
		o.player.End(r.epoch, it.id)
	}
}

// Cancel drops what still comes of the response; what was received is played on. "" names those that are not done.
func (o *Output) Cancel(responseID string) {
	o.mu.Lock()
	var cancelled []*response
	for _, r := range o.responses {
		if r.id == responseID || responseID == "" && !r.done {
			r.muted = true
			cancelled = append(cancelled, r)
		}
	}
	o.mu.Unlock()
	for _, r := range cancelled {
		o.end(r)
	}
}

// Clear silences the Output: nothing of what was received is played any more, and nothing that still comes of the same
// responses. It gives the items that were not heard to their end, the oldest first. With wait the cleared event of a response
// that is not done yet follows its response.done, as when the provider itself interrupts; otherwise it is emitted now.
func (o *Output) Clear(wait bool) []Cut {
	c := o.player.Clear()
	o.mu.Lock()
	defer o.mu.Unlock()
	var cuts []Cut
	for _, a := range c.Items {
		if it := o.items[a.ItemID]; it != nil {
			it.cut = &Cut{ItemID: a.ItemID, Content: it.content, Received: a.Received, Played: a.Sent, Heard: a.Heard}
			cuts = append(cuts, *it.cut)
		}
	}
	for _, r := range o.responses {
		if r.over || len(r.items) == 0 {
			continue // played, or it never sounded
		}
		r.muted = true
		if wait && !r.done {
			r.clear = true
		} else {
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
	it := o.items[itemID]
	if it != nil && it.cut != nil {
		defer o.mu.Unlock()
		return *it.cut, true
	}
	o.mu.Unlock()
	if it == nil {
		return Cut{}, false
	}
	a, ok := o.player.Account(itemID)
	if !ok || a.Received == 0 {
		return Cut{}, false
	}
	return Cut{ItemID: itemID, Content: it.content, Received: a.Received, Played: a.Sent, Heard: a.Heard}, true
}

// Received is how much audio came for the response.
func (o *Output) Received(responseID string) (d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.find(responseID); r != nil {
		for _, it := range r.items {
			d += it.received
		}
	}
	return d
}

// Quiet: nothing is played and nothing waits to be.
func (o *Output) Quiet() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !slices.ContainsFunc(o.responses, func(r *response) bool { return !r.over && !r.played() })
}

// Late is how much audio came for responses that were not to be heard any more, and was dropped.
func (o *Output) Late() time.Duration { o.mu.Lock(); defer o.mu.Unlock(); return o.late }

// begins: the first packet of the item follows.
func (o *Output) begins(itemID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	it := o.items[itemID]
	if it == nil || it.of.heard {
		return
	}
	it.of.heard = true
	o.emit(&realtime.OutputAudioBufferStarted{ResponseID: it.of.id})
}

// drained: all of the item was played.
func (o *Output) drained(a bridge.Account) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if it := o.items[a.ItemID]; it != nil {
		it.played = true
		o.settle(it.of)
	}
}

// settle emits stopped once the response is done and played.
func (o *Output) settle(r *response) {
	if r.done && r.heard && !r.over && !r.clear && r.played() {
		r.over = true
		o.emit(&realtime.OutputAudioBufferStopped{ResponseID: r.id})
	}
}

func (r *response) played() bool {
	return !slices.ContainsFunc(r.items, func(it *item) bool { return !it.played })
}

func (o *Output) find(id string) *response {
	if i := slices.IndexFunc(o.responses, func(r *response) bool { return r.id == id }); i >= 0 {
		return o.responses[i]
	}
	return nil
}

// response finds or makes the record of a response, and forgets the oldest.
func (o *Output) response(id string) *response {
	if r := o.find(id); r != nil {
		return r
	}
	for len(o.responses) >= keep {
		for _, it := range o.responses[0].items {
			delete(o.items, it.id)
		}
		o.responses = o.responses[1:]
	}
	o.epoch++
	r := &response{id: id, epoch: o.epoch}
	o.responses = append(o.responses, r)
	return r
}
