package bench

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"hovor/cmd/hovor-load/internal/measure"
	"hovor/sfu"
	"hovor/signaling"
	"hovor/signaling/realtime"
)

// upstream is the far end: a small Realtime server that takes every call, says one endless sentence into it at 50 packets a second, and
// times what comes. It answers just the events that a relay with a control channel needs to see before it passes audio on.
type upstream struct {
	engine  *sfu.Engine
	packets [][]byte
	late    *measure.Hist
	round   atomic.Pointer[round]
	next    atomic.Uint32

	ctx  context.Context // ends when Close is called; calls outlive the requests that open them
	stop context.CancelFunc
	wg   sync.WaitGroup
	http *http.Server
	url  string
}

// newUpstream listens on a free port of the loopback interface.
func newUpstream(packets [][]byte, late *measure.Hist) (*upstream, error) {
	engine, err := sfu.NewEngine(sfu.Config{NodeID: "up", UDPListen: "0.0.0.0:0", Loopback: true})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		engine.Close()
		return nil, err
	}
	u := &upstream{engine: engine, packets: packets, late: late, url: "http://" + l.Addr().String() + "/v1"}
	u.ctx, u.stop = context.WithCancel(context.Background())
	u.http = &http.Server{Handler: signaling.NewHandler(u, signaling.HandlerConfig{})}
	u.wg.Go(func() { u.http.Serve(l) })
	return u, nil
}

// Close ends all calls and waits for them.
func (u *upstream) Close() {
	u.stop()
	u.http.Close()
	u.wg.Wait()
	u.engine.Close()
}

// Mint implements signaling.Service: everybody may come in, for this process lives for a minute and listens on loopback only.
func (u *upstream) Mint(context.Context, signaling.Caller, realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	return &realtime.ClientSecret{
		Value: realtime.NewID("ek"), ExpiresAt: time.Now().Add(time.Hour).Unix(), Session: realtime.Session{Type: "realtime"},
	}, nil
}

// Open implements signaling.Service.
func (u *upstream) Open(ctx context.Context, _ signaling.Caller, o signaling.Offer) (*signaling.Answer, error) {
	c := &upstreamCall{u: u, connected: make(chan struct{}), ready: make(chan struct{})}
	peer, err := u.engine.Accept(ctx, o.SDP, sfu.Handlers{
		State: func(s sfu.State) {
			if s == sfu.StateConnected {
				c.once.Do(func() { close(c.connected) })
			}
		},
		Open:    func() { c.event(&realtime.SessionCreated{Session: c.session()}) },
		Message: c.message,
		Packet: func(p *rtp.Packet, at time.Time) {
			if r := u.round.Load(); r != nil {
				r.up.arrive(p.Payload, at, &c.last)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	c.peer = peer
	close(c.ready)
	u.wg.Go(c.run)
	return &signaling.Answer{SDP: peer.LocalSDP(), CallID: realtime.NewID("call")}, nil
}

// Hangup implements signaling.Service: the call ends when its media does.
func (u *upstream) Hangup(context.Context, signaling.Caller, string) error { return nil }

// State implements signaling.Service.
func (u *upstream) State(context.Context, signaling.Caller, string) (*signaling.CallState, error) {
	return nil, signaling.ErrCallNotFound
}

// upstreamCall is one call at the far end.
type upstreamCall struct {
	u         *upstream
	peer      *sfu.Peer
	ready     chan struct{} // closed when peer is set
	connected chan struct{}
	once      sync.Once
	speaking  atomic.Bool
	last      uint32 // only the media goroutine
}

func (c *upstreamCall) run() {
	ctx, cancel := context.WithCancel(c.u.ctx)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-c.connected:
		case <-ctx.Done():
			return
		}
		if r := c.u.round.Load(); r != nil {
			stream(ctx, c.peer, c.u.packets, r.down, c.u.next.Add(1), c.u.late)
		}
	})
	c.peer.Run(ctx)
	cancel()
	wg.Wait()
}

func (c *upstreamCall) session() realtime.Session {
	return realtime.Session{Type: "realtime", Model: "bench"}.WithDefaults()
}

// message answers the events of a relay that has a control channel.
func (c *upstreamCall) message(raw []byte) {
	ev, err := realtime.Decode(realtime.FromClient, raw)
	if err != nil {
		return
	}
	switch ev := ev.(type) {
	case *realtime.SessionUpdate:
		c.event(&realtime.SessionUpdated{Session: c.session().Merge(ev.Session)})
		c.speak()
	case *realtime.InputAudioBufferClear:
		c.event(&realtime.InputAudioBufferCleared{})
	case *realtime.InputAudioBufferCommit:
		c.event(&realtime.InputAudioBufferCommitted{ItemID: realtime.NewID("item")})
	}
}

// speak begins the one response of the call, which never ends.
func (c *upstreamCall) speak() {
	if c.speaking.Swap(true) {
		return
	}
	id := realtime.NewID("resp")
	item := realtime.Item{ID: realtime.NewID("item"), Object: "realtime.item", Type: "message", Status: "in_progress", Role: "assistant"}
	for _, e := range []realtime.Event{
		&realtime.ResponseCreated{Response: realtime.Response{ID: id, Object: "realtime.response", Status: "in_progress", OutputModalities: []string{"audio"}}},
		&realtime.ResponseOutputItemAdded{ResponseID: id, Item: item},
		&realtime.ConversationItemAdded{Item: item},
		&realtime.ResponseContentPartAdded{ResponseID: id, ItemID: item.ID, Part: realtime.Part{Type: "audio"}},
		&realtime.OutputAudioBufferStarted{ResponseID: id},
	} {
		c.event(e)
	}
}

// event sends one event; the queue of a fresh channel has room for the few there are.
func (c *upstreamCall) event(e realtime.Event) {
	b, err := realtime.Encode(e)
	if err != nil {
		return
	}
	<-c.ready // closed long before any channel opens
	c.peer.Send(b)
}
