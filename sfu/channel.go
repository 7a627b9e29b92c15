package sfu

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/datachannel"
	"github.com/pion/webrtc/v4"
)

// sendQueue bounds the bytes that wait for the far side's acknowledgement. A single larger message may still go
// when nothing waits.
const sendQueue = 1 << 20

// firstRead is the read buffer to start with; it doubles up to the largest message allowed.
const firstRead = 4 << 10

// longestRead is more than the library's receive window (1 MiB) lets a single message grow to: what is longer than
// announced must still be read, because nothing behind it could be.
const longestRead = 2 << 20

// channel is the event channel. It is detached: its reader is ours, with a buffer that starts small, and writing
// never blocks because the queue is bounded here.
type channel struct {
	maxSend atomic.Int64
	dropped atomic.Uint64
	taken   atomic.Bool

	readers sync.WaitGroup

	mu     sync.Mutex // guards what follows, and the order of messages
	conn   *datachannel.DataChannel
	closed bool
}

// adopt takes the event channel: ours when offering, the client's first one when answering. A second one is closed:
// there is one conversation.
func (p *Peer) adopt(dc *webrtc.DataChannel) {
	if !p.channel.taken.CompareAndSwap(false, true) {
		dc.OnOpen(func() { _ = dc.Close() })
		return
	}
	dc.OnOpen(func() {
		raw, err := dc.Detach()
		if err != nil {
			return
		}
		conn, ok := raw.(*datachannel.DataChannel)
		if !ok || !p.channel.open(conn) {
			return
		}
		if p.handlers.Open != nil {
			p.handlers.Open()
		}
		p.read(conn)
	})
}

// open takes the connection; false when the peer is already closing.
func (c *channel) open(conn *datachannel.DataChannel) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.conn = conn
	c.readers.Add(1)
	return true
}

// shut stops sending, and waits for nothing: closing the connection ends the reader.
func (c *channel) shut() {
	c.mu.Lock()
	c.conn, c.closed = nil, true
	c.mu.Unlock()
}

// read hands messages out until the channel or the connection ends. It runs on a goroutine of the library.
func (p *Peer) read(conn *datachannel.DataChannel) {
	defer p.channel.readers.Done()
	buf := make([]byte, firstRead)
	used := false // a far side that never cared for the channel may close it and go on with audio alone
	for {
		n, _, err := conn.ReadDataChannel(buf)
		if longest := max(longestRead, p.maxReceive()); errors.Is(err, io.ErrShortBuffer) && len(buf) < longest {
			buf = make([]byte, min(2*len(buf), longest))
			continue
		}
		if err != nil {
			p.channel.shut()
			if used {
				p.channelEnded()
			}
			return
		}
		used = true
		if n > p.maxReceive() {
			buf = make([]byte, firstRead)
			p.tooLarge(n)
			continue
		}
		if p.handlers.Message != nil {
			p.handlers.Message(append(make([]byte, 0, n), buf[:n]...))
		}
	}
}

// tooLarge drops a message that is longer than we announced, and tells the peer's owner, who can tell its sender.
func (p *Peer) tooLarge(size int) {
	p.engine.log.Debug("the far side sent an event larger than announced", "bytes", size, "limit", p.maxReceive())
	if p.handlers.TooLarge != nil {
		p.handlers.TooLarge(p.maxReceive())
	}
}

// channelGrace: when the whole connection ends, the channel's end and the transport's come together.
const channelGrace = 100 * time.Millisecond

// channelEnded ends the call when the far side has closed nothing but the event channel that it used. When it has closed everything,
// the transport's end is the signal: the library must be done with it before the connection is closed.
func (p *Peer) channelEnded() {
	select {
	case <-p.sctpOver:
	case <-p.finishing:
	case <-time.After(channelGrace):
		p.ended()
	}
}

// Send queues one text frame on the event channel. It never blocks. Errors: ErrNotOpen, ErrQueueFull,
// ErrMessageTooLarge.
func (p *Peer) Send(msg []byte) error {
	err := p.channel.send(msg)
	if errors.Is(err, ErrQueueFull) || errors.Is(err, ErrMessageTooLarge) {
		p.channel.dropped.Add(1)
	}
	return err
}

func (c *channel) send(msg []byte) error {
	if limit := c.maxSend.Load(); int64(len(msg)) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrMessageTooLarge, len(msg), limit)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return ErrNotOpen
	}
	if queued := c.conn.BufferedAmount(); queued > 0 && queued+uint64(len(msg)) > sendQueue {
		return fmt.Errorf("%w: %d bytes wait", ErrQueueFull, queued)
	}
	if _, err := c.conn.WriteDataChannel(msg, true); err != nil {
		return fmt.Errorf("%w: %w", ErrNotOpen, err)
	}
	return nil
}

func (c *channel) stats(s *PeerStats) {
	s.MessagesDropped = c.dropped.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		s.QueuedBytes = c.conn.BufferedAmount()
	}
}
