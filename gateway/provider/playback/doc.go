// Package playback is both ends of the sound of a leg whose provider takes and gives PCM instead of RTP: what the provider
// says is played to the call in real time, what the person says is handed to the provider.
//
// It owns the account of every item (received, played), the order of output_audio_buffer.started, stopped and cleared, and
// the promise that nothing of a response that was cleared or cancelled is played. It never talks to a provider.
package playback
