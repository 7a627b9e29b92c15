package signaling

import (
	"net/http"

	"hovor/signaling/realtime"
)

// Errors a Service may return as they are; each is the whole reply to the client.
var (
	// ErrCallNotFound says the same for a call that never was and for somebody else's.
	ErrCallNotFound = &realtime.Error{Status: http.StatusNotFound, Type: realtime.TypeInvalidRequest, Code: realtime.CodeCallIDNotFound,
		Message: "there is no live call with this id; it may have ended already"}
	// ErrNoCredential is for a request without a bearer.
	ErrNoCredential = &realtime.Error{Status: http.StatusUnauthorized, Type: realtime.TypeAuthentication, Code: realtime.CodeMissingCredential,
		Message: "no credential: send the header \"Authorization: Bearer …\" with a client secret (ek_…) or your own token"}
	// ErrBadCredential is for a bearer that nobody here issued.
	ErrBadCredential = &realtime.Error{Status: http.StatusUnauthorized, Type: realtime.TypeAuthentication, Code: realtime.CodeInvalidCredential,
		Message: "this credential is not known here: check that it was issued by this host, and that the client talks to the same host"}
)
