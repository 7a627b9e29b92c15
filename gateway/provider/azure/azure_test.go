package azure_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/azure"
	"hovor/gateway/provider/conformance"
	"hovor/gateway/provider/conformance/fake"
	"hovor/sfu"
	"hovor/sfu/vnettest"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

func manual() realtime.Session {
	return realtime.Session{Type: "realtime", Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}}
}

func key(k string) func() string { return func() string { return k } }

func TestConformanceOverWebSocket(t *testing.T) {
	conformance.Run(t, func(t *testing.T, name string, f func(*testing.T, conformance.Subject)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := fake.NewOpenAI(t)
				o.Net.Delay = 15 * time.Millisecond
				o.Will(fake.Script{Think: 100 * time.Millisecond, Text: "This is an answer of two seconds.", Audio: 2 * time.Second})
				wrong := fake.NewOpenAI(t)
				wrong.Refuse(401, "", `{"error":{"code":"401","message":"Access denied due to invalid subscription key"}}`)
				p := func(o *fake.OpenAI) provider.Provider {
					p, err := azure.New(azure.Config{Resource: "http://my-resource.openai.azure.com", Deployment: "my-deployment", Key: key("k"), Net: o.Net.Dial})
					if err != nil {
						t.Fatal(err)
					}
					return p
				}
				f(t, conformance.Subject{
					Provider: p(o), Session: manual(), Kill: func() { o.Net.Down(true) },
					Broken: map[provider.Class]provider.Provider{provider.Unauthorized: p(wrong)},
					Far:    &conformance.Far{Cut: o.Cut, Hang: o.Hang, Mangle: o.Mangle, Connections: o.Count, Calls: o.Calls, Told: o.Told, Unique: true, Silent: o.Silent},
				})
				for i, h := range o.Headers() {
					if h.Get("api-key") != "k" || h.Get("Authorization") != "" || h.Get("OpenAI-Beta") != "" || o.URLs()[i] != "/openai/v1/realtime?model=my-deployment" {
						t.Errorf("handshake %s %v", o.URLs()[i], h)
					}
				}
			})
		})
	})
}

func TestWhatAzureRefusesIsNotSent(t *testing.T) {
	s := manual()
	s.Tracing = realtime.Some(realtime.Tracing{Auto: true})
	s.Audio.Input.TurnDetection = realtime.Some(realtime.TurnDetection{Type: realtime.SemanticVAD, Eagerness: "auto"})
	s.Audio.Input.Transcription = realtime.Some(realtime.Transcription{Model: "gpt-4o-transcribe", Language: "cs", Delay: "low", Keywords: []string{"hovor"}})
	b, err := json.Marshal(azure.Shape(s))
	if err != nil || strings.Contains(string(b), "tracing") || strings.Contains(string(b), "eagerness") || strings.Contains(string(b), "keywords") || !strings.Contains(string(b), `"language":"cs"`) {
		t.Errorf("%s %v", b, err)
	}
	if s.Audio.Input.TurnDetection.Value.Eagerness != "auto" {
		t.Error("the caller's session was changed")
	}
}

func TestAnEntraTokenIsABearer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fake.NewOpenAI(t)
		o.Refuse(500, "", "")
		p, err := azure.New(azure.Config{Resource: "http://x.openai.azure.com", Entra: func(context.Context) (string, error) { return "entra", nil }, Net: o.Net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Dial(t.Context(), provider.Setup{Session: manual(), Model: "d", CallID: "rtc_test"}, &fake.Sink{})
		if e := provider.AsError(err); e == nil || e.Class != provider.Overloaded || o.Headers()[0].Get("Authorization") != "Bearer entra" || o.Headers()[0].Get("api-key") != "" {
			t.Errorf("%v, %v", err, o.Headers()[0])
		}
	})
}

func TestACallOverWebRTCIsOpenedInTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := vnettest.New(t, vnettest.Link{}, 1)
		e, err := sfu.NewEngine(sfu.Config{Net: n.Host("10.0.0.1"), UDPListen: "0.0.0.0:5000"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		var mu sync.Mutex
		var steps []string
		door := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			body, _ := io.ReadAll(r.Body)
			steps = append(steps, r.Method+" "+r.URL.String()+" key="+r.Header.Get("api-key")+" bearer="+r.Header.Get("Authorization"))
			if strings.HasSuffix(r.URL.Path, "/client_secrets") {
				var req realtime.ClientSecretRequest
				if json.Unmarshal(body, &req) != nil || req.Session == nil || req.Session.Model != "my-deployment" {
					t.Errorf("minted with %s", body)
				}
				_, _ = w.Write([]byte(`{"value":"ek_azure","expires_at":1790000000,"session":{"type":"realtime","model":"my-deployment"}}`))
				return
			}
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"error":{"code":"too_many","message":"later"}}`))
		})
		p, err := azure.New(azure.Config{Resource: "https://my-resource.openai.azure.com/", Deployment: "my-deployment", Transport: azure.WebRTC, Key: key("k"),
			Engine: e, HTTP: client.InProcess(door)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Dial(t.Context(), provider.Setup{Session: manual(), CallID: "rtc_test"}, &fake.Sink{})
		if got := provider.AsError(err); got == nil || got.Class != provider.RateLimited {
			t.Errorf("dial gave %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		want := []string{"POST https://my-resource.openai.azure.com/openai/v1/realtime/client_secrets key=k bearer=", "POST https://my-resource.openai.azure.com/openai/v1/realtime/calls?model=my-deployment key= bearer=Bearer ek_azure"}
		if len(steps) != 2 || steps[0] != want[0] && !strings.HasPrefix(steps[0], "POST /openai") {
			t.Errorf("steps %q", steps)
		}
		for i, s := range steps {
			if !strings.Contains(want[i], s[strings.Index(s, "/openai"):]) || strings.Contains(s, "webrtcfilter") {
				t.Errorf("step %d: %s", i+1, s)
			}
		}
	})
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	entra := func(context.Context) (string, error) { return "", nil }
	for _, c := range []azure.Config{
		{Key: key("k")}, {Resource: "my-resource", Key: key("k")}, {Resource: "https://x.openai.azure.com"},
		{Resource: "https://x.openai.azure.com", Key: key("k"), Entra: entra},
		{Resource: "https://x.openai.azure.com", Key: key("k"), Transport: azure.WebRTC},
		{Resource: "https://x.openai.azure.com", Key: key("k"), Transport: "pigeon"},
	} {
		if _, err := azure.New(c); !errors.Is(err, azure.ErrConfig) {
			t.Errorf("%q %q: %v", c.Resource, c.Transport, err)
		}
	}
}
