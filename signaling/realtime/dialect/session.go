package dialect

import (
	"encoding/json"
	"fmt"

	"hovor/signaling/realtime"
)

// SessionToGA turns a flat beta session into the GA form. A session that names no type becomes a realtime one. Fields that
// both forms have, and unknown ones, stay. Errors: *realtime.Error with the beta name of the field in Param; raw that is
// no JSON object comes back as it is.
func SessionToGA(raw []byte) ([]byte, error) { return sessionToGA(raw, realtime.SessionRealtime) }

func sessionToGA(raw []byte, kind string) ([]byte, error) {
	o, ok := parse(raw)
	if !ok {
		return raw, nil
	}
	if err := toGA(&o, sessionFields, "session"); err != nil {
		return nil, err
	}
	if _, ok := o.get("type"); !ok {
		o.front("type", quote(kind))
	}
	return o.bytes(), nil
}

// SessionFromGA turns a GA session into the flat beta form.
func SessionFromGA(raw []byte) []byte {
	o, ok := parse(raw)
	if !ok {
		return raw
	}
	fromGA(&o, sessionFields)
	o.take("type")
	return o.bytes()
}

// toGA moves the fields of a beta object to where they stand in the GA form.
func toGA(o *object, fields []field, at string) error {
	for _, f := range fields {
		for _, v := range o.take(f.beta) {
			if f.toGA != nil {
				converted, err := f.toGA(v, at+"."+f.beta)
				if err != nil {
					return err
				}
				v = converted
			}
			o.put(f.ga, v)
		}
	}
	for _, name := range gone {
		o.take(name)
	}
	return nil
}

func fromGA(o *object, fields []field) {
	for _, f := range fields {
		v, ok := o.lookup(f.ga)
		if !ok {
			continue
		}
		if f.from != nil {
			v = f.from(v)
		}
		o.set(f.beta, v)
	}
	for _, f := range fields {
		o.take(f.ga[0])
	}
}

// IsBetaSession tells a session in the beta form: it names no type, and nothing in it is of the GA form alone.
func IsBetaSession(raw []byte) bool {
	o, ok := parse(raw)
	if !ok {
		return false
	}
	for _, key := range []string{"type", "audio", "output_modalities", "max_output_tokens"} {
		if _, there := o.get(key); there {
			return false
		}
	}
	return true
}

// BetaSecretSeconds is how long a secret of the beta form is good when the client does not say.
const BetaSecretSeconds = 60

// SecretRequestToGA turns the body of POST /v1/realtime/sessions, a flat session, into that of client_secrets. kind is the
// session's type: realtime.SessionRealtime or realtime.SessionTranscription. Errors as in SessionToGA.
func SecretRequestToGA(raw []byte, kind string) ([]byte, error) {
	o, ok := parse(raw)
	if !ok {
		return raw, nil
	}
	request := object{}
	request.set("expires_after", fmt.Appendf(nil, `{"anchor":"created_at","seconds":%d}`, BetaSecretSeconds))
	for _, v := range o.take("client_secret") {
		if after, ok := memberOf(v, "expires_after"); ok {
			request.set("expires_after", after)
		}
	}
	for _, v := range o.take("hovor") {
		request.set("hovor", v)
	}
	session, err := sessionToGA(o.bytes(), kind)
	if err != nil {
		return nil, err
	}
	request.set("session", session)
	return request.bytes(), nil
}

func memberOf(raw []byte, key string) ([]byte, bool) {
	o, _ := parse(raw)
	return o.get(key)
}

// SecretFromGA turns a client secret into the reply of POST /v1/realtime/sessions: the flat session with the secret in it.
func SecretFromGA(s *realtime.ClientSecret) ([]byte, error) {
	raw, err := json.Marshal(s.Session)
	if err != nil {
		return nil, err
	}
	secret, err := json.Marshal(struct {
		Value     string `json:"value"`
		ExpiresAt int64  `json:"expires_at"`
	}{s.Value, s.ExpiresAt})
	if err != nil {
		return nil, err
	}
	o, _ := parse(SessionFromGA(raw))
	o.set("client_secret", secret)
	return o.bytes(), nil
}
