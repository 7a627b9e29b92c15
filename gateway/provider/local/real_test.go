package local

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"
	"go.uber.org/goleak"

	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/ear/sphinx"
	"hovor/gateway/provider/local/voice/espeak"
	"hovor/sfu"
	"hovor/sfu/opus"
	"hovor/sfu/vnettest"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// fixture reads one of the committed recordings.
func fixture(t *testing.T, name string) []int16 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "speech", name+".wav"))
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, (len(b)-44)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[44+2*i:]))
	}
	return pcm
}

// replay sends a recording in real time, and silence after it. The clock is the bubble's, or the machine's.
func (p *phone) replay(pcm []int16, silence time.Duration) {
	p.t.Helper()
	const n = ear.Rate / 50
	pcm = append(pcm[:len(pcm):len(pcm)], make([]int16, int(silence/frameTime)*n)...)
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	out := make([]byte, opus.MaxPacket)
	for ; len(pcm) >= n; pcm = pcm[n:] {
		size, err := p.enc.Encode(pcm[:n], out)
		if err != nil {
			p.t.Fatal(err)
		}
		p.rtp.Payload = out[:size]
		if err := p.conn.WriteRTP(&p.rtp); err != nil {
			p.t.Fatal(err)
		}
		p.rtp.SequenceNumber++
		p.rtp.Timestamp += 960
		<-tick.C
	}
}

// realServer makes a server with the real ear and voice, or skips when they are not installed.
func realServer(t *testing.T, e *sfu.Engine) *Server {
	t.Helper()
	s, err := New(Config{APIKey: testKey, Engine: e,
		Documents: []Named{{ID: "welcome", Title: "welcome"}, {ID: "pricing-2019", Title: "pricing twenty nineteen"}, {ID: "winter-storage", Title: "winter storage"}}})
	if errors.Is(err, sphinx.ErrMissing) || errors.Is(err, espeak.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var demoTools = []string{"open_document", "get_document", "search_documents", "list_processes", "recent_changes"}

// The real ear and the real voice in virtual time: what is recognized is real, what is waited for is not.
func TestASpokenConversationWithTheRealEarAndVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := vnettest.New(t, vnettest.Link{Delay: oneWay, Jitter: 5 * time.Millisecond}, 1)
		far, near := engineOn(t, network.Host("10.0.0.1")), engineOn(t, network.Host("10.0.0.2"))
		defer far.Close()
		defer near.Close()
		s := realServer(t, far)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = s.Run(ctx) })
		defer running.Wait()
		defer cancel()
		p, err := dial(t, client.Config{BaseURL: baseURL, Token: testKey, Session: tools(serverVAD(), demoTools...), Engine: near, HTTP: client.InProcess(s.Handler())})
		if err != nil {
			t.Fatal(err)
		}
		defer p.hang()
		until[*realtime.SessionUpdated](p)

		for _, turn := range []struct{ file, heard, call, arguments, output, says string }{
			{"hello", "hello", "", "", "", "Hello."},
			{"open-welcome", "open the document welcome", "open_document", `{"id":"welcome"}`, `{"status":"ok","result":{"outcome":"found"}}`, "The document welcome is open on your screen."},
			{"read-pricing", "read me the document pricing", "get_document", `{"id":"pricing-2019"}`, `{"status":"denied","message":"You may not read this document."}`, "You may not read this document."},
			{"search", "search the documents for winter storage", "search_documents", `{"query":"winter storage"}`,
				`{"status":"ok","result":[{"id":"winter-storage","title":"Zimní uskladnění kol"}]}`, "I found 1: Zimní uskladnění kol."},
			{"nonsense", "", "", "", "", "I did not understand that."},
		} {
			p.replay(fixture(t, turn.file), time.Second)
			heard := until[*realtime.ConversationItemInputAudioTranscriptionCompleted](p)
			if heard.Transcript != turn.heard {
				t.Errorf("%s is heard as %q", turn.file, heard.Transcript)
			}
			done := until[*realtime.ResponseDone](p).Response
			if turn.call != "" {
				if len(done.Output) != 1 || done.Output[0].Name != turn.call || done.Output[0].Arguments != turn.arguments {
					t.Errorf("%s: called %+v", turn.file, done.Output)
					continue
				}
				p.send(&realtime.ConversationItemCreate{Item: realtime.FunctionCallOutput(done.Output[0].CallID, turn.output)}, &realtime.ResponseCreate{})
				done = until[*realtime.ResponseDone](p).Response
			}
			if len(done.Output) != 1 || !strings.HasPrefix(done.Output[0].TextOf(), turn.says) {
				t.Errorf("%s: answered %+v", turn.file, done.Output)
			}
			until[*realtime.OutputAudioBufferStopped](p)
		}

		// A long story is interrupted, and what was heard of it is kept.
		p.replay(fixture(t, "story"), time.Second)
		until[*realtime.OutputAudioBufferStarted](p)
		p.replay(fixture(t, "wait"), time.Second)
		until[*realtime.OutputAudioBufferCleared](p)
		cut := until[*realtime.ConversationItemTruncated](p)
		if heard := until[*realtime.ConversationItemInputAudioTranscriptionCompleted](p); heard.Transcript != "wait a minute" {
			t.Errorf("the interruption is heard as %q", heard.Transcript)
		}
		p.send(&realtime.ConversationItemRetrieve{ItemID: cut.ItemID})
		if text := until[*realtime.ConversationItemRetrieved](p).Item.TextOf(); !strings.HasPrefix(text, "Once there was") || len(text) > 200 {
			t.Errorf("of the story is kept: %q", text)
		}
	})
}

// The same over real sockets and the machine's clock, in Czech: typed, answered aloud.
func TestATypedCzechTurnOverLoopback(t *testing.T) {
	defer goleak.VerifyNone(t)
	engine := func() *sfu.Engine {
		e, err := sfu.NewEngine(sfu.Config{UDPListen: "127.0.0.1:0", Loopback: true})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	far, near := engine(), engine()
	defer far.Close()
	defer near.Close()
	s := realServer(t, far)
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	defer running.Wait()
	defer cancel()

	hc := web.Client()
	defer hc.CloseIdleConnections()
	secret, err := client.MintSecret(t.Context(), hc, web.URL+"/v1/realtime", testKey, realtime.ClientSecretRequest{Session: tools(manual(), demoTools...)})
	if err != nil {
		t.Fatal(err)
	}
	done, stopped := make(chan realtime.Response, 4), make(chan struct{}, 4)
	packets := make(chan struct{}, 1)
	open := make(chan struct{})
	conn, err := client.Dial(t.Context(), client.Config{BaseURL: web.URL + "/v1/realtime", Token: secret.Value, Engine: near, HTTP: hc, Handlers: client.Handlers{
		Event: func(_ []byte, ev realtime.Event) {
			switch ev := ev.(type) {
			case *realtime.SessionCreated:
				close(open)
			case *realtime.ResponseDone:
				done <- ev.Response
			case *realtime.OutputAudioBufferStopped:
				stopped <- struct{}{}
			}
		},
		Packet: func(_ *rtp.Packet, _ time.Time) {
			select {
			case packets <- struct{}{}:
			default:
			}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var call sync.WaitGroup
	call.Go(func() { _ = conn.Run(ctx) })
	defer call.Wait()
	defer cancel()
	wait := func(c <-chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatal("nothing came within a minute")
		}
	}
	answer := func() realtime.Response {
		t.Helper()
		select {
		case r := <-done:
			return r
		case <-time.After(time.Minute):
			t.Fatal("no response within a minute")
			return realtime.Response{}
		}
	}
	wait(open)
	send := func(events ...realtime.Event) {
		for _, e := range events {
			if err := conn.Send(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(typedText("Otevři prosím dokument winter storage"), &realtime.ResponseCreate{})
	asked := answer().Output[0]
	if asked.Name != "open_document" || asked.Arguments != `{"id":"winter-storage"}` {
		t.Fatalf("called %+v", asked)
	}
	output, _ := json.Marshal(map[string]any{"status": "pending", "message": "Zatím nevím, jestli se dokument otevřel."})
	send(&realtime.ConversationItemCreate{Item: realtime.FunctionCallOutput(asked.CallID, string(output))}, &realtime.ResponseCreate{})
	if got := answer().Output[0].TextOf(); got != "Zatím nevím, jestli se dokument otevřel." {
		t.Errorf("answered %q", got)
	}
	wait(packets)
	wait(stopped)
}
