package call

import (
	"sync/atomic"
	"time"
)

// source says who fills the mailbox; each has its own share, so that one cannot push out another.
type source int

const (
	fromClient   source = iota // events of the browser
	fromProvider               // events of the provider
	fromSide                   // events of sidebands
	fromHouse                  // ear, media, tools, hang-ups
	sources
)

// shares bound how many letters of each source may wait. A provider sends its transcripts in bursts; a client that has
// 256 events waiting is at fault.
var shares = [sources]int64{256, 1024, 128, 256}

// letter is one thing that happened, and when.
type letter struct {
	from source
	what any
	at   time.Time
}

// mailbox is the one way into a call's actor. Posting never blocks: the channel has room for the sum of the shares.
type mailbox struct {
	ch      chan letter
	waiting [sources]atomic.Int64
	dropped [sources]atomic.Int64
}

func newMailbox() *mailbox {
	var room int64
	for _, s := range shares {
		room += s
	}
	return &mailbox{ch: make(chan letter, room)}
}

// post puts a letter in; false: the source's share is used up and the letter is dropped and counted.
func (m *mailbox) post(from source, what any) bool {
	if m.waiting[from].Add(1) > shares[from] {
		m.waiting[from].Add(-1)
		m.dropped[from].Add(1)
		return false
	}
	m.ch <- letter{from: from, what: what, at: time.Now()} // has room: see newMailbox
	return true
}

// taken is called by the actor for every letter it takes.
func (m *mailbox) taken(l letter) { m.waiting[l.from].Add(-1) }

// drops tells how many letters of a source were dropped since it was asked last.
func (m *mailbox) drops(from source) int { return int(m.dropped[from].Swap(0)) }
