package local

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// types reads the type of every frame.
func types(t *testing.T, raw []string) string {
	t.Helper()
	var out []string
	for _, r := range raw {
		name, _, err := realtime.Peek([]byte(r))
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

const betaTurn = "conversation.item.created response.created rate_limits.updated response.output_item.added conversation.item.created response.content_part.added "

func TestABetaClientCallsWithTheOldPathsAndEvents(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, baseURL+"/sessions",
			strings.NewReader(`{"model":"gpt-4o-realtime-preview","voice":"alloy","modalities":["text","audio"],"turn_detection":null,"temperature":0.8}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+testKey)
		r.Header.Set("Content-Type", "application/json")
		res, err := h.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		var minted struct {
			Voice  string
			Secret struct{ Value string } `json:"client_secret"`
		}
		if err := json.Unmarshal(body, &minted); err != nil || minted.Voice != "alloy" || !strings.HasPrefix(minted.Secret.Value, "ek_") {
			t.Fatalf("minted %s (%v)", body, err)
		}
		// POST /v1/realtime, where beta clients bring their offer.
		p, err := dial(t, client.Config{BaseURL: baseURL, Token: minted.Secret.Value, Engine: h.engine, HTTP: &http.Client{Transport: oldPath{h.http.Transport}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range []string{
			`{"type":"session.update","session":{"instructions":"Be brief.","modalities":["text","audio"]}}`,
			`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`,
			`{"type":"response.create"}`,
		} {
			if err := p.conn.SendRaw([]byte(raw)); err != nil {
				t.Fatal(err)
			}
		}
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
		p.mu.Lock()
		defer p.mu.Unlock()
		got := types(t, p.raw)
		want := "session.created session.updated " + betaTurn + "output_audio_buffer.started response.audio_transcript.delta " +
			"response.audio.done response.audio_transcript.done response.content_part.done response.output_item.done response.done output_audio_buffer.stopped"
		if got != want {
			t.Errorf("a beta call is told\n%s, want\n%s", got, want)
		}
		if !strings.Contains(p.raw[0], `"voice":"alloy"`) || strings.Contains(p.raw[0], `"audio":{`) {
			t.Errorf("session.created is not flat: %s", p.raw[0])
		}
	})
}

// oldPath sends an offer where it went before GA.
type oldPath struct{ to http.RoundTripper }

func (o oldPath) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/calls") {
		r = r.Clone(r.Context())
		r.URL.Path = strings.TrimSuffix(r.URL.Path, "/calls")
	}
	return o.to.RoundTrip(r)
}

func TestABetaClientSpeaksOverASocket(t *testing.T) {
	for name, change := range map[string]func(*client.SocketConfig){
		"by header":      func(c *client.SocketConfig) { c.Header = http.Header{"Openai-Beta": {"realtime=v1"}} },
		"by subprotocol": func(c *client.SocketConfig) { c.AsBrowser, c.Protocols = true, []string{"openai-beta.realtime-v1"} },
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
				d := h.open(change)
				for _, raw := range []string{
					`{"type":"session.update","session":{"input_audio_format":"g711_ulaw","output_audio_format":"g711_ulaw","turn_detection":null}}`,
					`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`,
					`{"type":"response.create"}`,
				} {
					if err := d.sock.SendRaw([]byte(raw)); err != nil {
						t.Fatal(err)
					}
				}
				next[*realtime.ResponseDone](d)
				d.hang()
				got := types(t, d.raw)
				for old, unit := range map[string]string{"response.audio_transcript.delta response.audio.delta": ""} {
					for strings.Contains(got, old+" "+old) {
						got = strings.ReplaceAll(got, old+" "+old, old+unit)
					}
				}
				want := "session.created session.updated " + betaTurn + "response.audio_transcript.delta response.audio.delta " +
					"response.audio.done response.audio_transcript.done response.content_part.done response.output_item.done response.done"
				if got != want {
					t.Errorf("a beta socket is told\n%s, want\n%s", got, want)
				}
				if !bytes.Contains([]byte(d.raw[1]), []byte(`"output_audio_format":"g711_ulaw"`)) {
					t.Errorf("session.updated: %s", d.raw[1])
				}
			})
		})
	}
}
