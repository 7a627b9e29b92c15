package socket

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hovor/gateway/provider"
)

// LineConfig is what a Line is kept with. Its functions are called one at a time but for Handle, and do not block, but for Open.
type LineConfig struct {
	// Open makes a connection, configures it and hands the conversation so far over; again is false the first time.
	Open func(ctx context.Context, again bool) (*Conn, error)
	// Handle gets every message of the present connection, in order.
	Handle func(raw []byte)
	// Quiet says whether a change of the connection would go unnoticed now; nil = always.
	Quiet func() bool
	// Same says whether nothing has happened since the last Open took down the conversation; nil = always.
	Same func() bool
	// Lost is called when a connection was lost under way and before it is replaced; what was being answered is over.
	Lost func(cause *provider.Error)
	// Resume gives what has to be said first on a new connection: what the old one never confirmed.
	Resume func() []Pending
	// Notice takes what the Line has to tell.
	Notice func(n provider.Notice)

	Limit   time.Duration // how long the provider keeps a connection; 0 = it does not say
	Ahead   time.Duration // how long before the limit a quiet moment is looked for; 0 = a tenth of the limit
	Connect time.Duration // for one renewal with all its tries; 0 = 10 s
	Fixed   bool          // never renew: a lost connection ends the line
	Logger  *slog.Logger  // nil = silent
}

// Pending is one message that waits for a connection.
type Pending struct {
	Raw   []byte
	Audio bool
}

const (
	// look is how often a quiet moment is looked for.
	look = 100 * time.Millisecond
	// heldAudio and heldEvents bound what may wait while a connection is renewed: 8 s of audio in frames of 20 ms.
	heldAudio  = 400
	heldEvents = 512
	// aheadWait bounds a renewal ahead of need: what is said meanwhile waits for it.
	aheadWait = 3 * time.Second
	// flaps in flapTime are too many: such a provider is gone.
	flaps    = 4
	flapTime = time.Minute
)

// Line is a connection that is replaced when it breaks or is about to reach its limit, with what is said meanwhile kept for
// the next one. Write, Audio, Expire and Renew may be called at any time and do not block.
type Line struct {
	cfg LineConfig

	mu       sync.Mutex // guards what follows
	conn     *Conn
	held     bool
	waiting  []Pending
	events   int
	audio    int
	lost     int // audio messages dropped
	told     bool
	over     bool
	deadline time.Time // of the present connection; zero = none
	asked    bool      // a renewal is wanted at the next quiet moment
	failure  *provider.Error
	changed  chan struct{}
}

// NewLine makes a Line; Start opens it.
func NewLine(cfg LineConfig) *Line {
	if cfg.Connect == 0 {
		cfg.Connect = 10 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Quiet == nil {
		cfg.Quiet = func() bool { return true }
	}
	if cfg.Same == nil {
		cfg.Same = func() bool { return true }
	}
	return &Line{cfg: cfg, changed: make(chan struct{}, 1)}
}

// Start opens the first connection, with the tries that ctx leaves time for.
func (l *Line) Start(ctx context.Context) error {
	l.limit()
	conn, err := l.open(ctx, false)
	if err != nil {
		return err
	}
	l.conn = conn
	return nil
}

// limit starts the clock of a connection; Open may set it anew with Expire.
func (l *Line) limit() {
	if l.cfg.Limit > 0 {
		l.Expire(l.cfg.Limit)
	}
}

func (l *Line) open(ctx context.Context, again bool) (conn *Conn, err error) {
	err = Retry(ctx, Backoff{}, func(ctx context.Context) error {
		conn, err = l.cfg.Open(ctx, again)
		return err
	})
	return conn, err
}

// Expire says when the provider will end the present connection.
func (l *Line) Expire(in time.Duration) {
	l.mu.Lock()
	l.deadline = time.Now().Add(in)
	l.mu.Unlock()
	l.nudge()
}

// Renew asks for a new connection at the next quiet moment.
func (l *Line) Renew() {
	l.mu.Lock()
	l.asked = true
	l.mu.Unlock()
	l.nudge()
}

func (l *Line) nudge() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Write queues one event. Errors: provider.ErrNotConnected, ErrFull.
func (l *Line) Write(raw []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over:
		return provider.ErrNotConnected
	case !l.held:
		if err := l.conn.Write(raw); !errors.Is(err, provider.ErrNotConnected) {
			return err
		}
		l.held = true // it has just gone; Run decides whether another comes
	}
	if l.events >= heldEvents {
		return ErrFull
	}
	l.events++
	l.waiting = append(l.waiting, Pending{Raw: raw})
	return nil
}

// Audio queues audio. What is too much is dropped, counted, and told once.
func (l *Line) Audio(raw []byte) {
	l.mu.Lock()
	ok := false
	switch {
	case l.over:
		ok = true
	case !l.held:
		ok = l.conn.Audio(raw)
	case l.audio < heldAudio:
		l.audio++
		l.waiting = append(l.waiting, Pending{Raw: raw, Audio: true})
		ok = true
	}
	tell := !ok && !l.told
	if !ok {
		l.lost, l.told = l.lost+1, true
	}
	l.mu.Unlock()
	if tell {
		l.cfg.Notice(provider.Notice{Kind: provider.AudioLost})
	}
}

// Lost is how many messages of audio were dropped.
func (l *Line) Lost() int { l.mu.Lock(); defer l.mu.Unlock(); return l.lost }

// Fail ends the present connection for a reason that the connection itself does not know.
func (l *Line) Fail(cause *provider.Error) {
	l.mu.Lock()
	if l.failure == nil {
		l.failure = cause
	}
	conn := l.conn
	l.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}

// failed takes the reason that Fail gave, or the connection's own.
func (l *Line) failed(err error) *provider.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	cause := l.failure
	l.failure = nil
	if cause == nil {
		cause = provider.AsError(err)
	}
	return cause
}

// Close drops a line that is not run.
func (l *Line) Close() {
	l.mu.Lock()
	l.over = true
	conn := l.conn
	l.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}

// hold keeps what is written from now on for the next connection.
func (l *Line) hold() { l.mu.Lock(); l.held = true; l.mu.Unlock() }

// release lets what was held go, over conn if there is a new one.
func (l *Line) release(conn *Conn, first []Pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if conn != nil {
		l.conn = conn
	}
	again := make(map[*byte]bool, len(first)) // what waited may stand among them
	for _, p := range first {
		again[&p.Raw[0]] = true
	}
	for i, p := range slices.Concat(first, l.waiting) {
		if i >= len(first) && again[&p.Raw[0]] {
			continue
		}
		if p.Audio {
			l.conn.Audio(p.Raw)
		} else if err := l.conn.Write(p.Raw); err != nil {
			l.cfg.Logger.Warn("an event was lost with its connection", "error", err)
		}
	}
	l.waiting, l.events, l.audio, l.held = nil, 0, 0, false
}

// Run keeps the line until ctx ends (nil) or it is lost for good (a *provider.Error).
func (l *Line) Run(ctx context.Context) error {
	defer func() {
		l.mu.Lock()
		l.over = true
		l.mu.Unlock()
	}()
	var broken []time.Time
	for {
		next, cause := l.serve(ctx)
		if ctx.Err() != nil {
			if next != nil {
				next.Close()
			}
			return nil
		}
		if next == nil {
			now := time.Now()
			for len(broken) > 0 && now.Sub(broken[0]) > flapTime {
				broken = broken[1:]
			}
			broken = append(broken, now)
			if !l.renewable(cause) || len(broken) > flaps {
				return cause
			}
			var err error
			if next, err = l.replace(ctx, cause); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				l.cfg.Logger.Warn("provider connection not renewed", "error", err)
				return cause
			}
		}
		l.release(next, l.cfg.Resume())
		l.cfg.Notice(provider.Notice{Kind: provider.Renewed})
	}
}

func (l *Line) renewable(cause *provider.Error) bool {
	if l.cfg.Fixed || cause == nil {
		return false
	}
	switch cause.Class {
	case provider.Lost, provider.Expired, provider.Overloaded, provider.Timeout:
		return true
	default:
		return false
	}
}

// replace makes a new connection for one that was lost.
func (l *Line) replace(ctx context.Context, cause *provider.Error) (*Conn, error) {
	l.hold()
	l.cfg.Notice(provider.Notice{Kind: provider.Renewing, Cause: cause})
	l.cfg.Lost(cause)
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Connect)
	defer cancel()
	l.fresh()
	return l.open(ctx, true)
}

// fresh starts the accounts of a new connection.
func (l *Line) fresh() {
	l.mu.Lock()
	l.deadline, l.asked, l.told = time.Time{}, false, false
	l.mu.Unlock()
	l.limit()
}

// serve runs the present connection until it ends (cause), or until a new one stands ready in its place (next).
func (l *Line) serve(ctx context.Context) (next *Conn, cause *provider.Error) {
	l.mu.Lock()
	conn := l.conn
	l.mu.Unlock()
	life, leave := context.WithCancel(ctx)
	defer leave()
	over := make(chan error, 1)
	go func() { over <- conn.Run(life, l.cfg.Handle) }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	warned := false
	for {
		select {
		case err := <-over:
			return nil, l.failed(err)
		case <-l.changed:
		case <-timer.C:
		}
		wait, in, due := l.due()
		if !due {
			if wait > 0 {
				timer.Reset(wait)
			}
			continue
		}
		if in > 0 && !warned {
			warned = true
			l.cfg.Notice(provider.Notice{Kind: provider.Expiring, In: in})
		}
		if l.cfg.Fixed || !l.cfg.Quiet() {
			timer.Reset(look)
			continue
		}
		if next = l.ahead(ctx); next != nil {
			leave()
			<-over
			return next, nil
		}
		timer.Reset(l.cfg.Connect / 2)
	}
}

// ahead makes the next connection while the present one stands; nil when it could not be made, or something happened.
func (l *Line) ahead(ctx context.Context) *Conn {
	l.hold()
	l.cfg.Notice(provider.Notice{Kind: provider.Renewing})
	ctx, cancel := context.WithTimeout(ctx, min(l.cfg.Connect, aheadWait))
	defer cancel()
	l.mu.Lock()
	deadline, asked := l.deadline, l.asked
	l.mu.Unlock()
	l.fresh()
	next, err := l.cfg.Open(ctx, true)
	if err == nil && l.cfg.Quiet() && l.cfg.Same() {
		return next
	}
	if err != nil {
		l.cfg.Logger.Warn("provider connection not renewed ahead of its end", "error", err)
	} else {
		next.Close()
	}
	l.mu.Lock()
	l.deadline, l.asked = deadline, asked
	l.mu.Unlock()
	l.release(nil, nil)
	return nil
}

// due tells whether a renewal is, how long the connection still has, and otherwise how long to wait.
func (l *Line) due() (wait, in time.Duration, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deadline.IsZero() {
		return 0, 0, l.asked
	}
	in = time.Until(l.deadline)
	ahead := l.cfg.Ahead
	if ahead == 0 {
		ahead = l.cfg.Limit / 10
	}
	if in > ahead && !l.asked {
		return in - ahead, in, false
	}
	if in > ahead {
		in = 0 // asked for, nothing expires
	}
	return 0, in, true
}
