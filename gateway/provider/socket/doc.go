// Package socket is the WebSocket under the legs that have one: dialled, kept alive, written without blocking, and its
// failures named in the provider's classes.
//
// It owns the handshake with its refusals, the outgoing queue, the watch for a far side that has gone without a word, and
// the retry of an opening that was refused for a moment. It never reads what the messages mean.
package socket
