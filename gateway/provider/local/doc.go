// Package local is the embedded provider: a Realtime server of its own that needs no key, no account and no network.
//
// It owns its sessions: client secrets, calls over WebRTC as the answerer, WebSockets, sidebands, the conversation's items,
// the order of the events, the paced or streamed speech, and what goes wrong on a line when a script asks for it. What it
// hears, says and decides comes through three seams: ear, voice and brain. It speaks GA; the door translates for beta
// clients. It never knows the gateway, which reaches it over sockets as it reaches any provider, and it never runs a tool.
package local
