package provider

import "time"

// NoticeKind is one thing that a leg tells about its own connection while it goes on; a closed set, used as a metrics label.
type NoticeKind string

// The kinds.
const (
	Expiring  NoticeKind = "expiring"   // the provider will end this connection; the leg means to renew it at a quiet moment before
	Renewing  NoticeKind = "renewing"   // the connection is gone, a new one is being made; what is said meanwhile is kept for it
	Renewed   NoticeKind = "renewed"    // the leg goes on over a new connection, the conversation so far was handed over
	AudioLost NoticeKind = "audio_lost" // the provider takes the person's audio too slowly; some was thrown away
	Malformed NoticeKind = "malformed"  // a message was not of the protocol and was left out
)

// Notice is one such thing. A leg that cannot go on does not send a notice but closes.
type Notice struct {
	Kind  NoticeKind
	In    time.Duration // Expiring: until the connection ends
	Cause *Error        // Renewing, Malformed: why; nil when a renewal is the leg's own idea
}

// Sentence is what the person may be told; "" when it is nothing to them.
func (n Notice) Sentence() string {
	switch n.Kind {
	case Renewing:
		if n.Cause != nil {
			return "The connection to the voice service was interrupted and is being made again."
		}
	case AudioLost:
		return "The voice service takes your words too slowly just now; some of them may be missing."
	case Renewed, Expiring, Malformed:
	}
	return ""
}

// NoticeSink is a Sink that wants notices. Like the rest of a Sink it does not block.
type NoticeSink interface{ ProviderNotice(n Notice) }

// ReportNotice gives n to the sink if it wants it.
func ReportNotice(s Sink, n Notice) {
	if s, ok := s.(NoticeSink); ok {
		s.ProviderNotice(n)
	}
}

// Playout is a Leg that plays audio itself and cuts an item by itself when its provider finds the turns. It is told how much
// audio waits in the client before it is heard, so that the cut is where the person stopped hearing.
type Playout interface{ SetPlayout(buffered time.Duration) }

// Hearing is a Leg that makes use of what our own ear hears: told of the onset of speech, it sends the turn while it is spoken
// rather than at its commit. It does not block.
type Hearing interface{ Hears(speaking bool) }
