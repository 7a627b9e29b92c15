// Package sfu is the media plane: one Pion engine, its peers and what a packet passes on its way through.
//
// It owns sockets, ICE, DTLS, SRTP, the forwarding of RTP, the pacing of what goes to a browser, the taps that hand
// decoded PCM out, and the count of what was really sent. It never sees a tool, a person, or the meaning of an event:
// a data-channel message is bytes here. It imports nothing of this module's other rooms.
package sfu
