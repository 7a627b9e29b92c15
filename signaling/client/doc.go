// Package client is a Go client of the Realtime protocol, over WebRTC and over WebSocket.
//
// It owns one call as seen from its opening side: offer, HTTP exchange, events, hang-up. The gateway uses it towards
// providers, the load tester and the tests use it towards the gateway. It never decodes or makes audio: RTP goes in and
// comes out as it is. No request leaves through anything but the HTTP client it was given.
package client
