package realtime

import (
	"fmt"
	"log/slog"
)

// ClientSecretRequest is the body of POST /v1/realtime/client_secrets.
type ClientSecretRequest struct {
	ExpiresAfter *ExpiresAfter `json:"expires_after,omitempty" rt:"null"`
	Session      *Session      `json:"session,omitempty" rt:"null"`
	Hovor        *HovorRequest `json:"hovor,omitempty" rt:"null"`
}

// ExpiresAfter is how long a secret may be used to open a call; Seconds is 10..7200, 0 = 600.
type ExpiresAfter struct {
	Anchor  string `json:"anchor,omitempty" rt:"enum=created_at"`
	Seconds int    `json:"seconds,omitempty" rt:"min=10,max=7200"`
}

// HovorRequest is what only this gateway understands.
type HovorRequest struct {
	ThreadID string `json:"thread_id,omitempty" rt:"maxlen=64"` // continue this thread
	OneUse   bool   `json:"one_use,omitempty"`                  // the secret opens one call only

	// What the secret's holder may do, within what the assistant lets anybody do.
	Events      []string `json:"events,omitzero" rt:"null"`                     // client events that pass; absent: the assistant's
	Fields      []string `json:"fields,omitzero" rt:"null"`                     // parts of the session that may be changed; absent: the assistant's
	MaxDuration int      `json:"max_duration_s,omitempty" rt:"min=0,max=86400"` // of a call, in seconds; 0: the assistant's
}

// ClientSecret is the reply: Value begins with "ek_". It logs as a length.
type ClientSecret struct {
	Value     string  `json:"value"`
	ExpiresAt int64   `json:"expires_at"` // unix seconds, of the secret
	Session   Session `json:"session"`    // effective
}

// String keeps fmt from printing the value.
func (c ClientSecret) String() string {
	return fmt.Sprintf("client secret %v until %d", Secret(c.Value), c.ExpiresAt)
}

// GoString covers %#v.
func (c ClientSecret) GoString() string { return c.String() }

// LogValue keeps slog from printing the value.
func (c ClientSecret) LogValue() slog.Value {
	return slog.GroupValue(slog.String("value", Secret(c.Value).String()), slog.Int64("expires_at", c.ExpiresAt))
}
