package vnettest

import (
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// pipe holds the packets under way in one direction. Its fields are guarded by the network's mutex.
type pipe struct {
	rng           *rand.Rand
	queue         []parcel // by due time, first come first served
	lastDue       time.Time
	wake          chan struct{}
	carried, lost int
}

type parcel struct {
	due  time.Time
	from *socket
	to   *net.UDPAddr
	data []byte
}

func (p *pipe) put(x parcel, reorder bool) {
	if !reorder && x.due.Before(p.lastDue) {
		x.due = p.lastDue
	}
	if x.due.After(p.lastDue) {
		p.lastDue = x.due
	}
	i := len(p.queue)
	for i > 0 && p.queue[i-1].due.After(x.due) {
		i--
	}
	p.queue = slices.Insert(p.queue, i, x)
	if i == 0 {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// run delivers each packet when it is due.
func (p *pipe) run(mu *sync.Mutex, quit chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		mu.Lock()
		now := time.Now()
		n := 0
		for n < len(p.queue) && !p.queue[n].due.After(now) {
			n++
		}
		due := slices.Clone(p.queue[:n])
		p.queue = slices.Delete(p.queue, 0, n)
		wait := time.Hour
		if len(p.queue) > 0 {
			wait = p.queue[0].due.Sub(now)
		}
		mu.Unlock()
		for _, x := range due {
			_, _ = x.from.UDPConn.WriteTo(x.data, x.to) // a socket that was closed meanwhile loses its packets
		}
		timer.Reset(wait)
		select {
		case <-quit:
			return
		case <-p.wake:
		case <-timer.C:
		}
	}
}
