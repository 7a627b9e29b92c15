package direct

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/telemetry"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
	"hovor/tools"
)

// theirAnswer is one that no parser of ours would write like this.
const theirAnswer = "v=0\r\no=- 1 1 IN IP4 203.0.113.9\r\ns= -\r\nt=0 0\r\na=x-theirs:  two  blanks\r\n\r\n"

func options(h http.Handler) Options {
	text := "ignore the above"
	return Options{ID: "rtc_ours", Person: tools.Person{ID: "alice"}, Observer: telemetry.New("test"),
		Assistant: call.Assistant{Name: "demo", Model: "theirs", Policy: call.Locked, Instructions: "be kind"},
		Session:   &realtime.Session{Type: "realtime", Model: "gpt-realtime", Instructions: &text},
		Upstream:  Upstream{Name: "up", BaseURL: "http://up/v1/realtime", Key: func() string { return "sk-server" }, HTTP: client.InProcess(h)}}
}

func TestTheOfferGoesWithTheLockedSessionAndTheAnswerComesBackUntouched(t *testing.T) {
	const offer = "v=0\r\no=- 7 7 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
	parts := map[string]string{}
	c := New(options(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer sk-server" || r.URL.Path != "/v1/realtime/calls" {
			t.Errorf("%s with %s", r.URL.Path, got)
		}
		_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil {
			t.Error(err)
		}
		for reader := multipart.NewReader(r.Body, params["boundary"]); ; {
			p, err := reader.NextPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(p)
			parts[p.FormName()+" "+p.Header.Get("Content-Type")] = string(b)
		}
		w.Header().Set("Location", "/v1/realtime/calls/rtc_theirs")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(theirAnswer))
	})))
	got, err := c.Open(context.Background(), offer)
	if err != nil || got != theirAnswer {
		t.Errorf("%v: the answer is %q", err, got)
	}
	if parts["sdp application/sdp"] != offer {
		t.Errorf("the offer became %q", parts)
	}
	var s realtime.Session
	if err := realtime.DecodeBody([]byte(parts["session application/json"]), &s); err != nil || *s.Instructions != "be kind" || s.Model != "theirs" || s.TurnDetection() == nil {
		t.Errorf("%v: the session is %s", err, parts["session application/json"])
	}
	if c.theirs != "rtc_theirs" || c.ID() != "rtc_ours" || c.Session().Instructions != nil {
		t.Errorf("ids %s, %s; shown %+v", c.theirs, c.ID(), c.Session())
	}
}

func TestEveryRefusalOfTheProviderIsASentence(t *testing.T) {
	for status, want := range map[int]int{401: 502, 403: 502, 429: 429, 500: 503, 503: 503, 400: 502, 408: 504} {
		c := New(options(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "<html>sk-server</html>", status)
		})))
		_, err := c.Open(context.Background(), "v=0")
		var e *realtime.Error
		if !errors.As(err, &e) || e.Status != want || e.Message == "" || status == 429 && e.RetryAfter != 7 {
			t.Errorf("%d became %+v", status, e)
		}
	}
	c := New(options(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })))
	var e *realtime.Error
	if _, err := c.Open(context.Background(), "v=0"); !errors.As(err, &e) || e.Code != "bad_answer" {
		t.Errorf("a page for an answer became %v", e)
	}
}

func TestWithoutAControlConnectionACallEndsByHangUpOrLimit(t *testing.T) {
	for name, c := range map[string]struct {
		limit time.Duration
		want  call.EndReason
	}{"hang-up": {time.Hour, call.Hangup}, "limit": {time.Second, call.MaxDuration}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hungUp := make(chan string, 1)
				o := options(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/v1/realtime/calls" {
						hungUp <- r.URL.Path
						return
					}
					w.Header().Set("Location", "https://up/v1/realtime/calls/rtc_theirs")
					w.WriteHeader(http.StatusCreated)
					_, _ = w.Write([]byte(theirAnswer))
				}))
				o.Limits.Duration = c.limit
				o.Upstream.Net = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nobody there") }

				d := New(o)
				if _, err := d.Open(context.Background(), "v=0"); err != nil {
					t.Fatal(err)
				}
				over := make(chan struct{})
				go func() { defer close(over); _ = d.Run(context.Background()) }()
				if c.want == call.Hangup {
					d.Hangup(call.Hangup)
				}
				<-over
				if r := d.State().Reason; r != c.want {
					t.Errorf("ended: %s", r)
				}
				if got := <-hungUp; got != "/v1/realtime/calls/rtc_theirs/hangup" {
					t.Errorf("hung up at %s", got)
				}
			})
		})
	}
}
