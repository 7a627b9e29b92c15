// Package clip prepares what a simulated person says: one WAV file, encoded once, with the moments at which its speech begins and ends.
//
// It owns the embedded default sentence, the speech markers and the marks that make a packet recognisable at the far end.
// It never sends anything.
package clip
