// Package signaling is the door: the HTTP side of the Realtime protocol, from a client secret to an SDP answer.
//
// It owns request and response shapes, CORS, client secrets and errors of the Realtime form. It serves whatever
// Service stands behind it, the gateway or the embedded provider, and never decides what a call does.
package signaling
