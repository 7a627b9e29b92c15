// Package vad is the ear: it turns 16 kHz PCM and time into speech, pauses, ends of turn and barge-in.
//
// It owns detectors and turn logic as functions of audio and stream time. It never opens a socket, never reads a
// wall clock and never sees a word of what was said. It imports nothing of this module's other rooms.
package vad
