package secrets

import (
	"errors"
	"net/http"

	"hovor/signaling/realtime"
)

// Errors of Redeem and Mint; each is a whole reply that says what to do.
var (
	// ErrUnknown is for a token that this store did not issue, or has long forgotten.
	ErrUnknown = unauthorized(realtime.CodeInvalidCredential,
		"this client secret was not issued here: mint one with POST /v1/realtime/client_secrets on this same host")
	// ErrExpired is for a token whose time has passed.
	ErrExpired = unauthorized(realtime.CodeExpiredCredential,
		"this client secret has expired: mint a new one and open the call right away")
	// ErrUsed is for a one-use token that has opened its call.
	ErrUsed = unauthorized(realtime.CodeUsedCredential,
		"this client secret has already opened a call and is good for one only: mint a new one")
	// ErrFull is for a store that can hold no more live secrets.
	ErrFull = &realtime.Error{Status: http.StatusServiceUnavailable, RetryAfter: 10, Type: realtime.TypeServer, Code: realtime.CodeUnavailable,
		Message: "too many client secrets are outstanding: try again in a few seconds"}
	// ErrTTL is for a time to live outside MinTTL..MaxTTL.
	ErrTTL error = errors.New("client secret: time to live is not within 10 s and 7200 s")
)

func unauthorized(code, message string) *realtime.Error {
	return &realtime.Error{Status: http.StatusUnauthorized, Type: realtime.TypeAuthentication, Code: code, Message: message}
}
