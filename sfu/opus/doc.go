// Package opus encodes and decodes Opus (RFC 6716) at the rates this gateway needs, through libopus.
//
// It owns codec state and nothing else: no packets, no clocks, no goroutines. It never resamples; libopus codes at
// 8, 12, 16, 24 or 48 kHz by itself.
package opus
