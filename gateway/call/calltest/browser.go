package calltest

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/opus"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
	"hovor/signaling/sdpfrag"
)

// Browser is a person with a page: a microphone that is always on, and ears that note every packet.
type Browser struct {
	*client.Conn
	w      *World
	answer string // as it came
	ETag   string // of the ICE session that the call began with
	stop   context.CancelFunc
	over   sync.WaitGroup

	mu     sync.Mutex
	events []realtime.Event
	heard  []Packet
	sent   []time.Time
	voice  time.Time // the tone lasts until then
	mute   bool
}

// Packet is one audio packet as it arrived.
type Packet struct {
	At       time.Time
	Response uint32        // which of the provider's responses it is of, from 1; 0 when it is not the provider's
	Frame    uint32        // its number within the response
	Age      time.Duration // since the provider sent it
}

// Dial opens a call and waits until it stands. Its microphone begins to send at once.
func (w *World) Dial() *Browser {
	w.TB.Helper()
	b, err := w.TryDial()
	if err != nil {
		w.TB.Fatalf("dial: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := b.Ready(ctx); err != nil {
		w.TB.Fatalf("not connected: %v", err)
	}
	return b
}

// TryDial opens a call, or says why not. It does not wait for media.
func (w *World) TryDial() (*Browser, error) {
	b := &Browser{w: w}
	conn, err := client.Dial(context.Background(), client.Config{BaseURL: "http://gateway/v1/realtime", Token: "ek_test", Engine: w.browser,
		HTTP: client.InProcess(http.HandlerFunc(b.note)), Handlers: client.Handlers{Event: b.event, Packet: b.packet}})
	if err != nil {
		return nil, err
	}
	b.Conn = conn
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	b.over.Go(func() { _ = conn.Run(ctx) })
	b.over.Go(func() { b.microphone(ctx) })
	w.TB.Cleanup(b.Leave)
	return b, nil
}

// Restart restarts ICE as a page does whose network has changed: PATCH on the call's URL.
func (b *Browser) Restart() {
	b.w.TB.Helper()
	ctx := context.Background()
	offer, err := b.Peer().RestartOffer(ctx)
	if err != nil {
		b.w.TB.Fatal(err)
	}
	fragment, err := sdpfrag.FromSDP(offer)
	if err != nil {
		b.w.TB.Fatal(err)
	}
	status, body := b.Patch("*", fragment.Text())
	if status != http.StatusOK {
		b.w.TB.Fatalf("restart: %d %s", status, body)
	}
	theirs, err := sdpfrag.Parse(body)
	if err != nil {
		b.w.TB.Fatal(err)
	}
	answer, err := sdpfrag.Apply(b.answer, theirs)
	if err == nil {
		err = b.Peer().SetAnswer(ctx, answer)
	}
	if err != nil {
		b.w.TB.Fatal(err)
	}
}

// Patch sends a fragment for the ICE session that ifMatch names.
func (b *Browser) Patch(ifMatch, fragment string) (status int, body string) {
	b.w.TB.Helper()
	r := httptest.NewRequest(http.MethodPatch, "/v1/realtime/calls/"+b.CallID(), strings.NewReader(fragment))
	r.Header.Set("Content-Type", sdpfrag.MediaType)
	r.Header.Set("If-Match", ifMatch)
	r.Header.Set("Authorization", "Bearer ek_test")
	w := httptest.NewRecorder()
	b.w.door.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// note remembers the answer to the offer.
func (b *Browser) note(w http.ResponseWriter, r *http.Request) {
	rec := httptest.NewRecorder()
	b.w.door.ServeHTTP(rec, r)
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	if rec.Code == http.StatusCreated {
		b.answer, b.ETag = rec.Body.String(), rec.Header().Get("ETag")
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// Leave closes the page, as a closed tab does: the connection ends, nobody hangs up.
func (b *Browser) Leave() { b.stop(); b.over.Wait() }

func (b *Browser) event(_ []byte, ev realtime.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ev != nil {
		b.events = append(b.events, ev)
	}
}

func (b *Browser) packet(p *rtp.Packet, at time.Time) {
	response, frame, sent := readStamp(p.Payload)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = append(b.heard, Packet{At: at, Response: response, Frame: frame, Age: at.Sub(sent)})
}

// microphone sends 20 ms of tone or silence every 20 ms.
func (b *Browser) microphone(ctx context.Context) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: 16000})
	if err != nil {
		b.w.TB.Errorf("encoder: %v", err)
		return
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	pcm, out := make([]int16, 320), make([]byte, opus.MaxPacket)
	for i := 0; ; i++ {
		b.mu.Lock()
		loud, mute := time.Now().Before(b.voice), b.mute
		b.mu.Unlock()
		for k := range pcm {
			pcm[k] = 0
			if loud {
				pcm[k] = int16(8000 * math.Sin(2*math.Pi*220*float64(i*320+k)/16000))
			}
		}
		n, err := enc.Encode(pcm, out)
		if err != nil {
			b.w.TB.Errorf("encode: %v", err)
			return
		}
		if !mute {
			p := &rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: uint32(i) * 960}, Payload: out[:n]}
			b.mu.Lock()
			b.sent = append(b.sent, time.Now())
			b.mu.Unlock()
			_ = b.WriteRTP(p)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Mute stops the microphone's packets, as a lost device does.
func (b *Browser) Mute(on bool) { b.mu.Lock(); b.mute = on; b.mu.Unlock() }

// Speak makes a tone for d, and returns when it is over.
func (b *Browser) Speak(d time.Duration) {
	b.Begin(d)
	time.Sleep(d)
}

// Begin makes a tone for d and returns at once.
func (b *Browser) Begin(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.voice = time.Now().Add(d)
}

// Tell sends an event; it fails the test when that is not possible.
func (b *Browser) Tell(ev realtime.Event) {
	b.w.TB.Helper()
	if err := b.Send(ev); err != nil {
		b.w.TB.Fatalf("send %s: %v", ev.EventType(), err)
	}
}

// Events are those that came so far.
func (b *Browser) Events() []realtime.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.events[:len(b.events):len(b.events)]
}

// Heard are the audio packets that came so far.
func (b *Browser) Heard() []Packet {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.heard[:len(b.heard):len(b.heard)]
}

// Sent is when the microphone's packets left.
func (b *Browser) Sent() []time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent[:len(b.sent):len(b.sent)]
}

// Client is somebody who gets events: a Browser or a Wire.
type Client interface{ Events() []realtime.Event }

// Of gives the events of type T that came so far.
func Of[T realtime.Event](b Client) []T {
	var out []T
	for _, ev := range b.Events() {
		if ev, ok := ev.(T); ok {
			out = append(out, ev)
		}
	}
	return out
}

// Await waits until an event of type T has come that cond accepts (nil accepts any) and gives the latest.
func Await[T realtime.Event](b Client, d time.Duration, cond func(T) bool) T {
	w := worldOf(b)
	w.TB.Helper()
	var found T
	w.Within(d, typeName[T](), func() bool {
		for _, ev := range Of[T](b) {
			if cond == nil || cond(ev) {
				found = ev
				return true
			}
		}
		return false
	})
	return found
}

func worldOf(c Client) *World {
	switch c := c.(type) {
	case *Browser:
		return c.w
	case *Wire:
		return c.w
	}
	panic("a client of no world")
}

func typeName[T realtime.Event]() string {
	var zero T
	return zero.EventType()
}
