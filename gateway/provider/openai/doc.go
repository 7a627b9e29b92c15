// Package openai is the adapter for providers that speak the OpenAI Realtime protocol over WebRTC.
//
// It owns the upstream peer: the server-side credential, the handshake, the translation of failures into the provider's
// classes, and a liveness watch. RTP is forwarded as it is. It never sees the person's credential.
package openai
