package call

import (
	"context"
	"encoding/base64"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"hovor/gateway/call/conversation"
	"hovor/sfu"
	"hovor/signaling"
	"hovor/signaling/realtime"
	"hovor/signaling/realtime/dialect"
	"hovor/signaling/socket"
)

// Close codes of a WebSocket (RFC 6455 section 7.4.1).
const (
	closeNormal   = 1000
	closeGoing    = 1001
	closeInternal = 1011
)

// farewell is the close code that goes with a reason.
func farewell(r EndReason) int {
	switch r {
	case MaxDuration, Idle, Drain, DrainDeadline:
		return closeGoing
	case Internal, ProviderLost, ProviderUnavailable:
		return closeInternal
	}
	return closeNormal
}

// wire is a client over a WebSocket: it sends its audio in events, and plays what it is sent by itself.
type wire struct {
	c      *Call
	socket signaling.Socket
	edge   *dialect.Edge
	mic    *mic
	*speaker

	in    atomic.Pointer[form] // of the audio that comes
	heard atomic.Uint64        // appends
	bytes atomic.Uint64
}

func newWire(c *Call, s signaling.Socket, d realtime.Dialect) *wire {
	w := &wire{c: c, socket: s, edge: dialect.NewEdge(d), mic: newMic(c.up.packet)}
	w.in.Store(&pcm24)
	w.speaker = &speaker{send: w.Send, form: pcm24}
	return w
}

// Send queues one event.
func (w *wire) Send(b []byte) error {
	out, err := w.edge.Out(b)
	if err != nil {
		return err
	}
	for _, b := range out {
		switch err := w.socket.Write(b); {
		case errors.Is(err, socket.ErrSlowReader):
			return sfu.ErrQueueFull
		case err != nil:
			return sfu.ErrNotOpen
		}
	}
	return nil
}

// Bye closes the socket behind what is queued; the reason is the code and the word of the close frame.
func (w *wire) Bye(r EndReason) { w.socket.Close(farewell(r), string(r)) }

// Stats counts in events what a peer counts in packets.
func (w *wire) Stats() sfu.PeerStats {
	s := sfu.PeerStats{PacketsIn: w.heard.Load(), BytesIn: w.bytes.Load()}
	w.speaker.mu.Lock()
	defer w.speaker.mu.Unlock()
	s.PacketsOut, s.BytesOut = w.speaker.packets, w.speaker.octets
	return s
}

// Run reads until the socket is over or ctx ends.
func (w *wire) Run(ctx context.Context) error {
	var clock sync.WaitGroup
	defer clock.Wait()
	life, end := context.WithCancel(ctx)
	defer end()
	clock.Go(func() { w.mic.run(life) })
	for {
		b, err := w.socket.Read(ctx)
		if err != nil {
			return farewellOf(ctx, err)
		}
		w.message(b)
	}
}

// farewellOf tells a client that left from a connection that broke.
func farewellOf(ctx context.Context, err error) error {
	var bye *socket.CloseError
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &bye) && (bye.Code == closeNormal || bye.Code == closeGoing || bye.Code == 1005):
		return nil
	}
	return err
}

// message takes what concerns the audio out of the stream of events, where its order counts, and passes the rest on.
func (w *wire) message(raw []byte) {
	b, err := w.edge.In(raw)
	if err != nil {
		w.c.mail.post(fromClient, conversation.ClientRefused{Err: asRealtime(err)})
		return
	}
	what, _, err := realtime.Peek(b)
	if err == nil && w.c.opts.Assistant.Takes(what) {
		switch what {
		case "input_audio_buffer.append":
			if w.append(b) {
				return
			}
		case "input_audio_buffer.clear":
			w.mic.clear()
		case "session.update":
			w.updated(b)
		}
	}
	w.c.mail.post(fromClient, clientFrame(b))
}

// append takes audio; false: it cannot be read, and the gate will say why.
func (w *wire) append(b []byte) bool {
	ev, err := realtime.Decode(realtime.FromClient, b)
	if err != nil {
		return false
	}
	e, ok := ev.(*realtime.InputAudioBufferAppend)
	if !ok {
		return false
	}
	audio, err := base64.StdEncoding.DecodeString(e.Audio)
	if err != nil {
		w.refuse(e.EventID, realtime.CodeInvalidValue, "The audio is not base64.")
		return true
	}
	f := *w.in.Load()
	w.heard.Add(1)
	w.bytes.Add(uint64(len(audio)))
	took := w.mic.write(f.decode(audio), f.rate(), time.Now())
	w.c.up.received.Add(int64(took))
	if want := f.lasts(len(audio)); took < want-time.Millisecond {
		w.refuse(e.EventID, "too_much_audio", "More than a minute of audio waits; what was too much was dropped. Send audio as it is spoken.")
	}
	return true
}

func (w *wire) refuse(eventID, code, message string) {
	w.c.mail.post(fromClient, conversation.ClientRefused{Err: &realtime.Error{Type: realtime.TypeInvalidRequest, Code: code, Param: "audio",
		EventID: eventID, Message: message}})
}

// updated reads the form of the audio that follows the update, before anything of it arrives.
func (w *wire) updated(b []byte) {
	ev, err := realtime.Decode(realtime.FromClient, b)
	if err != nil {
		return
	}
	if e, ok := ev.(*realtime.SessionUpdate); ok && e.Session.Audio != nil && e.Session.Audio.Input != nil && e.Session.Audio.Input.Format != nil {
		if f, ok := formOf(e.Session.Audio.Input.Format); ok {
			w.in.Store(&f)
		}
	}
}

// formats follows the session.
func (w *wire) formats(e conversation.Formats) {
	if f, ok := formOf(e.Input); ok {
		w.in.Store(&f)
	}
	if f, ok := formOf(e.Output); ok {
		w.setForm(f)
	}
}
