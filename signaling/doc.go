// Package signaling is the door: the HTTP and WebSocket side of the Realtime protocol, from a client secret to an SDP answer
// or an open socket.
//
// It owns request and response shapes, the dialect rule, CORS, ICE servers, close codes and errors of the Realtime form. It serves whatever
// Service stands behind it, the gateway or the embedded provider, and never decides what a call does.
package signaling
