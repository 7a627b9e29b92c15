package local

import (
	"context"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/sfu"
	"hovor/sfu/opus"
	"hovor/sfu/vnettest"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

const testKey = "sk-test"

// oneWay is the virtual network's delay.
const oneWay = 10 * time.Millisecond

// house is the embedded provider on a virtual network, in a bubble of virtual time.
type house struct {
	t       *testing.T
	server  *Server
	handler http.Handler
	http    *http.Client
	engine  *sfu.Engine // the clients'
	spare   *vnettest.Host
	stop    func() // drains the server and waits for it
}

// inHouse runs fn in a bubble with a server made of a tone voice, a scripted ear and the brain. The bubble cannot end
// while a goroutine lives.
func inHouse(t *testing.T, b brain.Brain, heard []string, fn func(t *testing.T, h *house)) {
	synctest.Test(t, func(t *testing.T) {
		network := vnettest.New(t, vnettest.Link{Delay: oneWay}, 1)
		far := engineOn(t, network.Host("10.0.0.1"))
		near := engineOn(t, network.Host("10.0.0.2"))
		s, err := New(Config{APIKey: testKey, Engine: far, Voice: voice.Tone{PerWord: 240 * time.Millisecond}, Ear: ear.NewScripted(heard...), Brain: b,
			Documents: []Named{{ID: "welcome", Title: "welcome"}, {ID: "pricing-2019", Title: "pricing 2019"}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		stop := func() {
			cancel()
			running.Wait()
		}
		h := s.Handler()
		fn(t, &house{t: t, server: s, handler: h, http: client.InProcess(h), engine: near, stop: stop, spare: network.Host("10.0.0.3")})
		stop()
		if n := s.Sessions(); n != 0 {
			t.Errorf("%d sessions outlive the server", n)
		}
		for _, e := range []*sfu.Engine{near, far} {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func engineOn(t *testing.T, host *vnettest.Host) *sfu.Engine {
	t.Helper()
	e, err := sfu.NewEngine(sfu.Config{UDPListen: host.IP().String() + ":5000", Net: host})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// logged is one event with the time it came.
type logged struct {
	realtime.Event
	at time.Time
}

// packet is one audio packet with the time it came.
type packet struct {
	seq       uint16
	timestamp uint32
	marker    bool
	at        time.Time
}

// phone is one client.
type phone struct {
	t      *testing.T
	conn   *client.Conn
	cancel context.CancelFunc
	ended  chan struct{}
	enc    *opus.Encoder
	rtp    rtp.Packet

	mu      sync.Mutex
	events  []logged
	raw     []string
	packets []packet
	read    int
}

// call dials. update is the session of the first session.update.
func (h *house) call(update *realtime.Session) *phone {
	h.t.Helper()
	p, err := dial(h.t, client.Config{BaseURL: "http://provider.test/v1/realtime", Token: testKey, Session: update, Engine: h.engine, HTTP: h.http})
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func dial(t *testing.T, cfg client.Config) (*phone, error) {
	p := &phone{t: t, ended: make(chan struct{})}
	p.rtp.Version = 2
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: ear.Rate, Bitrate: 32000, Complexity: 5})
	if err != nil {
		return nil, err
	}
	p.enc = enc
	cfg.Handlers = client.Handlers{
		Event: func(raw []byte, ev realtime.Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.raw = append(p.raw, string(raw))
			if ev != nil {
				p.events = append(p.events, logged{ev, time.Now()})
			}
		},
		Packet: func(r *rtp.Packet, at time.Time) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.packets = append(p.packets, packet{r.SequenceNumber, r.Timestamp, r.Marker, at})
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := client.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	p.conn = conn
	run, stop := context.WithCancel(t.Context())
	p.cancel = stop
	go func() {
		defer close(p.ended)
		_ = conn.Run(run)
	}()
	if err := conn.Ready(ctx); err != nil {
		stop()
		<-p.ended
		return nil, err
	}
	return p, nil
}

// hang ends the call.
func (p *phone) hang() {
	p.cancel()
	<-p.ended
}

func (p *phone) send(events ...realtime.Event) {
	p.t.Helper()
	for _, e := range events {
		if err := p.conn.Send(e); err != nil {
			p.t.Fatal(err)
		}
	}
}

// talk sends audio in real time: a tone for speech, then silence.
func (p *phone) talk(speech, silence time.Duration) {
	p.t.Helper()
	frame := make([]int16, ear.Rate/50)
	out := make([]byte, opus.MaxPacket)
	next := time.Now()
	for i := 0; time.Duration(i)*frameTime < speech+silence; i++ {
		for k := range frame {
			frame[k] = 0
			if time.Duration(i)*frameTime < speech {
				frame[k] = int16(8000 * math.Sin(2*math.Pi*250*float64(i*len(frame)+k)/ear.Rate))
			}
		}
		n, err := p.enc.Encode(frame, out)
		if err != nil {
			p.t.Fatal(err)
		}
		p.rtp.Payload = out[:n]
		if err := p.conn.WriteRTP(&p.rtp); err != nil {
			p.t.Fatal(err)
		}
		p.rtp.SequenceNumber++
		p.rtp.Timestamp += 960
		next = next.Add(frameTime)
		time.Sleep(time.Until(next))
	}
}

// until waits for the next event of a type that was not read yet, and returns it with those before it.
func until[E realtime.Event](p *phone) E {
	p.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		p.mu.Lock()
		for p.read < len(p.events) {
			e := p.events[p.read].Event
			p.read++
			if want, ok := e.(E); ok {
				p.mu.Unlock()
				return want
			}
		}
		p.mu.Unlock()
		if time.Now().After(deadline) {
			var want E
			p.t.Fatalf("no %s came; events: %v", want.EventType(), p.order())
		}
		time.Sleep(time.Millisecond)
	}
}

// order is the types of all events so far, runs of one type as one.
func (p *phone) order() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, e := range p.events {
		out = append(out, e.EventType())
	}
	return slices.Compact(out)
}

// all returns the events of a type so far.
func all[E realtime.Event](p *phone) []E {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []E
	for _, e := range p.events {
		if want, ok := e.Event.(E); ok {
			out = append(out, want)
		}
	}
	return out
}

// timeOf is when the first event of a type came.
func timeOf[E realtime.Event](p *phone) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		if _, ok := e.Event.(E); ok {
			return e.at
		}
	}
	return time.Time{}
}

func (p *phone) audio() []packet {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.packets)
}

// manual is the session of a client that finds the turns itself.
func manual() *realtime.Session {
	return &realtime.Session{Type: realtime.SessionRealtime, Audio: &realtime.Audio{Input: &realtime.AudioInput{
		TurnDetection: realtime.Null[realtime.TurnDetection](), Transcription: realtime.Some(realtime.Transcription{Model: "any"})}}}
}

// serverVAD is the session of a client that leaves the turns to the server.
func serverVAD() *realtime.Session {
	s := manual()
	s.Audio.Input.TurnDetection = realtime.Some(realtime.TurnDetection{Type: realtime.ServerVAD})
	return s
}

func typedText(text string) *realtime.ConversationItemCreate {
	return &realtime.ConversationItemCreate{Item: realtime.UserText(text)}
}

// tools gives a session functions.
func tools(s *realtime.Session, names ...string) *realtime.Session {
	for _, n := range names {
		s.Tools = append(s.Tools, realtime.Tool{Type: "function", Name: n, Parameters: []byte(`{"type":"object"}`)})
	}
	return s
}

// scripted is a brain of these responses.
func scriptedBrain(t *testing.T, yaml string) brain.Brain {
	t.Helper()
	b, err := brain.ParseScript([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
