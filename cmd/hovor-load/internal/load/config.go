package load

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"hovor/cmd/hovor-load/internal/person"
	"hovor/sfu"
)

// ErrNobodyConnected means that not one session came up, so there is nothing to report on.
var ErrNobodyConnected = errors.New("not one session connected")

// Config is one run. Every field must be set unless it says otherwise.
type Config struct {
	BaseURL     string // up to and including /v1/realtime
	Token       string // bearer: a person's own credential, or a client secret (ek_…)
	Model       string // may be empty
	Mint        bool   // ask for a client secret per session with Token as the bearer, and call with that
	Sessions    int
	Ramp        float64       // sessions begun per second
	Duration    time.Duration // how long all of them stay up together
	SetupWithin time.Duration // a session that is not up by then has failed
	Habits      person.Habits
	Audible     float64 // dBFS from which a sample is audible
	Engine      *sfu.Engine
	HTTP        http.RoundTripper
}

// BaseURL makes the protocol's base of whatever a person gives as the gateway's address.
func BaseURL(given string) string {
	u := strings.TrimRight(given, "/")
	if !strings.Contains(u, "://") {
		u = "http://" + u
	}
	if !strings.HasSuffix(u, "/v1/realtime") {
		u = strings.TrimSuffix(u, "/v1") + "/v1/realtime"
	}
	return u
}
