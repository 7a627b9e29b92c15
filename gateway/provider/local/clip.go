package local

import (
	"container/list"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"time"

	"hovor/gateway/provider/local/voice"
	"hovor/sfu/g711"
	"hovor/sfu/opus"
	"hovor/sfu/resample"
)

const (
	frameTime    = 20 * time.Millisecond
	frameSamples = voice.Rate / 50
	clipBitrate  = 32000
	clipEffort   = 5 // Opus complexity: synthesized speech does not sound better above it

	cacheBytes = 8 << 20
)

// form is how speech travels.
type form int

const (
	formOpus form = iota // Opus packets; on a track only
	formPCM              // 24 kHz, 16 bit, little endian; in events only
	formPCMU
	formPCMA
)

// clip is one spoken sentence, ready to be sent. It is shared between sessions and never changed.
type clip struct {
	frames [][]byte // of 20 ms
	words  []voice.Word
}

func (c *clip) duration() time.Duration { return time.Duration(len(c.frames)) * frameTime }

func (c *clip) size() int {
	n := 64 * len(c.words)
	for _, f := range c.frames {
		n += len(f) + 24
	}
	return n
}

// studio makes clips: it synthesizes, encodes, and keeps the most recent ones, because greetings repeat.
type studio struct {
	voice    voice.Voice
	encoders sync.Pool

	mu     sync.Mutex // guards what follows
	clips  map[clipKey]*list.Element
	recent *list.List // of *cached, most recent first
	bytes  int
}

type clipKey struct {
	voice.Sentence
	form form
}

type cached struct {
	key  clipKey
	clip *clip
}

func newStudio(v voice.Voice) *studio {
	return &studio{voice: v, clips: map[clipKey]*list.Element{}, recent: list.New()}
}

// say returns the sentence as a clip.
func (s *studio) say(ctx context.Context, sentence voice.Sentence, f form) (*clip, error) {
	if strings.TrimSpace(sentence.Text) == "" {
		return &clip{}, nil
	}
	key := clipKey{sentence, f}
	if c := s.lookup(key); c != nil {
		return c, nil
	}
	speech, err := s.voice.Speak(ctx, sentence)
	if err != nil {
		return nil, err
	}
	c := &clip{words: speech.Words}
	switch f {
	case formOpus:
		c.frames, err = s.encode(speech.PCM)
	case formPCM:
		c.frames = chop(littleEndian(speech.PCM), 2*frameSamples, 0)
	default:
		c.frames, err = companded(speech.PCM, f)
	}
	if err != nil {
		return nil, err
	}
	s.keep(key, c)
	return c, nil
}

func (s *studio) lookup(key clipKey) *clip {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.clips[key]
	if e == nil {
		return nil
	}
	s.recent.MoveToFront(e)
	return e.Value.(*cached).clip
}

func (s *studio) keep(key clipKey, c *clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clips[key] != nil || c.size() > cacheBytes/4 {
		return
	}
	s.clips[key] = s.recent.PushFront(&cached{key, c})
	for s.bytes += c.size(); s.bytes > cacheBytes; {
		oldest := s.recent.Remove(s.recent.Back()).(*cached)
		delete(s.clips, oldest.key)
		s.bytes -= oldest.clip.size()
	}
}

// encode makes Opus packets, the last one filled up with silence.
func (s *studio) encode(pcm []int16) ([][]byte, error) {
	enc, _ := s.encoders.Get().(*opus.Encoder)
	if enc == nil {
		var err error
		if enc, err = opus.NewEncoder(opus.EncoderConfig{SampleRate: voice.Rate, Bitrate: clipBitrate, Complexity: clipEffort}); err != nil {
			return nil, fmt.Errorf("encode speech: %w", err)
		}
	}
	defer s.encoders.Put(enc)
	if err := enc.Reset(); err != nil {
		return nil, fmt.Errorf("encode speech: %w", err)
	}
	var frames [][]byte
	packet := make([]byte, opus.MaxPacket)
	frame := make([]int16, frameSamples)
	for len(pcm) > 0 {
		n := copy(frame, pcm)
		clear(frame[n:])
		pcm = pcm[n:]
		n, err := enc.Encode(frame, packet)
		if err != nil {
			return nil, fmt.Errorf("encode speech: %w", err)
		}
		frames = append(frames, append([]byte(nil), packet[:n]...))
	}
	return frames, nil
}

func littleEndian(pcm []int16) []byte {
	out := make([]byte, 0, 2*len(pcm))
	for _, v := range pcm {
		out = binary.LittleEndian.AppendUint16(out, uint16(v))
	}
	return out
}

// companded is speech in G.711.
func companded(pcm []int16, f form) ([][]byte, error) {
	law, _ := f.law()
	r, err := resample.New(voice.Rate, g711.Rate)
	if err != nil {
		return nil, fmt.Errorf("encode speech: %w", err)
	}
	narrow := r.Append(nil, pcm)
	out := make([]byte, len(narrow))
	law.Encode(out, narrow)
	return chop(out, g711.Rate/50, law.Silence()), nil
}

// chop cuts octets into frames, the last one filled up with silence.
func chop(octets []byte, size int, silence byte) [][]byte {
	frames := make([][]byte, 0, (len(octets)+size-1)/size)
	for len(octets)%size != 0 {
		octets = append(octets, silence)
	}
	for ; len(octets) > 0; octets = octets[size:] {
		frames = append(frames, octets[:size:size])
	}
	return frames
}
