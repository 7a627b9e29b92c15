// Package silero runs the Silero v6.2 voice activity detector at 16 kHz, as a stream, in pure Go.
//
// It owns the reading of the weights from their ONNX file and the forward pass. It never downloads anything, never
// reads audio from anywhere but its caller, and decides nothing: what a probability means is package turn's affair.
//
// NOTICE: the weights are "Silero VAD", copyright (c) 2020-present Silero Team, MIT licence. They are not part of
// this module: fetch.sh takes them, and the licence text beside them, from the package silero-vad 6.2.3 as the Silero
// Team publishes it.
package silero
