package local

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

const baseURL = "http://provider.test/v1/realtime"

func TestAClientSecretOpensACallWithItsSession(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		s := manual()
		s.Model, s.Instructions = "gpt-realtime", new(string)
		*s.Instructions = "Mluv česky, prosím, a buď stručný."
		secret, err := client.MintSecret(t.Context(), h.http, baseURL, testKey, realtime.ClientSecretRequest{Session: s})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(secret.Value, "ek_") || secret.Session.Model != "gpt-realtime" {
			t.Errorf("secret %v", secret)
		}
		p, err := dial(t, client.Config{BaseURL: baseURL, Token: secret.Value, Engine: h.engine, HTTP: h.http})
		if err != nil {
			t.Fatal(err)
		}
		created := until[*realtime.SessionCreated](p).Session
		if created.TurnDetection() != nil || created.Model != "gpt-realtime" || *created.Instructions != *s.Instructions {
			t.Errorf("session %+v", created)
		}
		state := func(token string) int {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, baseURL+"/calls/"+p.conn.CallID(), nil)
			r.Header.Set("Authorization", "Bearer "+token)
			reply, err := h.http.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			reply.Body.Close()
			return reply.StatusCode
		}
		other, err := client.MintSecret(t.Context(), h.http, baseURL, testKey, realtime.ClientSecretRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for token, want := range map[string]int{testKey: 200, secret.Value: 200, other.Value: 404, "wrong": 401} {
			if got := state(token); got != want {
				t.Errorf("state is answered %d, want %d", got, want)
			}
		}
		if err := p.conn.Hangup(t.Context()); err != nil {
			t.Error(err)
		}
		<-p.ended
		p.cancel()
		time.Sleep(time.Second)
		if got := state(testKey); got != 404 {
			t.Errorf("after the hang-up the state is answered %d", got)
		}
	})
}

func TestWrongKeysOpenNothing(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		for token, code := range map[string]string{"": realtime.CodeMissingCredential, "sk-other": realtime.CodeInvalidCredential, "ek_none": realtime.CodeInvalidCredential} {
			_, err := dial(t, client.Config{BaseURL: baseURL, Token: token, Engine: h.engine, HTTP: h.http})
			var e *realtime.Error
			if !errors.As(err, &e) || e.Code != code || e.Status != http.StatusUnauthorized {
				t.Errorf("token of %d bytes: %v", len(token), err)
			}
		}
		secret, err := client.MintSecret(t.Context(), h.http, baseURL, testKey, realtime.ClientSecretRequest{ExpiresAfter: &realtime.ExpiresAfter{Seconds: 10}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.MintSecret(t.Context(), h.http, baseURL, secret.Value, realtime.ClientSecretRequest{}); err == nil {
			t.Error("a client secret mints another one")
		}
		time.Sleep(11 * time.Second)
		_, err = dial(t, client.Config{BaseURL: baseURL, Token: secret.Value, Engine: h.engine, HTTP: h.http})
		var e *realtime.Error
		if !errors.As(err, &e) || e.Code != realtime.CodeExpiredCredential {
			t.Errorf("an expired secret: %v", err)
		}
	})
}

func TestCallsAreBounded(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		h.server.cfg.MaxSessions = 1
		p := h.call(manual())
		_, err := dial(t, client.Config{BaseURL: baseURL, Token: testKey, Engine: h.engine, HTTP: h.http})
		var e *realtime.Error
		if !errors.As(err, &e) || e.Code != realtime.CodeTooManyCalls {
			t.Errorf("a second call: %v", err)
		}
		p.hang()
		time.Sleep(time.Second)
		h.call(manual()).hang()
	})
}

func TestDrainEndsRunningCalls(t *testing.T) {
	inHouse(t, scriptedBrain(t, longAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		p.send(typedText("go"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStarted](p)
		h.stop()
		<-p.ended
		p.cancel()
		_, err := dial(t, client.Config{BaseURL: baseURL, Token: testKey, Engine: h.engine, HTTP: h.http})
		var e *realtime.Error
		if !errors.As(err, &e) || e.Code != realtime.CodeUnavailable {
			t.Errorf("a call after the drain: %v", err)
		}
	})
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	if _, err := New(Config{Voice: voice.Tone{}, Ear: ear.NewScripted()}); !errors.Is(err, ErrConfig) {
		t.Errorf("got %v", err)
	}
}

func TestNobodyOpensACallBeforeRun(t *testing.T) {
	s := &Server{}
	s.draining = true
	if err := s.reserve(); !errors.Is(err, ErrDraining) {
		t.Errorf("got %v", err)
	}
}
