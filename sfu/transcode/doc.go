// Package transcode turns one RTP stream's codec into another, packet by packet: G.711 into Opus and Opus into G.711,
// for a client that speaks no Opus in a house that speaks nothing else.
//
// It owns the codecs' state and the numbering of what it makes. It never waits: what a packet gives is handed out before
// Convert returns. It has no clock, no goroutine and no jitter buffer; a packet that was overtaken is dropped. Both sides
// are narrow-band, so libopus codes at 8 kHz and no resampler is needed.
package transcode
