package local

import (
	"context"
	"encoding/base64"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hovor/gateway/provider/local/ear"
	"hovor/sfu"
	"hovor/sfu/resample"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// recorded is a fixture, and silence after it, in a form of the WebSocket.
func recorded(t *testing.T, name string, f form) []byte {
	t.Helper()
	pcm := append(fixture(t, name), make([]int16, ear.Rate)...)
	r, err := resample.New(ear.Rate, f.rate())
	if err != nil {
		t.Fatal(err)
	}
	pcm = r.Append(nil, pcm)
	law, ok := f.law()
	if !ok {
		return littleEndian(pcm)
	}
	out := make([]byte, len(pcm))
	law.Encode(out, pcm)
	return out
}

// Over real sockets and the machine's clock: what the real ear makes of audio that comes in events, in each format.
func TestASpokenTurnOverALoopbackSocket(t *testing.T) {
	defer goleak.VerifyNone(t)
	e, err := sfu.NewEngine(sfu.Config{UDPListen: "127.0.0.1:0", Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := realServer(t, e)
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	defer running.Wait()
	defer cancel()

	for name, f := range map[string]form{"audio/pcm": formPCM, "audio/pcmu": formPCMU, "audio/pcma": formPCMA} {
		t.Run(name, func(t *testing.T) {
			heard, done := make(chan string, 4), make(chan realtime.Response, 4)
			sock, err := client.DialSocket(t.Context(), client.SocketConfig{BaseURL: web.URL + "/v1/realtime", Token: testKey, Model: "gpt-realtime", AsBrowser: true,
				Event: func(_ []byte, ev realtime.Event) {
					switch ev := ev.(type) {
					case *realtime.ConversationItemInputAudioTranscriptionCompleted:
						heard <- ev.Transcript
					case *realtime.ResponseDone:
						done <- ev.Response
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			var life sync.WaitGroup
			life.Go(func() { _ = sock.Run(ctx) })
			defer life.Wait()
			defer sock.Close()
			if err := sock.Send(&realtime.SessionUpdate{Session: *formats(tools(serverVAD(), demoTools...), name)}); err != nil {
				t.Fatal(err)
			}
			octets := recorded(t, "open-welcome", f)
			for piece := 100 * f.octets(); len(octets) > 0; { // 100 ms at a time
				n := min(piece, len(octets))
				if err := sock.Send(&realtime.InputAudioBufferAppend{Audio: base64.StdEncoding.EncodeToString(octets[:n])}); err != nil {
					t.Fatal(err)
				}
				octets = octets[n:]
			}
			select {
			case text := <-heard:
				if f == formPCM && text != "open the document welcome" || !strings.Contains(text, "welcome") {
					t.Errorf("heard %q", text)
				}
			case <-time.After(time.Minute):
				t.Fatal("nothing was heard within a minute")
			}
			select {
			case r := <-done:
				if len(r.Output) != 1 || r.Output[0].Name != "open_document" || r.Output[0].Arguments != `{"id":"welcome"}` {
					t.Errorf("answered %+v", r.Output)
				}
			case <-time.After(time.Minute):
				t.Fatal("no response within a minute")
			}
		})
	}
}
