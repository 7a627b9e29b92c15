// Package turn is one participant's ear: it turns consecutive 16 kHz audio into speech, pauses, ends of turn and
// the verdict that the assistant must fall silent.
//
// It owns the physical layer (windows, level, hysteresis, back-dated edges) and the turn layer (whose turn it is
// and when it ends). It is pure: time is the amount of audio written, never a wall clock. It never drops a turn
// because of what the detector thinks while a push-to-talk button is held, and it never commits a turn in which
// nobody spoke.
package turn
