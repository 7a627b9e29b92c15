// Package gateway assembles the house: from one configuration to a running server, and from a signal to a drained one.
//
// It owns start, listeners, routing and drain. The conversation itself lives in call, the upstream in provider, what was
// said in thread. It never parses an event and never touches a packet.
package gateway
