package playback

import (
	"fmt"
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu"
	"hovor/sfu/bridge"
	"hovor/signaling/realtime"
)

// Input is what the person says, and the one order in which that and the client's events reach the provider: a commit comes
// behind the audio that had arrived before it, and what was sent behind a commit stays there.
type Input struct {
	mic *bridge.Mic
	do  func(ev realtime.Event) error

	mu      sync.Mutex // guards what follows
	holding bool       // a commit waits for its audio
	behind  []realtime.Event
	lost    func(ev realtime.Event, err error)
}

// NewInput makes an Input of PCM16 at rate. hear gets the audio and do the events; neither may block or call the Input. lost is
// told of an event that could not be done after Send had taken it.
func NewInput(codec sfu.Codec, rate int, hear func(c bridge.Chunk), do func(ev realtime.Event) error, lost func(realtime.Event, error)) (*Input, error) {
	in := &Input{do: do, lost: lost}
	var err error
	if in.mic, err = bridge.NewMic(bridge.MicConfig{Codec: codec, Rate: rate, Handle: hear}); err != nil {
		return nil, fmt.Errorf("start the microphone: %w", err)
	}
	return in, nil
}

// Push takes one packet; it is not kept.
func (in *Input) Push(p *rtp.Packet) { in.mic.Push(p, time.Now()) }

// Close ends it.
func (in *Input) Close() { in.mic.Close() }

// Concealed is how many packets never came.
func (in *Input) Concealed() uint64 {
	s := in.mic.Stats()
	return s.Concealed + s.Recovered
}

// Flush calls f behind the audio that has arrived, and before any event that is sent after.
func (in *Input) Flush(f func()) {
	in.mu.Lock()
	in.holding = true
	in.mu.Unlock()
	in.mic.Flush(time.Now(), func() {
		f()
		in.release()
	})
}

// Send does the event in its order.
func (in *Input) Send(ev realtime.Event) error {
	in.mu.Lock()
	if in.holding {
		in.behind = append(in.behind, ev)
		in.mu.Unlock()
		return nil
	}
	in.mu.Unlock()
	switch ev.(type) {
	case *realtime.InputAudioBufferClear:
		in.mic.Discard()
	case *realtime.InputAudioBufferCommit:
		in.Flush(func() { in.report(ev, in.do(ev)) })
		return nil
	}
	return in.do(ev)
}

func (in *Input) report(ev realtime.Event, err error) {
	if err != nil {
		in.lost(ev, err)
	}
}

// release does what was sent behind a commit. Another commit among it speaks of audio that was handed out just now.
func (in *Input) release() {
	for {
		in.mu.Lock()
		if len(in.behind) == 0 {
			in.holding, in.behind = false, nil
			in.mu.Unlock()
			return
		}
		ev := in.behind[0]
		in.behind = in.behind[1:]
		in.mu.Unlock()
		in.report(ev, in.do(ev))
	}
}
