package signaling

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"hovor/sfu"
	"hovor/signaling/realtime"
)

// The rows of what clients need and of what people complained about that are the door's. The number is the row's: section
// 3.2 is what agents-realtime does step by step, 3.7 what each client needs, 6 the complaints, 7.1 the musts.

func TestRow3_2_1_SecretsBeginAsStockClientsCheck(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{})
	for _, path := range []string{"client_secrets", "sessions", "transcription_sessions"} {
		r := ask(h, "POST", "/v1/realtime/"+path, `{}`, "Content-Type", "application/json")
		var got struct {
			Value  string
			Secret struct{ Value string } `json:"client_secret"`
		}
		if err := json.Unmarshal([]byte(text(t, r)), &got); err != nil || !strings.HasPrefix(got.Value+got.Secret.Value, "ek_") {
			t.Errorf("%s: %v %+v", path, err, got)
		}
	}
}

func TestRow7_1_1_TheReplyToAMintIsTheGAShape(t *testing.T) {
	r := ask(NewHandler(newFake(), HandlerConfig{}), "POST", "/v1/realtime/client_secrets", `{"expires_after":{"anchor":"created_at","seconds":600},"session":{"type":"realtime","model":"gpt-realtime"}}`, "Content-Type", "application/json")
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text(t, r)), &got); err != nil || len(got) != 3 {
		t.Fatalf("%v %v", err, got)
	}
	var session struct{ Type, Object string }
	if json.Unmarshal(got["session"], &session) != nil || session.Type != "realtime" || session.Object != "realtime.session" || got["expires_at"][0] == '"' || len(got["value"]) < 10 {
		t.Errorf("reply %s", got)
	}
}

func TestRow3_2_4_AnOfferWithoutCandidatesPasses(t *testing.T) {
	f := newFake()
	if r := ask(NewHandler(f, HandlerConfig{}), "POST", "/v1/realtime/calls", goodOffer); r.StatusCode != 201 || strings.Contains(f.offer.SDP, "candidate") {
		t.Errorf("%d", r.StatusCode)
	}
}

func TestRow3_2_5_ThePreflightOfStockClientsIsAnswered(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{AllowedOrigins: []string{"*"}})
	for _, path := range []string{"/v1/realtime/calls", "/v1/realtime/client_secrets", "/v1/realtime/sessions", "/v1/realtime", "/v1/realtime/calls/call_1/hangup"} {
		r := ask(h, "OPTIONS", path, "", "Authorization", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,x-openai-agents-sdk,originator,x-anything")
		allowed := r.Header.Get("Access-Control-Allow-Headers")
		for _, want := range []string{"authorization", "content-type", "x-openai-agents-sdk", "originator", "x-anything"} {
			if !strings.Contains(allowed, want) {
				t.Errorf("%s: %s is not among %q", path, want, allowed)
			}
		}
		if r.StatusCode != 204 || !strings.Contains(r.Header.Get("Access-Control-Allow-Methods"), "POST") || r.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
}

func TestRow6_13_ARefusedOriginIsToldAndWouldBeToldToTheOperator(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{AllowedOrigins: []string{"https://app.example"}})
	r := ask(h, "OPTIONS", "/v1/realtime/calls", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "originator")
	if r.StatusCode != 403 || !strings.Contains(text(t, r), "allowed origins") || r.Header.Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}

func TestRow3_2_6_And7_And8_TheAnswerIs201WithALocationAPageCanRead(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{AllowedOrigins: []string{"*"}})
	for _, path := range []string{"/v1/realtime/calls?model=m", "/v1/realtime?model=m"} {
		r := ask(h, "POST", path, goodOffer, "Origin", "https://app.example")
		location := r.Header.Get("Location")
		if r.StatusCode != 201 || r.Header.Get("Content-Type") != "application/sdp" || location != "/v1/realtime/calls/call_1" || strings.ContainsAny(location, "?#") {
			t.Errorf("%s: %d %q", path, r.StatusCode, location)
		}
		for _, name := range []string{"Location", "Link", "ETag", "Retry-After"} {
			if !strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), name) {
				t.Errorf("%s: a page cannot read %s", path, name)
			}
		}
	}
}

func TestRow6_2_ACallWithoutAPageHasItsLocationToo(t *testing.T) {
	if r := ask(NewHandler(newFake(), HandlerConfig{}), "POST", "/v1/realtime/calls", goodOffer); r.Header.Get("Location") == "" {
		t.Error("no Location")
	}
}

func TestRow3_2_9_And6_1_EveryRefusalIsAnObjectWithAMessage(t *testing.T) {
	quota := &realtime.Error{Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Message: "the provider's account is empty", RetryAfter: 30}
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{quota, 429, "insufficient_quota"},
		{sfu.ErrNoAudio, 400, "no_audio"},
		{errors.New("canary"), 500, "internal_error"},
	} {
		w := &recordingWriter{header: http.Header{}}
		WriteError(w, c.err)
		var got struct {
			Error struct {
				Message, Type, Code string
				Param               *string
			} `json:"error"`
		}
		if err := json.Unmarshal(w.body, &got); err != nil || w.status != c.status || got.Error.Code != c.code || got.Error.Message == "" || got.Error.Type == "" || w.header.Get("Content-Type") != "application/json" {
			t.Errorf("%v: %d %s", c.err, w.status, w.body)
		}
		if strings.Contains(string(w.body), "canary") || w.header.Get("Location") != "" {
			t.Errorf("leaks %s", w.body)
		}
		if c.status == 429 && w.header.Get("Retry-After") != "30" {
			t.Error("no Retry-After")
		}
	}
}

type recordingWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *recordingWriter) Header() http.Header { return w.header }
func (w *recordingWriter) WriteHeader(s int)   { w.status = s }
func (w *recordingWriter) Write(b []byte) (int, error) {
	w.body = append(w.body, b...)
	return len(b), nil
}

func TestRow6_24_And7_1_10_TheLocationAnswersForAsLongAsTheCallLives(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{})
	location := ask(h, "POST", "/v1/realtime/calls", goodOffer).Header.Get("Location")
	for _, c := range []struct {
		method, suffix string
		status         int
	}{{"GET", "", 200}, {"POST", "/hangup", 200}, {"DELETE", "", 200}, {"OPTIONS", "", 204}, {"PUT", "", 405}} {
		if r := ask(h, c.method, location+c.suffix, ""); r.StatusCode != c.status {
			t.Errorf("%s %s%s: %d", c.method, location, c.suffix, r.StatusCode)
		}
	}
	if r := ask(h, "POST", "/v1/realtime/calls/call_gone/hangup", ""); r.StatusCode != 404 || !strings.Contains(text(t, r), "call_id_not_found") {
		t.Errorf("a call that is over: %d", r.StatusCode)
	}
}
