// Package sphinx is the real ear of the embedded provider: PocketSphinx with a command grammar, in English.
//
// It owns the library (opened when the first ear is made, so that a program without it still starts), the dictionary
// cut down to the grammar's words, a small pool of decoders, and the test that tells a command from any other sound.
// It never returns a command that does not fit: such audio is not understood.
package sphinx
