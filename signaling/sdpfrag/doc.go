// Package sdpfrag reads and writes application/trickle-ice-sdpfrag (RFC 8840), the body of a PATCH on a call.
//
// It owns that one text form, and the two ways between it and a whole session description. It never opens a connection
// and never decides whether a fragment is a restart: it only tells whose credentials it carries.
package sdpfrag
