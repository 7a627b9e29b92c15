package load

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/cmd/hovor-load/internal/person"
	"hovor/sfu"
	"hovor/sfu/vnettest"
	"hovor/signaling"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// gateway is the smallest server with a known delay: when the packet with the last audible sample of the sentence has come, it waits, and
// then says the sentence back.
type gateway struct {
	engine *sfu.Engine
	clip   *clip.Clip
	think  time.Duration
	refuse bool

	ctx     context.Context
	mu      sync.Mutex
	updates []realtime.Session
	hangups int
	cancel  map[string]context.CancelFunc
	wg      sync.WaitGroup
}

func (g *gateway) Mint(_ context.Context, c signaling.Caller, _ realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	if !c.Bearer.Equal("demo-alice") {
		return nil, signaling.ErrBadCredential
	}
	return &realtime.ClientSecret{Value: "ek_test", ExpiresAt: time.Now().Add(time.Minute).Unix(), Session: realtime.Session{Type: "realtime"}}, nil
}

func (g *gateway) Open(ctx context.Context, c signaling.Caller, o signaling.Offer) (*signaling.Answer, error) {
	if g.refuse || !c.Bearer.Equal("ek_test") {
		return nil, signaling.ErrBadCredential
	}
	var peer *sfu.Peer
	ready := make(chan struct{})
	end := make(chan struct{}, 1)
	last := g.clip.Packets[(g.clip.End-1)/clip.Frame]
	peer, err := g.engine.Accept(ctx, o.SDP, sfu.Handlers{
		Open: func() {
			<-ready
			raw, err := realtime.Encode(&realtime.SessionCreated{Session: realtime.Session{Type: "realtime"}.WithDefaults()})
			if err == nil {
				peer.Send(raw)
			}
		},
		Message: func(raw []byte) {
			if ev, err := realtime.Decode(realtime.FromClient, raw); err == nil {
				if u, ok := ev.(*realtime.SessionUpdate); ok {
					g.mu.Lock()
					g.updates = append(g.updates, u.Session)
					g.mu.Unlock()
				}
			}
		},
		Packet: func(p *rtp.Packet, _ time.Time) {
			if bytes.Equal(p.Payload, last) {
				select {
				case end <- struct{}{}:
				default:
				}
			}
		},
	})
	if err != nil {
		return nil, err
	}
	close(ready)
	line, cancel := context.WithCancel(g.ctx)
	id := realtime.NewID("call")
	g.mu.Lock()
	g.cancel[id] = cancel
	g.mu.Unlock()
	g.wg.Go(func() {
		defer cancel()
		peer.Run(line)
	})
	g.wg.Go(func() { g.answer(line, peer, end) })
	return &signaling.Answer{SDP: peer.LocalSDP(), CallID: id}, nil
}

func (g *gateway) answer(ctx context.Context, peer *sfu.Peer, end <-chan struct{}) {
	p := &rtp.Packet{Header: rtp.Header{Version: 2}}
	for {
		select {
		case <-end:
		case <-ctx.Done():
			return
		}
		time.Sleep(g.think)
		p.Timestamp += 48000
		for i, b := range g.clip.Packets[g.clip.Start/clip.Frame:] {
			p.Payload, p.Marker = b, i == 0
			peer.WriteRTP(p)
			p.SequenceNumber++
			p.Timestamp += 960
			time.Sleep(clip.Frame)
		}
	}
}

func (g *gateway) Hangup(_ context.Context, _ signaling.Caller, id string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	cancel, ok := g.cancel[id]
	if !ok {
		return signaling.ErrCallNotFound
	}
	g.hangups++
	cancel()
	return nil
}

func (g *gateway) State(context.Context, signaling.Caller, string) (*signaling.CallState, error) {
	return nil, signaling.ErrCallNotFound
}

// world is a tester and a gateway with a link between them, in a bubble of virtual time.
func world(t *testing.T, link vnettest.Link, think time.Duration) (*gateway, Config) {
	t.Helper()
	n := vnettest.New(t, link, 7)
	engine := func(ip string) *sfu.Engine {
		e, err := sfu.NewEngine(sfu.Config{NodeID: "n1", Net: n.Host(ip), UDPListen: "0.0.0.0:5000"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	c, err := clip.Load(clip.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	g := &gateway{engine: engine("10.0.0.2"), clip: c, think: think, ctx: ctx, cancel: map[string]context.CancelFunc{}}
	t.Cleanup(func() {
		cancel()
		g.wg.Wait()
	})
	web := client.InProcess(signaling.NewHandler(g, signaling.HandlerConfig{}))
	return g, Config{
		BaseURL: BaseURL("gw.example"), Token: "demo-alice", Model: "m", Mint: true, Sessions: 1, Ramp: 10, Duration: 20 * time.Second,
		SetupWithin: 5 * time.Second, Audible: -50, Engine: engine("10.0.0.1"), HTTP: web.Transport,
		Habits: person.Habits{Mode: person.Open, Speech: c, Turns: 2, Pause: time.Second, AnswerWithin: 3 * time.Second},
	}
}

func TestKnownDelayOverARealStackInVirtualTime(t *testing.T) {
	const oneWay, think = 20 * time.Millisecond, 350 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		g, c := world(t, vnettest.Link{Delay: oneWay}, think)
		c.Sessions = 3
		b := new(person.Board)
		if err := Run(t.Context(), c, b); err != nil {
			t.Fatal(err)
		}
		if b.Connected.Load() != 3 || b.Answered.Load() != 6 || b.Missed.Load() != 0 || b.Early.Load() != 0 || len(b.Errors()) != 0 {
			t.Fatalf("%d up, %d answered, %d missed, %d early, %v", b.Connected.Load(), b.Answered.Load(), b.Missed.Load(), b.Early.Load(), b.Errors())
		}
		// The last packet leaves at the end of its 20 ms; the answer begins at the start of the packet that holds the onset.
		toPacket := (c.Habits.Speech.End+clip.Frame-1)/clip.Frame*clip.Frame - c.Habits.Speech.End
		toOnset := c.Habits.Speech.Start % clip.Frame
		want := float64((toPacket + 2*oneWay + think + toOnset) / time.Millisecond)
		for _, q := range []float64{0, 1} {
			if got := b.Answer.Quantile(q); math.Abs(got-want) > 10 {
				t.Errorf("answer %.1f ms, known to be %.1f", got, want)
			}
		}
		for name, s := range map[string]interface{ Count() int }{"mint": &b.Mint, "signaling": &b.Signaling, "ice": &b.ICE, "dtls": &b.DTLS,
			"channel": &b.Channel, "first rtp": &b.FirstRTP, "setup": &b.Setup, "jitter": &b.Jitter} {
			if s.Count() != 3 {
				t.Errorf("%s has %d samples", name, s.Count())
			}
		}
		if rtt := b.RTT.Quantile(1); b.RTT.Count() > 0 && math.Abs(rtt-40) > 2 {
			t.Errorf("round trip %.1f ms", rtt)
		}
		if b.Lost.Load() != 0 || b.Lateness.Quantile(1) != 0 {
			t.Errorf("%d lost, %.1f ms late", b.Lost.Load(), b.Lateness.Quantile(1))
		}
		if g.hangups != 3 {
			t.Errorf("%d hang-ups", g.hangups)
		}
	})
}

func TestLossOfTheLineIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := world(t, vnettest.Link{Delay: 10 * time.Millisecond, Jitter: 8 * time.Millisecond, Loss: 0.1}, 200*time.Millisecond)
		c.Habits.Turns = 12
		c.Duration = time.Minute
		b := new(person.Board)
		if err := Run(t.Context(), c, b); err != nil {
			t.Fatal(err)
		}
		if loss := b.Loss.Quantile(1); loss < 0.05 || loss > 0.15 {
			t.Errorf("loss %.3f, known to be 0.1", loss)
		}
		if jitter := b.Jitter.Quantile(1); jitter < 0.5 || jitter > 8 {
			t.Errorf("jitter %.1f ms of at most 8", jitter)
		}
	})
}

func TestPushToTalkAsksForNoTurnDetection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := world(t, vnettest.Link{Delay: 5 * time.Millisecond}, 100*time.Millisecond)
		c.Habits.Mode, c.Habits.Turns = person.PTT, 1
		b := new(person.Board)
		if err := Run(t.Context(), c, b); err != nil {
			t.Fatal(err)
		}
		if len(g.updates) != 1 || g.updates[0].Audio == nil || !g.updates[0].Audio.Input.TurnDetection.Set || g.updates[0].Audio.Input.TurnDetection.Value != nil {
			t.Fatalf("session updates %+v", g.updates)
		}
		if b.Answered.Load() != 1 {
			t.Fatalf("%d answered: %v", b.Answered.Load(), b.Errors())
		}
	})
}

func TestFailuresAreCountedByKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := world(t, vnettest.Link{}, 0)
		g.refuse = true
		c.Sessions = 4
		b := new(person.Board)
		if err := Run(t.Context(), c, b); !errors.Is(err, ErrNobodyConnected) {
			t.Fatal(err)
		}
		e := b.Errors()
		if b.Failed.Load() != 4 || len(e) != 1 || e[0].Count != 4 || !strings.Contains(e[0].Text, "invalid_credential") {
			t.Fatalf("%d failed: %v", b.Failed.Load(), e)
		}
	})
}

func TestALineThatIsDownFailsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := world(t, vnettest.Link{Down: true}, 0)
		b := new(person.Board)
		begun := time.Now()
		if err := Run(t.Context(), c, b); !errors.Is(err, ErrNobodyConnected) {
			t.Fatal(err)
		}
		if took := time.Since(begun); b.Failed.Load() != 1 || took > c.SetupWithin+6*time.Second {
			t.Fatalf("%d failed after %v: %v", b.Failed.Load(), took, b.Errors())
		}
	})
}

func TestALostSessionIsNoAnswerAndNoPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := world(t, vnettest.Link{Delay: 5 * time.Millisecond}, 100*time.Millisecond)
		c.Habits.Turns = 0
		b := new(person.Board)
		time.AfterFunc(6*time.Second, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			for _, cancel := range g.cancel {
				cancel()
			}
		})
		if err := Run(t.Context(), c, b); err != nil {
			t.Fatal(err)
		}
		if b.Dropped.Load() != 1 {
			t.Fatalf("%d lost: %v", b.Dropped.Load(), b.Errors())
		}
	})
}

func TestBaseURL(t *testing.T) {
	for given, want := range map[string]string{
		"http://127.0.0.1:8080":                "http://127.0.0.1:8080/v1/realtime",
		"127.0.0.1:8080/":                      "http://127.0.0.1:8080/v1/realtime",
		"https://gw.example/v1":                "https://gw.example/v1/realtime",
		"https://gw.example/x/v1/realtime/":    "https://gw.example/x/v1/realtime",
		"https://gw.example/voice/v1/realtime": "https://gw.example/voice/v1/realtime",
	} {
		if got := BaseURL(given); got != want {
			t.Errorf("%q: %q", given, got)
		}
	}
}

var _ http.RoundTripper = (*timed)(nil)
