// Package azure is the adapter for the Realtime API of Azure OpenAI: the protocol is OpenAI's, the doors are its own.
//
// It owns the addresses and credentials of a resource, the minting of the client secret without which its WebRTC door answers
// 401, and the list of what it refuses in a session. Everything else is done by the adapters openai (WebRTC) and openaiws
// (WebSocket). It never uses webrtcfilter: the gateway filters what a browser sees, and the filter lets items through.
package azure
