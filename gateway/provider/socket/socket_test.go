package socket_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/socket"
)

func TestARefusalIsNamedAndItsWordsAreNotKept(t *testing.T) {
	for _, c := range []struct {
		status int
		header http.Header
		body   string
		want   provider.Error
	}{
		{401, nil, `{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: sk-abc"}}`, provider.Error{Class: provider.Unauthorized, Status: 401, Code: "invalid_api_key"}},
		{403, nil, "<html>", provider.Error{Class: provider.Unauthorized, Status: 403}},
		{429, http.Header{"Retry-After": {"20"}}, `{"error":{"code":null,"type":"tokens"}}`, provider.Error{Class: provider.RateLimited, Status: 429, Code: "tokens", RetryAfter: 20 * time.Second}},
		{429, http.Header{"Retry-After-Ms": {"1500"}}, ``, provider.Error{Class: provider.RateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond}},
		{429, nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`, provider.Error{Class: provider.RateLimited, Status: 429, Code: "RESOURCE_EXHAUSTED"}},
		{500, nil, `{"error":{"code":"a sentence that repeats what was said"}}`, provider.Error{Class: provider.Overloaded, Status: 500}},
		{504, nil, ``, provider.Error{Class: provider.Timeout, Status: 504}},
		{404, nil, ``, provider.Error{Class: provider.Rejected, Status: 404}},
		{200, nil, ``, provider.Error{Class: provider.BadAnswer, Status: 200}},
	} {
		if got := socket.FromStatus(c.status, c.header, []byte(c.body)); *got != c.want {
			t.Errorf("%d %s: %+v", c.status, c.body, got)
		}
	}
}

func TestACloseFrameIsNamed(t *testing.T) {
	for _, c := range []struct {
		code  int
		text  string
		class provider.Class
	}{
		{1001, "session_expired", provider.Expired},
		{1001, "Your session hit the maximum duration of 60 minutes.", provider.Expired},
		{1011, "Deadline expired before operation could complete.", provider.Expired},
		{1000, "", provider.Lost}, {1001, "going away", provider.Lost}, {1006, "", provider.Lost},
		{1008, "API key not valid", provider.Unauthorized}, {3000, "invalid_request_error.invalid_api_key", provider.Unauthorized},
		{1011, "RESOURCE_EXHAUSTED", provider.RateLimited},
		{1007, "Request contains an invalid argument", provider.Rejected}, {4000, "beta_api_shape_disabled", provider.Rejected},
		{1011, "Internal error encountered.", provider.Overloaded}, {1012, "", provider.Overloaded}, {1013, "", provider.Overloaded},
		{1002, "", provider.BadAnswer},
	} {
		e := socket.FromClose(c.code, c.text)
		if e.Class != c.class || c.text != "" && c.text != "session_expired" && strings.Contains(e.Error(), c.text) {
			t.Errorf("%d %q: %v", c.code, c.text, e)
		}
	}
}

func TestRetryWaitsWhatIsDueAndNoLonger(t *testing.T) {
	failing := func(n int, e *provider.Error) (func(context.Context) error, *int) {
		tries := 0
		return func(context.Context) error {
			if tries++; tries <= n {
				return e
			}
			return nil
		}, &tries
	}
	for _, c := range []struct {
		name     string
		failures int
		err      provider.Error
		tries    int
		from, to time.Duration
		ok       bool
	}{
		{"overloaded once", 1, provider.Error{Class: provider.Overloaded}, 2, 180 * time.Millisecond, 320 * time.Millisecond, true},
		{"overloaded for long", 9, provider.Error{Class: provider.Overloaded}, 3, 500 * time.Millisecond, 1000 * time.Millisecond, false},
		{"limited for two seconds", 1, provider.Error{Class: provider.RateLimited, RetryAfter: 2 * time.Second}, 2, 2 * time.Second, 2 * time.Second, true},
		{"limited for longer than we have", 1, provider.Error{Class: provider.RateLimited, RetryAfter: time.Minute}, 1, 0, 0, false},
		{"out of quota", 1, provider.Error{Class: provider.RateLimited, Code: "insufficient_quota"}, 1, 0, 0, false},
		{"refused", 1, provider.Error{Class: provider.Rejected}, 1, 0, 0, false},
		{"not let in", 1, provider.Error{Class: provider.Unauthorized}, 1, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				try, tries := failing(c.failures, &c.err)
				begin := time.Now()
				err := socket.Retry(ctx, socket.Backoff{}, try)
				if d := time.Since(begin); *tries != c.tries || d < c.from || d > c.to || (err == nil) != c.ok {
					t.Errorf("%d tries in %v: %v", *tries, d, err)
				}
			})
		})
	}
}

func TestAGivenUpHandshakeEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		_, err := socket.Dial(ctx, socket.Config{URL: "ws://nowhere/", Net: hung})
		if time.Since(begin) != time.Second || err == nil {
			t.Errorf("gave %v after %v", err, time.Since(begin))
		}
		var e *provider.Error
		if !errors.As(err, &e) {
			t.Errorf("not typed: %v", err)
		}
	})
}
