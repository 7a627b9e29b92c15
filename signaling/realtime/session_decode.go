package realtime

import "errors"

// DecodeSession reads the session that comes with an offer, as strictly as that of a session.update: the type is required.
// Errors are *Error whose Param begins with "session".
func DecodeSession(data []byte) (*Session, error) {
	s := new(Session)
	err := DecodeBody(data, s)
	if err == nil {
		if e := checkClient(&SessionUpdate{Session: *s}); e != nil {
			return nil, e
		}
		return s, nil
	}
	var e *Error
	if errors.As(err, &e) {
		e.Param = "session" + dotted(e.Param)
	}
	return nil, err
}

func dotted(param string) string {
	if param == "" {
		return ""
	}
	return "." + param
}
