// Package openaiws is the adapter for providers that speak the OpenAI Realtime protocol over a WebSocket: OpenAI itself, and
// every server that is compatible with it, LiteLLM's proxy among them.
//
// It owns the translation of a call with RTP and output_audio_buffer events into one with base64 audio: it is the player, it
// counts what was played, it cuts at what was heard. It renews its connection with the conversation so far. It never sees the
// person's credential.
package openaiws
