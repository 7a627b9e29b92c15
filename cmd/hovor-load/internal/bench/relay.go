package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/pion/webrtc/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Address is what a bare relay prints as its first line, when it listens.
type Address struct {
	HTTP string `json:"http"` // http://host:port
}

// ServeBareRelay runs the yardstick: the plainest two-legged relay that Pion's documentation leads to. Each call has one peer connection to
// the person and one to the upstream, each with the stock interceptors and a socket of its own; packets are read from one and written to the
// other. It has no ear, no control channel, no limits. It blocks until ctx ends.
func ServeBareRelay(ctx context.Context, listen, upstream string, announce io.Writer) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	var engine webrtc.SettingEngine
	engine.SetIncludeLoopbackCandidate(true) // caller, relay and upstream are one machine
	r := &bareRelay{api: webrtc.NewAPI(webrtc.WithSettingEngine(engine)), upstream: upstream, calls: map[string]*bareCall{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/realtime/calls", r.open)
	mux.HandleFunc("POST /v1/realtime/calls/{id}/hangup", r.hangup)
	mux.Handle("GET /metrics", promhttp.Handler())
	server := &http.Server{Handler: mux}
	var wg sync.WaitGroup
	wg.Go(func() {
		<-ctx.Done()
		server.Close()
	})
	if err := json.NewEncoder(announce).Encode(Address{HTTP: "http://" + l.Addr().String()}); err != nil {
		return err
	}
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		c.close()
	}
	return nil
}

type bareRelay struct {
	api      *webrtc.API
	upstream string // …/v1

	mu    sync.Mutex
	calls map[string]*bareCall
	n     int
}

// bareCall is one call: two peer connections and a track towards each.
type bareCall struct{ person, upstream *webrtc.PeerConnection }

func (c *bareCall) close() {
	for _, pc := range []*webrtc.PeerConnection{c.person, c.upstream} {
		if pc != nil {
			pc.Close()
		}
	}
}

func (r *bareRelay) open(w http.ResponseWriter, q *http.Request) {
	offer, err := io.ReadAll(io.LimitReader(q.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c, toUpstream, answer, err := r.answer(string(offer))
	if err != nil {
		c.close()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.n++
	id := fmt.Sprintf("bare-%d", r.n)
	r.calls[id] = c
	r.mu.Unlock()
	go func() { // the person need not wait for the upstream
		if err := r.dial(c, toUpstream); err != nil {
			fmt.Fprintln(os.Stderr, "bare relay:", err)
			r.drop(id)
		}
	}()
	w.Header().Set("Content-Type", "application/sdp")
	w.Header().Set("Location", "/v1/realtime/calls/"+id)
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, answer)
}

func (r *bareRelay) hangup(w http.ResponseWriter, q *http.Request) { r.drop(q.PathValue("id")) }

func (r *bareRelay) drop(id string) {
	r.mu.Lock()
	c := r.calls[id]
	delete(r.calls, id)
	r.mu.Unlock()
	if c != nil {
		c.close()
	}
}

var opusTrack = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}

// answer makes both legs, joins them, and answers the person's offer.
func (r *bareRelay) answer(offer string) (c *bareCall, local *webrtc.PeerConnection, sdp string, err error) {
	c = &bareCall{}
	if c.person, err = r.api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return c, nil, "", err
	}
	if c.upstream, err = r.api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return c, nil, "", err
	}
	c.person.OnDataChannel(func(*webrtc.DataChannel) {}) // accepted and ignored; without a handler the library closes it
	if err = join(c.upstream, c.person); err != nil {
		return c, nil, "", err
	}
	if err = join(c.person, c.upstream); err != nil {
		return c, nil, "", err
	}
	if err = c.person.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return c, nil, "", err
	}
	d, err := c.person.CreateAnswer(nil)
	if err != nil {
		return c, nil, "", err
	}
	gathered := webrtc.GatheringCompletePromise(c.person)
	if err = c.person.SetLocalDescription(d); err != nil {
		return c, nil, "", err
	}
	<-gathered
	return c, c.upstream, c.person.LocalDescription().SDP, nil
}

// join passes what arrives at from on to a new track of to.
func join(from, to *webrtc.PeerConnection) error {
	out, err := webrtc.NewTrackLocalStaticRTP(opusTrack, "audio", "bare")
	if err != nil {
		return err
	}
	sender, err := to.AddTrack(out)
	if err != nil {
		return err
	}
	go func() { // interceptors see RTCP only when somebody reads it
		for b := make([]byte, 1500); ; {
			if _, _, err := sender.Read(b); err != nil {
				return
			}
		}
	}()
	from.OnTrack(func(in *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			p, _, err := in.ReadRTP()
			if err != nil || out.WriteRTP(p) != nil {
				return
			}
		}
	})
	return nil
}

// dial offers the upstream leg and applies its answer.
func (r *bareRelay) dial(c *bareCall, pc *webrtc.PeerConnection) error {
	d, err := pc.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(d); err != nil {
		return err
	}
	<-gathered
	q, err := http.NewRequest(http.MethodPost, r.upstream+"/realtime/calls", strings.NewReader(pc.LocalDescription().SDP))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/sdp")
	q.Header.Set("Authorization", "Bearer "+benchToken)
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("upstream: %s", resp.Status)
	}
	return pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(answer)})
}
