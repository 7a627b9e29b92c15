package local

import (
	"sync"
	"time"

	"hovor/gateway/provider/local/ear"
	"hovor/sfu"
)

const (
	hearingBacklog = 150 // frames: 3 s; more means that the session does not keep up, and the oldest go
	msPerSample    = float64(1000) / ear.Rate
)

// heard is one frame from the tap, or a barrier among the frames.
type heard struct {
	pcm     []int16
	pos     time.Duration
	barrier func() // run by the session in the frames' order
}

// hearing is the queue from the tap's clock to the session. It never blocks the clock, and never loses a barrier.
type hearing struct {
	notify chan struct{}

	mu      sync.Mutex // guards what follows
	queue   []heard
	frames  int
	dropped uint64
	spare   [][]int16
}

func newHearing() *hearing { return &hearing{notify: make(chan struct{}, 1)} }

// frame is the tap's callback.
func (h *hearing) frame(f sfu.Frame) {
	h.mu.Lock()
	if h.frames >= hearingBacklog {
		h.dropOldest()
	}
	var pcm []int16
	if n := len(h.spare); n > 0 {
		pcm, h.spare = h.spare[n-1], h.spare[:n-1]
	}
	h.queue = append(h.queue, heard{pcm: append(pcm[:0], f.PCM...), pos: f.Pos})
	h.frames++
	h.mu.Unlock()
	h.tell()
}

func (h *hearing) dropOldest() {
	for i, x := range h.queue {
		if x.barrier == nil {
			h.queue = append(h.queue[:i], h.queue[i+1:]...)
			h.frames--
			h.dropped++
			return
		}
	}
}

// mark puts a barrier behind all frames so far.
func (h *hearing) mark(fn func()) {
	h.mu.Lock()
	h.queue = append(h.queue, heard{barrier: fn})
	h.mu.Unlock()
	h.tell()
}

func (h *hearing) tell() {
	select {
	case h.notify <- struct{}{}:
	default:
	}
}

// take returns what has come, in order. The frames are given back with done.
func (h *hearing) take() []heard {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.queue
	h.queue, h.frames = nil, 0
	return out
}

func (h *hearing) done(taken []heard) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range taken {
		if x.pcm != nil && len(h.spare) < 16 {
			h.spare = append(h.spare, x.pcm)
		}
	}
}
