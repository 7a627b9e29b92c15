// Package g711 codes speech as ITU-T G.711 µ-law and A-law at 8 kHz, and guesses what a lost frame held.
//
// It owns the two laws and the memory of one stream's concealment. No packets, no clocks, no goroutines, no other
// sample rates.
package g711
