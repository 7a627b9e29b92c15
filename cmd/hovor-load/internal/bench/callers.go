package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"hovor/cmd/hovor-load/internal/measure"
	"hovor/sfu"
	"hovor/signaling/client"
)

// ErrCalls means that not all calls of a round came up.
var ErrCalls = errors.New("not all calls came up")

var errFarSide = errors.New("the far side closed the call")

// setupWithin bounds the setup of one call.
const setupWithin = 20 * time.Second

// round is what is measured of one server once.
type round struct {
	up, down *flow
	setup    measure.Series // dial → connected, milliseconds
	channel  measure.Series // dial → event channel open
	first    measure.Series // dial → first packet of the upstream
	late     *measure.Hist
}

// callers are the people's ends of all calls of a round.
type callers struct {
	engine  *sfu.Engine
	packets [][]byte
	base    string // …/v1/realtime
	token   string
	round   *round

	wg   sync.WaitGroup
	errs chan error
}

// begin opens n calls, rate per second on an absolute schedule, each from its dial to the end of ctx, and returns when all are up.
func (c *callers) begin(ctx context.Context, n int, rate float64) error {
	c.errs = make(chan error, n)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	start := time.Now()
	for i := range n {
		wait := time.NewTimer(time.Until(start.Add(time.Duration(float64(i) / rate * float64(time.Second)))))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
		c.wg.Go(func() { c.call(ctx, uint32(i), &http.Client{Transport: transport}) })
	}
	failed := 0
	var last error
	for range n {
		if err := <-c.errs; err != nil {
			failed, last = failed+1, err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%w: %d of %d failed, the last with: %w", ErrCalls, failed, n, last)
	}
	return nil
}

// call is one call: it reports on errs once, when it is up or has failed.
func (c *callers) call(ctx context.Context, id uint32, web *http.Client) {
	setup, cancel := context.WithTimeout(ctx, setupWithin)
	defer cancel()
	begun := time.Now()
	connected, first := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var last uint32
	var heard atomic.Bool
	conn, err := client.Dial(setup, client.Config{
		BaseURL: c.base, Token: c.token, Model: "bench", Engine: c.engine, HTTP: web,
		Handlers: client.Handlers{
			State: func(s sfu.State) {
				if s == sfu.StateConnected {
					once.Do(func() {
						c.round.setup.AddDuration(time.Since(begun))
						close(connected)
					})
				}
			},
			Open: func() { c.round.channel.AddDuration(time.Since(begun)) },
			Packet: func(p *rtp.Packet, at time.Time) {
				if c.round.down.arrive(p.Payload, at, &last) && !heard.Swap(true) {
					c.round.first.AddDuration(at.Sub(begun))
					close(first)
				}
			},
		},
	})
	if err != nil {
		c.errs <- err
		return
	}
	line, hang := context.WithCancelCause(ctx)
	defer hang(nil)
	c.wg.Go(func() {
		err := conn.Run(line)
		if err == nil {
			err = errFarSide
		}
		hang(err)
	})
	if err := wait(setup, line, connected); err != nil {
		c.errs <- fmt.Errorf("media: %w", err)
		return
	}
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() { stream(line, conn, c.packets, c.round.up, id, c.round.late) })
	if err := wait(setup, line, first); err != nil {
		hang(nil)
		c.errs <- fmt.Errorf("no audio from the upstream: %w", err)
		return
	}
	c.errs <- nil
	<-line.Done()
}

func wait(setup, line context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-setup.Done():
		return setup.Err()
	case <-line.Done():
		return context.Cause(line)
	}
}
