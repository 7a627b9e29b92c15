// Package espeak is the real voice of the embedded provider: eSpeak NG in Czech, English, German and Russian.
//
// It owns the library, which is opened when the first voice is made so that a program without it still starts, and the
// resampling to 24 kHz. The library speaks for one caller at a time; a sentence takes a few milliseconds. It never plays
// anything itself.
package espeak
