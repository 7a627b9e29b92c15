package conversation

import (
	"slices"
	"time"

	"hovor/gateway/thread"
)

// placeOf is an item's place in the thread: given once, by where it stands in the conversation and not by when its words
// arrive. after names the item before it; nil, or one that is not known, appends. "root" puts it first.
func (st *step) placeOf(id string, after *string) float64 {
	if i := slices.IndexFunc(st.order, func(p place) bool { return p.id == id }); i >= 0 {
		return st.order[i].seq
	}
	last := st.cfg.Base
	if n := len(st.order); n > 0 {
		last = st.order[n-1].seq
	}
	at := len(st.order)
	if after != nil {
		if *after == "root" {
			at = 0
		} else if i := slices.IndexFunc(st.order, func(p place) bool { return p.id == *after }); i >= 0 {
			at = i + 1
		}
	}
	seq := last + 1
	if at < len(st.order) {
		before := st.cfg.Base
		if at > 0 {
			before = st.order[at-1].seq
		}
		seq = (before + st.order[at].seq) / 2
	}
	p := place{id: id, seq: seq}
	if at == len(st.order) {
		st.order = addBounded(st.order, p, maxOrder)
	} else {
		st.order = slices.Concat(st.order[:at], []place{p}, st.order[at:])
	}
	return seq
}

// keep puts words into the thread at their place.
func (st *step) keep(it thread.Item, after *string) {
	it.Seq = st.placeOf(it.ID, after)
	it.CallID = st.cfg.CallID
	it.At = st.cfg.Epoch.Add(st.now).Truncate(time.Millisecond)
	if len(it.Text) > thread.MaxText {
		it.Text = it.Text[:thread.MaxText]
	}
	st.do(Keep{it})
}

// heardPerson: the provider has written down what the person said.
func (st *step) heardPerson(item, text string) {
	if text == "" {
		return
	}
	st.keep(thread.Item{ID: item, Role: thread.User, Kind: thread.Spoken, Text: thread.Words(text), Complete: true}, nil)
}

// forget takes an item's words out of the thread. Its place stays taken.
func (st *step) forget(item string) { st.do(Forget{item}) }
