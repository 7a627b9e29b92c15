// Package bridge stands between RTP and a provider that takes and gives PCM over a WebSocket: the Player turns bursts of
// PCM into paced packets, the Mic turns packets into chunks of PCM.
//
// It owns the pacing clock, the play-out queue, the count of what was really sent per item, the order and concealment
// of what comes in, and the codecs between. It never sees an event, a socket, or what the audio means. No goroutine
// lives here between frames: each player has one timer (time.AfterFunc) on an absolute schedule. Measured against a
// ticker goroutine each and against one shared clock goroutine: 15, 17 and 23 µs a frame at 50 players, 6 µs for all
// three at 200, 1.6, 2.3 and 0.7 µs at 1000. Encoding the frame costs 150 µs, so the simplest and most parallel won.
//
// What the bridge adds. To the person: the first packet leaves in the moment in which its 20 ms of PCM are complete, and
// packet n exactly n·20 ms later. To the provider: a chunk leaves in the moment in which its last sample was received.
// Codecs add their own delay on top (Opus encoding 6.5 ms, G.711's resampling 5 ms), and concealment waits for the
// missing packet first.
package bridge
