// Package socket is one WebSocket of the Realtime protocol, on either side of it.
//
// It owns what a bare connection lacks: a bounded write queue that never blocks its caller, an answer to a peer that does
// not read, the discovery of a half-open connection, and close codes with reasons. It never reads what a message says.
package socket
