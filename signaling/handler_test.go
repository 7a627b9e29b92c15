package signaling

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hovor/sfu"
	"hovor/signaling/realtime"
	"hovor/signaling/secrets"
)

const (
	goodOffer  = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
	goodAnswer = "v=0\r\no=answer\r\n"
)

// fakeService is a service that knows one secret and one call, and fails an offer in the way that the offer asks for.
type fakeService struct {
	secrets *secrets.Store[string]
	caller  Caller
	offer   Offer
	minted  realtime.ClientSecretRequest
}

func newFake() *fakeService { return &fakeService{secrets: secrets.New[string](0)} }

func (f *fakeService) who(c Caller) (string, error) {
	f.caller = c
	if c.Bearer.Equal("demo-alice") {
		return "alice", nil
	}
	return f.secrets.Redeem(c.Bearer.Reveal())
}

func (f *fakeService) Mint(_ context.Context, c Caller, req realtime.ClientSecretRequest) (*realtime.ClientSecret, error) {
	if !c.Bearer.Equal("demo-alice") {
		return nil, ErrBadCredential
	}
	f.minted = req
	oneUse := req.Hovor != nil && req.Hovor.OneUse
	token, expires, err := f.secrets.Mint("alice", 0, oneUse)
	if err != nil {
		return nil, err
	}
	return &realtime.ClientSecret{Value: token, ExpiresAt: expires.Unix(), Session: realtime.Session{}.WithDefaults()}, nil
}

func (f *fakeService) Open(ctx context.Context, c Caller, o Offer) (*Answer, error) {
	if _, err := f.who(c); err != nil {
		return nil, err
	}
	f.offer = o
	for _, err := range []error{sfu.ErrNotSDP, sfu.ErrNoAudio, sfu.ErrUnsupportedCodec, sfu.ErrNegotiation, context.DeadlineExceeded} {
		if strings.Contains(o.SDP, "fail="+err.Error()) {
			return nil, fmt.Errorf("open call: %w", err)
		}
	}
	if strings.Contains(o.SDP, "fail=secretly") {
		return nil, errors.New("the database password is canary-word")
	}
	return &Answer{SDP: goodAnswer, CallID: "call_1"}, nil
}

func (f *fakeService) Hangup(_ context.Context, c Caller, id string) error {
	if _, err := f.who(c); err != nil {
		return err
	}
	if id != "call_1" {
		return ErrCallNotFound
	}
	return nil
}

func (f *fakeService) State(_ context.Context, c Caller, id string) (*CallState, error) {
	if err := f.Hangup(context.Background(), c, id); err != nil {
		return nil, err
	}
	return &CallState{ID: id, Status: "active", CreatedAt: time.Unix(1, 0)}, nil
}

// ask sends one request as alice; header pairs may change that, an empty value removes.
func ask(h http.Handler, method, target, body string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "http://gw.example"+target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer demo-alice")
	if body != "" {
		r.Header.Set("Content-Type", "application/sdp")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			r.Header.Del(header[i])
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnOfferIsAnsweredAsStockClientsExpect(t *testing.T) {
	f := newFake()
	h := NewHandler(f, HandlerConfig{AllowedOrigins: []string{"*"}})
	r := ask(h, "POST", "/v1/realtime/calls?model=gpt-realtime", goodOffer, "Origin", "https://app.example")
	if body := text(t, r); r.StatusCode != 201 || body != goodAnswer {
		t.Fatalf("%d %s", r.StatusCode, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/sdp", "Location": "/v1/realtime/calls/call_1", "Access-Control-Allow-Origin": "https://app.example",
		"Access-Control-Expose-Headers": "Location, Link, ETag, Retry-After", "Cache-Control": "no-store",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if f.offer.Model != "gpt-realtime" || f.offer.SDP != goodOffer || f.offer.Session != nil {
		t.Errorf("offer is %+v", f.offer)
	}
}

func TestASecretIsMintedAndOpensACall(t *testing.T) {
	f := newFake()
	h := NewHandler(f, HandlerConfig{})
	r := ask(h, "POST", "/v1/realtime/client_secrets", `{"session":{"type":"realtime","model":"m"},"hovor":{"one_use":true}}`, "Content-Type", "application/json; charset=utf-8")
	var secret realtime.ClientSecret
	if err := json.Unmarshal([]byte(text(t, r)), &secret); err != nil || r.StatusCode != 200 || !strings.HasPrefix(secret.Value, "ek_") {
		t.Fatalf("%d %v", r.StatusCode, err)
	}
	if secret.Session.TurnDetection() == nil || f.minted.Session.Model != "m" {
		t.Errorf("session %+v, request %+v", secret.Session, f.minted)
	}
	if r := ask(h, "POST", "/v1/realtime/calls", goodOffer, "Authorization", "bearer "+secret.Value); r.StatusCode != 201 {
		t.Errorf("first use: %d %s", r.StatusCode, text(t, r))
	}
	r = ask(h, "POST", "/v1/realtime/calls", goodOffer, "Authorization", "Bearer "+secret.Value)
	if body := text(t, r); r.StatusCode != 401 || !strings.Contains(body, "used_credential") {
		t.Errorf("second use: %d %s", r.StatusCode, body)
	}
	if r := ask(h, "POST", "/v1/realtime/client_secrets", "", "Content-Type", ""); r.StatusCode != 200 {
		t.Errorf("without a body: %d", r.StatusCode)
	}
}

func TestACallCanBeAskedForAndEnded(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{})
	r := ask(h, "GET", "/v1/realtime/calls/call_1", "")
	if body := text(t, r); r.StatusCode != 200 || !strings.Contains(body, `"object":"realtime.call"`) || !strings.Contains(body, `"status":"active"`) {
		t.Errorf("state: %d %s", r.StatusCode, body)
	}
	if r := ask(h, "POST", "/v1/realtime/calls/call_1/hangup", "{}", "Content-Type", "application/json"); r.StatusCode != 200 || text(t, r) != "" {
		t.Errorf("hangup: %d", r.StatusCode)
	}
	if r := ask(h, "DELETE", "/v1/realtime/calls/call_1", ""); r.StatusCode != 200 {
		t.Errorf("delete: %d", r.StatusCode)
	}
}

// failing is an offer that makes the fake fail with err, as sfu would.
func failing(err error) string { return goodOffer + "a=fail=" + err.Error() + "\r\n" }

func TestEveryRefusalIsOneClearMessageInTheRealtimeForm(t *testing.T) {
	f := newFake()
	foreign, _, _ := secrets.New[string](0).Mint("eve", 0, false)
	var log bytes.Buffer
	h := NewHandler(f, HandlerConfig{MaxBody: 4096, Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	calls, call := "/v1/realtime/calls", "/v1/realtime/calls/call_1"
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code, says               string
	}{
		{"no body", "POST", calls, "", []string{"Content-Type", "application/sdp"}, 400, "invalid_sdp", "empty"},
		{"not SDP", "POST", calls, "hello", nil, 400, "invalid_sdp", "v=0"},
		{"HTML", "POST", calls, "<html>", nil, 400, "invalid_sdp", "createOffer"},
		{"not SDP on a second look", "POST", calls, failing(sfu.ErrNotSDP), nil, 400, "invalid_sdp", "v=0"},
		{"no audio, only video", "POST", calls, failing(sfu.ErrNoAudio), nil, 400, "no_audio", "video alone"},
		{"a codec we lack", "POST", calls, failing(sfu.ErrUnsupportedCodec), nil, 400, "unsupported_codec", "opus"},
		{"not to be agreed on", "POST", calls, failing(sfu.ErrNegotiation), nil, 400, "invalid_sdp", "DTLS"},
		{"too slow", "POST", calls, failing(context.DeadlineExceeded), nil, 504, "timeout", "try again"},
		{"our own fault", "POST", calls, goodOffer + "fail=secretly", nil, 500, "internal_error", "log"},
		{"too large", "POST", calls, goodOffer + strings.Repeat("a", 5000), nil, 413, "message_too_large", "larger"},
		{"wrong content type", "POST", calls, goodOffer, []string{"Content-Type", "text/plain;charset=UTF-8"}, 415, "unsupported_content_type", "application/sdp"},
		{"no content type", "POST", calls, goodOffer, []string{"Content-Type", ""}, 415, "unsupported_content_type", "application/sdp"},
		{"broken content type", "POST", calls, goodOffer, []string{"Content-Type", ";;;"}, 415, "unsupported_content_type", "application/sdp"},
		{"long model", "POST", calls + "?model=" + strings.Repeat("m", 300), goodOffer, nil, 400, "invalid_value", "256"},
		{"no credential", "POST", calls, goodOffer, []string{"Authorization", ""}, 401, "missing_credential", "Bearer"},
		{"another scheme", "POST", calls, goodOffer, []string{"Authorization", "Basic YWxpY2U="}, 401, "invalid_credential", "Bearer"},
		{"two tokens", "POST", calls, goodOffer, []string{"Authorization", "Bearer a b"}, 401, "invalid_credential", "one token"},
		{"unknown secret", "POST", calls, goodOffer, []string{"Authorization", "Bearer ek_guess"}, 401, "invalid_credential", "mint"},
		{"foreign secret", "POST", calls, goodOffer, []string{"Authorization", "Bearer " + foreign}, 401, "invalid_credential", "same host"},
		{"unknown token", "POST", "/v1/realtime/client_secrets", "{}", []string{"Authorization", "Bearer x", "Content-Type", "application/json"}, 401, "invalid_credential", "this host"},
		{"a secret is not JSON", "POST", "/v1/realtime/client_secrets", "{", []string{"Content-Type", "application/json"}, 400, "invalid_json", "byte 1"},
		{"a secret of a wrong type", "POST", "/v1/realtime/client_secrets", "{}", []string{"Content-Type", "application/sdp"}, 415, "unsupported_content_type", "application/json"},
		{"a secret for too long", "POST", "/v1/realtime/client_secrets", `{"expires_after":{"anchor":"created_at","seconds":9000}}`, []string{"Content-Type", "application/json"}, 400, "invalid_value", "7200"},
		{"unknown call", "GET", calls + "/call_2", "", nil, 404, "call_id_not_found", "ended"},
		{"unknown call to hang up", "POST", calls + "/call_2/hangup", "", nil, 404, "call_id_not_found", "ended"},
		{"unknown call to delete", "DELETE", calls + "/call_2", "", nil, 404, "call_id_not_found", "ended"},
		{"an id that cannot be one", "GET", calls + "/%3Cscript%3E", "", nil, 404, "call_id_not_found", "ended"},
		{"a very long id", "GET", calls + "/" + strings.Repeat("a", 500), "", nil, 404, "call_id_not_found", "ended"},
		{"wrong method", "GET", calls, "", nil, 405, "method_not_allowed", "Allow"},
		{"wrong method on a call", "PUT", call, "", nil, 405, "method_not_allowed", "Allow"},
		{"no such endpoint", "POST", "/v1/realtime/nothing", "", nil, 404, "not_found", "POST /v1/realtime/calls"},
		{"no such verb", "POST", call + "/dance", "", nil, 404, "not_found", "endpoint"},
		{"calls with nothing behind", "GET", calls + "/", "", nil, 404, "not_found", "endpoint"},
		{"another origin", "POST", calls, goodOffer, []string{"Origin", "https://evil.example"}, 403, "origin_not_allowed", "allowed origins"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask(h, c.method, c.path, c.body, c.header...)
			raw := text(t, r)
			var body struct {
				Error map[string]any `json:"error"`
			}
			if err := json.Unmarshal([]byte(raw), &body); err != nil {
				t.Fatalf("%d %q: %v", r.StatusCode, raw, err)
			}
			msg, _ := body.Error["message"].(string)
			if r.StatusCode != c.status || body.Error["code"] != c.code || !strings.Contains(msg, c.says) {
				t.Errorf("got %d %s, want %d %s …%s…", r.StatusCode, raw, c.status, c.code, c.says)
			}
			if _, ok := body.Error["param"]; !ok || body.Error["type"] == "" {
				t.Errorf("not the whole form: %s", raw)
			}
			if ct := r.Header.Get("Content-Type"); ct != "application/json" {
				t.Errorf("content type %q", ct)
			}
			if strings.Contains(raw, "canary") || strings.Contains(raw, foreign) {
				t.Errorf("leaks: %s", raw)
			}
		})
	}
	for _, secret := range []string{"demo-alice", "ek_guess", foreign} {
		if strings.Contains(log.String(), secret) {
			t.Error("a credential is in the log")
		}
	}
	if !strings.Contains(log.String(), "https://evil.example") {
		t.Error("the refused origin is not in the log")
	}
}

func TestPreflight(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{AllowedOrigins: []string{"https://app.example"}})
	for _, c := range []struct {
		name, path, origin, asked string
		status                    int
		allowed                   string
	}{
		{"what agents-js asks for", "/v1/realtime/calls", "https://app.example", "authorization,content-type,x-openai-agents-sdk", 204, "authorization, content-type, x-openai-agents-sdk"},
		{"an unknown header", "/v1/realtime/calls", "https://app.example", "originator", 204, "originator"},
		{"a header that is none", "/v1/realtime/calls", "https://app.example", "x-a, b\r\nc, x-d", 204, "x-a, x-d"},
		{"a call", "/v1/realtime/calls/call_1", "https://APP.example", "authorization", 204, "authorization"},
		{"the gateway's own page", "/v1/realtime/calls", "http://gw.example", "authorization", 204, "authorization"},
		{"another origin", "/v1/realtime/calls", "https://evil.example", "authorization", 403, ""},
		{"no origin at all", "/v1/realtime/calls", "", "", 204, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask(h, "OPTIONS", c.path, "", "Authorization", "", "Origin", c.origin, "Access-Control-Request-Headers", c.asked, "Access-Control-Request-Method", "POST")
			if r.StatusCode != c.status || r.Header.Get("Access-Control-Allow-Headers") != c.allowed {
				t.Errorf("%d, allows %q", r.StatusCode, r.Header.Get("Access-Control-Allow-Headers"))
			}
			if c.status == 204 && r.Header.Get("Access-Control-Allow-Origin") != c.origin {
				t.Errorf("origin %q", r.Header.Get("Access-Control-Allow-Origin"))
			}
			if c.status == 403 && r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("a refused origin is allowed")
			}
			if c.path == "/v1/realtime/calls" && c.status == 204 && r.Header.Get("Accept-Post") != "application/sdp" {
				t.Error("no Accept-Post")
			}
		})
	}
}

func TestAServiceSeesNoCredentialAmongTheHeaders(t *testing.T) {
	f := newFake()
	h := NewHandler(f, HandlerConfig{})
	ask(h, "POST", "/v1/realtime/calls", goodOffer, "Cookie", "session=1", "X-Openai-Agents-Sdk", "openai-agents-sdk.0.20.0", "X-Api-Key", "k")
	if f.caller.Header.Get("X-Openai-Agents-Sdk") == "" || f.caller.Header.Get("Cookie") != "" || f.caller.Header.Get("Authorization") != "" || f.caller.Header.Get("X-Api-Key") != "" {
		t.Errorf("headers are %v", f.caller.Header)
	}
}

func TestACredentialPrintsAsALength(t *testing.T) {
	c := NewCredential("canary-token")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "c", c, "caller", Caller{Bearer: c})
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "c", c, "caller", Caller{Bearer: c})
	js, err := json.Marshal(map[string]any{"c": c, "caller": Caller{Bearer: c}, "p": &c})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{log.String(), string(js), c.String(), fmt.Sprintf("%v %+v %#v %s %q %x %d", c, c, c, c, c, c, c),
		fmt.Sprintf("%v %+v %#v", Caller{Bearer: c}, &Caller{Bearer: c}, Caller{Bearer: c}), fmt.Sprint(&c)} {
		if strings.Contains(s, "canary") || strings.Contains(s, "63616e617279") {
			t.Errorf("printed as %s", s)
		}
	}
	if c.Reveal() != "canary-token" || !c.Equal("canary-token") || c.Equal("canary") || c.IsZero() {
		t.Error("the credential does not hold its token")
	}
}

// FuzzHandlerBodies looks for panics and for answers that are neither a success nor an error in the Realtime form.
func FuzzHandlerBodies(f *testing.F) {
	for _, s := range []string{"", "v=0", goodOffer, "{}", "{", `{"session":{"type":"realtime"}}`, `{"expires_after":{"seconds":-1}}`,
		`{"session":{"tools":[{"type":"mcp"}]}}`, "--x\r\nContent-Disposition: form-data; name=\"sdp\"\r\n\r\nv=0\r\n--x--", "\xff\xfe", strings.Repeat("[", 200)} {
		for _, ct := range []string{"application/sdp", "application/json", "multipart/form-data; boundary=x", ""} {
			f.Add("calls", ct, s)
			f.Add("client_secrets", ct, s)
		}
	}
	f.Add("calls/call_1/hangup", "application/json", "{}")
	f.Add("calls/../x", "", "")
	h := NewHandler(newFake(), HandlerConfig{MaxBody: 1 << 16})
	f.Fuzz(func(t *testing.T, path, contentType, body string) {
		r := httptest.NewRequest("POST", "http://gw.example/v1/realtime/", strings.NewReader(body))
		r.URL.Path = "/v1/realtime/" + path
		r.Header = http.Header{"Authorization": {"Bearer demo-alice"}, "Content-Type": {contentType}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code < 300 {
			return
		}
		var e struct {
			Error struct{ Type, Code, Message string } `json:"error"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Error.Type == "" || e.Error.Code == "" || e.Error.Message == "" {
			t.Fatalf("%d %q", w.Code, w.Body)
		}
	})
}

func TestTheLogHoldsNothingOfAnAddressThatTheClientMadeUp(t *testing.T) {
	var log strings.Builder
	h := NewHandler(newFake(), HandlerConfig{Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	for _, path := range []string{"calls/canary", "calls/canary/hangup", "calls/calls", "canary/x", "calls/can%20ary", "../canary", "calls/x/canary", "calls?canary=1"} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			r := httptest.NewRequest(method, "/v1/realtime/"+path, nil)
			r.Header.Set("Authorization", "Bearer canary")
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	if strings.Contains(log.String(), "canary") || strings.Contains(log.String(), "can ary") {
		t.Errorf("the log says\n%s", &log)
	}
	if !strings.Contains(log.String(), `"path":"/v1/realtime/calls/{id}/hangup"`) {
		t.Errorf("the log does not say which endpoint it was\n%s", &log)
	}
}

func TestASecretHoldsNoHugeSession(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{})
	for size, status := range map[int]int{mintBody / 2: 200, mintBody: 413} {
		body := `{"session":{"type":"realtime","instructions":"` + strings.Repeat("a", size) + `"}}`
		if r := ask(h, "POST", "/v1/realtime/client_secrets", body, "Content-Type", "application/json"); r.StatusCode != status {
			t.Errorf("a session of %d bytes: status %d, want %d", size, r.StatusCode, status)
		}
	}
}
