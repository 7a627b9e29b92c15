package local

import (
	"container/list"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"hovor/gateway/provider/local/voice"
	"hovor/sfu/opus"
)

const (
	frameTime    = 20 * time.Millisecond
	frameSamples = voice.Rate / 50
	clipBitrate  = 32000
	clipEffort   = 5 // Opus complexity: synthesized speech does not sound better above it

	cacheBytes = 8 << 20
)

// clip is one spoken sentence, ready to be sent. It is shared between sessions and never changed.
type clip struct {
	frames [][]byte // Opus packets of 20 ms
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
	clips  map[voice.Sentence]*list.Element
	recent *list.List // of *cached, most recent first
	bytes  int
}

type cached struct {
	key  voice.Sentence
	clip *clip
}

func newStudio(v voice.Voice) *studio {
	return &studio{voice: v, clips: map[voice.Sentence]*list.Element{}, recent: list.New()}
}

// say returns the sentence as a clip.
func (s *studio) say(ctx context.Context, sentence voice.Sentence) (*clip, error) {
	if strings.TrimSpace(sentence.Text) == "" {
		return &clip{}, nil
	}
	if c := s.lookup(sentence); c != nil {
		return c, nil
	}
	speech, err := s.voice.Speak(ctx, sentence)
	if err != nil {
		return nil, err
	}
	c, err := s.encode(speech)
	if err != nil {
		return nil, err
	}
	s.keep(sentence, c)
	return c, nil
}

func (s *studio) lookup(key voice.Sentence) *clip {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.clips[key]
	if e == nil {
		return nil
	}
	s.recent.MoveToFront(e)
	return e.Value.(*cached).clip
}

func (s *studio) keep(key voice.Sentence, c *clip) {
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

// encode codes the speech in whole frames, the last one filled up with silence.
func (s *studio) encode(speech *voice.Speech) (*clip, error) {
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
	c := &clip{words: speech.Words}
	packet := make([]byte, opus.MaxPacket)
	frame := make([]int16, frameSamples)
	for pcm := speech.PCM; len(pcm) > 0; {
		n := copy(frame, pcm)
		clear(frame[n:])
		pcm = pcm[n:]
		n, err := enc.Encode(frame, packet)
		if err != nil {
			return nil, fmt.Errorf("encode speech: %w", err)
		}
		c.frames = append(c.frames, append([]byte(nil), packet[:n]...))
	}
	return c, nil
}
