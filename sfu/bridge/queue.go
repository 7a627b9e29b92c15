package bridge

import (
	"encoding/binary"
	"sync"
)

// blockSamples is the grain of the queue's memory: 200 ms at 24 kHz.
const blockSamples = 4800

type block struct {
	next *block
	pcm  [blockSamples]int16
}

var blocks = sync.Pool{New: func() any { return new(block) }}

// queue is PCM first in, first out, in blocks that all players share: memory follows the audio that waits.
type queue struct {
	head, tail *block
	from, to   int // within head, within tail
	n          int // samples
}

// room is the free part of the last block, at least one sample.
func (q *queue) room() []int16 {
	if q.tail == nil || q.to == blockSamples {
		b := blocks.Get().(*block)
		b.next = nil
		if q.tail == nil {
			q.head, q.from = b, 0
		} else {
			q.tail.next = b
		}
		q.tail, q.to = b, 0
	}
	return q.tail.pcm[q.to:]
}

func (q *queue) push(pcm []int16) {
	for len(pcm) > 0 {
		n := copy(q.room(), pcm)
		q.to += n
		q.n += n
		pcm = pcm[n:]
	}
}

// pushBytes takes little-endian samples; the length is even.
func (q *queue) pushBytes(data []byte) {
	for len(data) > 0 {
		room := q.room()
		n := min(len(room), len(data)/2)
		for i := range room[:n] {
			room[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
		}
		q.to += n
		q.n += n
		data = data[2*n:]
	}
}

// pop fills dst, which must not be longer than the queue.
func (q *queue) pop(dst []int16) {
	for len(dst) > 0 {
		end := blockSamples
		if q.head == q.tail {
			end = q.to
		}
		n := copy(dst, q.head.pcm[q.from:end])
		q.from += n
		q.n -= n
		dst = dst[n:]
		if q.from == end {
			q.free()
		}
	}
}

// free gives the first block back, all of which was read.
func (q *queue) free() {
	b := q.head
	if q.head, q.from = b.next, 0; q.head == nil {
		q.tail, q.to = nil, 0
	}
	blocks.Put(b)
}

func (q *queue) clear() {
	for q.head != nil {
		q.free()
	}
	q.n = 0
}
