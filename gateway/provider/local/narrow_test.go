package local

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"hovor/signaling/realtime"
)

// TestACallerWhoOffersOnlyG711IsHeardAndAnswered: the published demo can be told to offer one codec, PCMU or PCMA.
func TestACallerWhoOffersOnlyG711IsHeardAndAnswered(t *testing.T) {
	for mime, f := range map[string]form{webrtc.MimeTypePCMU: formPCMU, webrtc.MimeTypePCMA: formPCMA} {
		t.Run(mime, func(t *testing.T) {
			inHouse(t, scriptedBrain(t, oneAnswer), []string{"hello"}, func(t *testing.T, h *house) {
				law, _ := f.law()
				var media webrtc.MediaEngine
				codec := webrtc.RTPCodecParameters{RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: mime, ClockRate: 8000}, PayloadType: webrtc.PayloadType(8 * law)}
				if err := media.RegisterCodec(codec, webrtc.RTPCodecTypeAudio); err != nil {
					t.Fatal(err)
				}
				var settings webrtc.SettingEngine
				settings.SetNet(h.spare)
				settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
				pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(&media), webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{})
				if err != nil {
					t.Fatal(err)
				}
				track, err := webrtc.NewTrackLocalStaticRTP(codec.RTPCodecCapability, "audio", "mic")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := pc.AddTrack(track); err != nil {
					t.Fatal(err)
				}
				channel, err := pc.CreateDataChannel("oai-events", nil)
				if err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				var told []string
				var sound []byte
				channel.OnMessage(func(m webrtc.DataChannelMessage) {
					name, _, _ := realtime.Peek(m.Data)
					mu.Lock()
					defer mu.Unlock()
					told = append(told, name)
				})
				pc.OnTrack(func(r *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
					for {
						p, _, err := r.ReadRTP()
						if err != nil {
							return
						}
						mu.Lock()
						sound = append(sound, p.Payload...)
						mu.Unlock()
					}
				})
				answerOver(t, h, pc)
				open := make(chan struct{})
				channel.OnOpen(func() { close(open) })
				<-open
				say(t, track, soundOf(t, f))
				for begin := time.Now(); time.Since(begin) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
					mu.Lock()
					over := strings.Contains(strings.Join(told, " "), "output_audio_buffer.stopped")
					mu.Unlock()
					if over {
						break
					}
				}
				if err := pc.Close(); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got := strings.Join(told, " ")
				for _, want := range []string{"speech_started", "speech_stopped", "committed", "response.done", "output_audio_buffer.stopped"} {
					if !strings.Contains(got, want) {
						t.Errorf("%s did not come: %s", want, got)
					}
				}
				pcm := make([]int16, len(sound))
				law.Decode(pcm, sound)
				if want := 6 * 240 * 8; len(pcm) < want*9/10 || level(pcm) < -40 {
					t.Errorf("%d samples at %.0f dBFS for six words of %d samples", len(pcm), level(pcm), want)
				}
			})
		})
	}
}

func soundOf(t *testing.T, f form) []byte { return sound(t, f, 900*time.Millisecond, time.Second) }

func answerOver(t *testing.T, h *house, pc *webrtc.PeerConnection) {
	t.Helper()
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, baseURL+"/calls?model=gpt-realtime", strings.NewReader(pc.LocalDescription().SDP))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testKey)
	r.Header.Set("Content-Type", "application/sdp")
	res, err := h.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("answered %d %s (%v)", res.StatusCode, answer, err)
	}
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(answer)}); err != nil {
		t.Fatal(err)
	}
}

// say sends octets of G.711 in real time.
func say(t *testing.T, track *webrtc.TrackLocalStaticRTP, octets []byte) {
	t.Helper()
	p := rtp.Packet{Header: rtp.Header{Version: 2}}
	for next := time.Now(); len(octets) >= 160; octets = octets[160:] {
		p.Payload = octets[:160]
		if err := track.WriteRTP(&p); err != nil {
			t.Fatal(err)
		}
		p.SequenceNumber++
		p.Timestamp += 160
		next = next.Add(frameTime)
		time.Sleep(time.Until(next))
	}
}
