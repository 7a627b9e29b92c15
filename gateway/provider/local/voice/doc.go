// Package voice turns a sentence into speech.
//
// It owns the seam, the split of a text into sentences and a deterministic tone voice for virtual time. It never paces,
// never sends and never keeps what was said. The real voice is in espeak.
package voice
