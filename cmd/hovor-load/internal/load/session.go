package load

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"hovor/cmd/hovor-load/internal/person"
	"hovor/sfu"
	"hovor/sfu/opus"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// hangupWithin bounds how long a gateway may take to say goodbye.
const hangupWithin = 5 * time.Second

// session is one call from secret to hang-up. Every failure ends on the board.
func (r *run) session(ctx context.Context) {
	setup, cancel := context.WithTimeout(ctx, r.SetupWithin)
	defer cancel()
	token, err := r.secret(setup)
	if err != nil {
		r.failed(ctx, err)
		return
	}
	ear, err := person.NewEar(func() (person.Decoder, error) { return opus.NewDecoder(16000) }, r.Audible, r.board)
	if err != nil {
		r.failed(ctx, err)
		return
	}
	mouth := person.NewMouth(r.room, r.board)
	var talker atomic.Pointer[person.Person]
	begun := time.Now()
	conn, err := client.Dial(setup, r.dial(token, ear, &talker))
	if err != nil {
		r.failed(ctx, err)
		return
	}
	p := person.New(r.Habits, conn, ear, mouth, r.board)
	talker.Store(p)
	r.talk(ctx, setup, conn, p, mouth, begun)
	r.board.HangUp(ear.Stats(), conn.Peer().Stats().RTT)
}

// talk owns the goroutines of one call: the connection, the mouth, and itself.
func (r *run) talk(ctx, setup context.Context, conn *client.Conn, p *person.Person, mouth *person.Mouth, begun time.Time) {
	line, hang := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer hang()
	gone := make(chan error, 1)
	wg.Go(func() {
		err := conn.Run(line)
		hang() // whoever waits for an answer need not wait any longer
		gone <- err
	})
	if err := conn.Ready(setup); err != nil {
		r.failed(ctx, err)
		return
	}
	r.board.Setup.AddDuration(time.Since(begun))
	r.board.Connected.Add(1)
	wg.Go(func() { mouth.Run(line, conn) })
	err := p.Converse(line, r.stop)
	select {
	case lost := <-gone:
		if ctx.Err() == nil {
			r.board.Dropped.Add(1)
			r.board.Error(text("session lost", lost))
		}
		return
	default:
	}
	if err != nil {
		r.board.Dropped.Add(1)
		r.board.Error(text("session lost", err))
	}
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangupWithin)
	defer cancel()
	if err := conn.Hangup(bye); err != nil && ctx.Err() == nil {
		r.board.Error(text("hang-up", err))
	}
}

// secret is what the call is opened with.
func (r *run) secret(ctx context.Context) (string, error) {
	if !r.Mint {
		return r.Token, nil
	}
	asked := time.Now()
	s, err := client.MintSecret(ctx, &http.Client{Transport: r.HTTP}, r.BaseURL, r.Token, realtime.ClientSecretRequest{
		Session: &realtime.Session{Type: "realtime", Model: r.Model},
	})
	if err != nil {
		return "", err
	}
	r.board.Mint.AddDuration(time.Since(asked))
	return s.Value, nil
}

func (r *run) dial(token string, ear *person.Ear, talker *atomic.Pointer[person.Person]) client.Config {
	post := &timed{next: r.HTTP}
	c := client.Config{
		BaseURL: r.BaseURL, Token: token, Model: r.Model, Engine: r.Engine, HTTP: &http.Client{Transport: post},
		Handlers: client.Handlers{
			Packet: func(p *rtp.Packet, at time.Time) { ear.Packet(p, at) },
			Event: func(raw []byte, ev realtime.Event) {
				if p := talker.Load(); p != nil && ev != nil {
					p.Event(ev.EventType(), time.Now())
				}
			},
			Phase: func(ph sfu.Phase, d time.Duration) {
				switch ph {
				case sfu.PhaseICE:
					r.board.ICE.AddDuration(d)
				case sfu.PhaseDTLS:
					r.board.DTLS.AddDuration(d)
				case sfu.PhaseFirstRTP:
					r.board.FirstRTP.AddDuration(d)
				}
			},
			Open: func() {
				if at, ok := post.answered(); ok {
					r.board.Channel.AddDuration(time.Since(at))
				}
			},
		},
	}
	post.done = func(d time.Duration) { r.board.Signaling.AddDuration(d) }
	if r.Habits.Mode == person.PTT {
		c.Session = &realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{
			TurnDetection: realtime.Null[realtime.TurnDetection](),
		}}}
	}
	return c
}

func (r *run) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the tester gave up, not the gateway
	}
	r.board.Failed.Add(1)
	r.board.Error(text("setup", err))
}

// text is a failure in few words, without what differs from session to session.
func text(what string, err error) string {
	var known *realtime.Error
	var at *url.Error
	switch {
	case err == nil:
		return what + ": the far side closed the call"
	case errors.As(err, &known):
		return what + ": " + known.Code + ": " + known.Message
	case errors.Is(err, context.DeadlineExceeded):
		return what + ": not up in time"
	case errors.As(err, &at):
		return what + ": " + at.Err.Error()
	}
	s := strings.TrimSpace(err.Error())
	if len(s) > 160 {
		s = s[:160] + "…"
	}
	return what + ": " + s
}

// timed notes how long the offer took to be answered. It serves one call.
type timed struct {
	next http.RoundTripper
	done func(time.Duration)
	at   atomic.Pointer[time.Time]
}

func (t *timed) RoundTrip(q *http.Request) (*http.Response, error) {
	offer := q.Method == http.MethodPost && strings.HasSuffix(q.URL.Path, "/calls")
	begun := time.Now()
	resp, err := t.next.RoundTrip(q)
	if offer && err == nil && resp.StatusCode < 300 {
		now := time.Now()
		t.at.Store(&now)
		t.done(now.Sub(begun))
	}
	return resp, err
}

func (t *timed) answered() (time.Time, bool) {
	p := t.at.Load()
	if p == nil {
		return time.Time{}, false
	}
	return *p, true
}
