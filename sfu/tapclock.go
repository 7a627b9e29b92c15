package sfu

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// tapPhases spreads the taps of one clock over the 20 ms of a frame, so that they do not all decode at once.
	tapPhases = 4
	phaseTime = frameTime / tapPhases
	// tapClocksMax bounds the clock goroutines; more than the cores would only take turns.
	tapClocksMax = 8
)

// tapClocks are the goroutines that drive every tap of an engine.
type tapClocks struct {
	mu     sync.Mutex
	clocks []*tapClock
	next   int
	closed bool
}

func newTapClocks() *tapClocks {
	n := min(runtime.GOMAXPROCS(0), tapClocksMax)
	c := &tapClocks{clocks: make([]*tapClock, n)}
	for i := range c.clocks {
		c.clocks[i] = &tapClock{}
	}
	return c
}

func (c *tapClocks) open(fn func(Frame)) (*Tap, error) {
	t, err := newTap(fn)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("media engine: %w", ErrClosed)
	}
	c.clocks[c.next].add(t)
	c.next = (c.next + 1) % len(c.clocks)
	return t, nil
}

func (c *tapClocks) stop() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	for _, k := range c.clocks {
		k.stop()
	}
}

// tapClock is one goroutine with a wheel of phases. It runs while it has taps.
type tapClock struct {
	mu   sync.Mutex
	base time.Time // time of turn 0
	taps [tapPhases][]*Tap
	n    int
	quit chan struct{} // non-nil while the goroutine runs
	done chan struct{}
}

// add gives the tap a start on the wheel's grid and begins to drive it.
func (c *tapClock) add(t *Tap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.quit == nil {
		c.base = now
		c.quit, c.done = make(chan struct{}), make(chan struct{})
		go c.run(c.base, c.quit, c.done)
	}
	turn := int64((now.Sub(c.base) + phaseTime - 1) / phaseTime)
	t.clock, t.start, t.phase = c, c.base.Add(time.Duration(turn)*phaseTime), int(turn%tapPhases)
	c.taps[t.phase] = append(c.taps[t.phase], t)
	c.n++
}

func (c *tapClock) remove(t *Tap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.taps[t.phase], t)
	if i < 0 {
		return
	}
	c.taps[t.phase] = slices.Delete(c.taps[t.phase], i, i+1)
	if c.n--; c.n == 0 {
		close(c.quit)
		c.quit = nil
	}
}

// stop ends every tap that is left and waits for the goroutine.
func (c *tapClock) stop() {
	c.mu.Lock()
	var left []*Tap
	for _, taps := range c.taps {
		left = append(left, taps...)
	}
	done := c.done
	c.mu.Unlock()
	for _, t := range left {
		t.Close()
	}
	if done != nil {
		<-done
	}
}

func (c *tapClock) run(base time.Time, quit, done chan struct{}) {
	defer close(done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var due []*Tap
	for turn := int64(1); ; turn++ {
		timer.Reset(time.Until(base.Add(time.Duration(turn) * phaseTime)))
		select {
		case <-quit:
			return
		case <-timer.C:
		}
		c.mu.Lock()
		due = append(due[:0], c.taps[turn%tapPhases]...)
		c.mu.Unlock()
		now := base.Add(time.Duration(turn) * phaseTime)
		for _, t := range due {
			t.advance(now)
		}
		clear(due)
	}
}
