// Package ear recognizes what was said from 16 kHz PCM.
//
// It owns the seam and a scripted ear for virtual time. It never decides when a turn has ended, and never guesses: audio
// that is not understood is reported as not understood. The real ear is in sphinx.
package ear
