package local

import (
	"bytes"
	"context"
	"encoding/base64"
	"time"

	"hovor/gateway/provider/local/voice"
	"hovor/signaling/realtime"
)

const (
	pieceFrames = 10 // of 20 ms in a response.output_audio.delta
	// streamSpeed is how much faster than it is heard speech is sent over a WebSocket, as the published API does; fast, but
	// slow enough that there is something to cancel.
	streamSpeed = 8
	pieceTime   = pieceFrames * frameTime
)

// streamed is a sentence on its way over a WebSocket.
type streamed struct {
	text  string
	clip  *clip
	entry *entry
	audio time.Duration // where in the item's audio the sentence begins
	start int           // and where in its transcript
	at    time.Duration // sent of the sound
	words int           // sent of the words
	sent  int           // octets sent of the text
}

// stream sends a sentence piece by piece; the words that begin in a piece come before its sound.
func (x *session) stream(ctx context.Context, r *response, text string, c *clip) bool {
	s := &streamed{text: text, clip: c}
	if !x.post(ctx, func() { x.beginStream(r, s) }) {
		return false
	}
	for from := 0; from == 0 || from < len(c.frames); from += pieceFrames {
		piece := c.frames[from:min(from+pieceFrames, len(c.frames))]
		if !x.post(ctx, func() { x.streamPiece(r, s, piece) }) {
			return false
		}
		if !pause(ctx, time.Duration(len(piece))*frameTime/streamSpeed) {
			return false
		}
	}
	return true
}

func (x *session) beginStream(r *response, s *streamed) {
	if r.finished() {
		return
	}
	s.text, s.clip = r.joined(s.text, s.clip)
	s.entry = x.openMessage(r)
	s.audio, s.start = s.entry.audio, len(s.entry.transcript())
}

func (x *session) streamPiece(r *response, s *streamed, frames [][]byte) {
	if r.finished() {
		return
	}
	e, index := s.entry, len(r.output)-1
	length := time.Duration(len(frames)) * frameTime
	text, words := s.next(length)
	cost := tokens(text) + outputAudioTokens(length)
	if left, bounded := r.room(); bounded && cost > left {
		x.full(r)
		return
	}
	r.usage.OutputTokenDetails.TextTokens += tokens(text)
	r.usage.OutputTokenDetails.AudioTokens += outputAudioTokens(length)
	if text != "" {
		x.emit(&realtime.ResponseOutputAudioTranscriptDelta{ResponseID: r.id, ItemID: e.item.ID, OutputIndex: index, Delta: text})
	}
	octets := bytes.Join(frames, nil)
	if len(octets) > 0 {
		x.spoke = true
		x.idle.played(length)
		x.emit(&realtime.ResponseOutputAudioDelta{ResponseID: r.id, ItemID: e.item.ID, OutputIndex: index, Delta: base64.StdEncoding.EncodeToString(octets)})
	}
	if e.cut {
		return // the client has stopped listening to it
	}
	e.setTranscript(e.transcript() + text)
	for _, w := range words {
		e.words = append(e.words, voice.Word{Start: s.start + w.Start, End: s.start + w.End, From: s.audio + w.From, To: s.audio + w.To})
	}
	e.audio += length
	e.sound, e.octets = append(e.sound, octets...), r.form.octets()
	x.items.remember(e)
}

// next is the text, and the words, that belong to the sentence's next piece. The words cover the text, so that all of it is
// gone with the last piece.
func (s *streamed) next(length time.Duration) (string, []voice.Word) {
	s.at += length
	first, last := s.words, s.at >= s.clip.duration()
	for s.words < len(s.clip.words) && (last || s.clip.words[s.words].From < s.at) {
		s.words++
	}
	end := s.sent
	switch {
	case last:
		end = len(s.text)
	case s.words > 0:
		end = s.clip.words[s.words-1].End
	}
	text := s.text[s.sent:end]
	s.sent = end
	return text, s.clip.words[first:s.words]
}
